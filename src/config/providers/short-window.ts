import type { LocalServer, ProviderConfig } from './provider-config.ts';

/**
 * The instructions, the tools and a few files take about so many tokens. docs/providers.md names
 * the number.
 */
const ENOUGH_TOKENS = 16_000;

const ADVICE: Record<LocalServer, string> = {
  ollama:
    'Start Ollama with OLLAMA_CONTEXT_LENGTH=16384 or more: it leaves out the beginning of longer prompts, and reports no error.',
  lmstudio: 'Load the model with a larger context length in LM Studio.',
};

/**
 * Says that a program on the user's machine runs a model with a short context window, and how to
 * make it longer. Null: it does not. `tokens`: the window with which it runs the model; null: not
 * known.
 */
export function shortWindow(
  { localServer, name }: Pick<ProviderConfig, 'localServer' | 'name'>,
  model: string,
  tokens: number | null,
): { problem: string; advice: string } | null {
  if (localServer === null || tokens === null || tokens >= ENOUGH_TOKENS) return null;
  return {
    problem: `${name} runs ${model} with a context window of ${tokens} tokens, which is too short for most work.`,
    advice: ADVICE[localServer],
  };
}
