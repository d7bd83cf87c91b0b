import type { ContextWindow } from '../../config/providers/context-window.ts';
import type { TokenUsageBreakdown, TurnError } from '../../protocol/generated/types.ts';
import type { Prompt } from './ordered-prompt.ts';

/** The tokens that the provider counted for the thread's last response that it counted. */
export interface LastUsage extends TokenUsageBreakdown {
  /**
   * The part of the prompt that they count, in estimated tokens; null: all up to the last item that
   * the model made.
   */
  promptTokens: number | null;
}

interface Window {
  model: string;
  contextWindow: ContextWindow;
  /** The tokens that the provider counted for the thread's last response; null: unknown. */
  last: LastUsage | null;
}

const ADVICE =
  'Send a shorter input, or choose a model with a larger context window. To take the input back, call thread/revert with the id of its turn.';

/**
 * Returns the error if the prompt does not fit into the model's context window, else null. A window
 * that is a guess fits all.
 */
export function checkWindow(
  prompt: Prompt,
  { model, contextWindow, last }: Window,
): TurnError | null {
  const tokens = estimatedTokens(prompt, last);
  if (!contextWindow.isKnown || tokens <= contextWindow.tokens) return null;
  return exceeded(
    `the prompt has about ${tokens} tokens, and the context window of ${model} has ${contextWindow.tokens}`,
  );
}

/** The error for a prompt that is larger than any that is sent. */
export function promptTooLarge(bytesMax: number): TurnError {
  return exceeded(`the prompt has more than ${bytesMax} bytes, which is the most that is sent`);
}

/**
 * The approximate length of the next request. The last usage counts what the model had read and
 * written by its last item, with the instructions and tools. Only what came after that is
 * estimated.
 */
export function estimatedTokens({ tokens, tokensOfModel }: Prompt, last: LastUsage | null): number {
  if (last === null || tokensOfModel === 0) return tokens;
  // Responses that were stopped are not counted.
  const counted = Math.min(last.promptTokens ?? tokensOfModel, tokensOfModel);
  return last.inputTokens + last.outputTokens - last.reasoningOutputTokens + tokens - counted;
}

function exceeded(reason: string): TurnError {
  return {
    message: `The thread is too long for the model: ${reason}. ${ADVICE}`,
    codexErrorInfo: 'contextWindowExceeded',
    additionalDetails: null,
  };
}
