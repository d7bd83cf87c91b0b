import { knownContextWindow } from './known-context-window.ts';

/** The context window of a model. */
export interface ContextWindow {
  tokens: number;
  /**
   * False: nothing is known about the model, and `tokens` is a guess that clients draw their gauges
   * with.
   */
  isKnown: boolean;
  /**
   * Whether it depends on how a program on the user's machine has loaded the model, which the user
   * can change at any time.
   */
  mayChange: boolean;
}

/** The common context window of large models, in tokens, for a model whose window is not known. */
const GUESSED_TOKENS = 258_400;

interface WindowSources {
  /** `model_context_window`; null: not set. */
  configured: number | null;
  /**
   * Whether a program on the user's machine runs the model. It may be configured for less than the
   * model can have.
   */
  isLocal: boolean;
  /** The windows that the provider lists, by model. */
  listed: ReadonlyMap<string, number>;
}

/**
 * Returns the context window of a model: the configured one, else the provider's, else that of a
 * well-known model, else a guess.
 */
export function contextWindow(
  model: string,
  { configured, isLocal, listed }: WindowSources,
): ContextWindow {
  const tokens = configured ?? listed.get(model) ?? (isLocal ? null : knownContextWindow(model));
  const mayChange = isLocal && configured === null;
  return tokens === null
    ? { tokens: GUESSED_TOKENS, isKnown: false, mayChange }
    : { tokens, isKnown: true, mayChange };
}
