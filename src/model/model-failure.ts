import type { TurnError } from '../protocol/generated/types.ts';

/** Why an attempt to get an answer failed. */
export interface ModelFailure {
  error: TurnError;
  /**
   * What kind of retry can help. `connection`: nobody was reached; `request`: refused before a stream began;
   * `stream`: a stream broke or fell silent; `withoutReasoning`: the model knows no settings of reasoning;
   * `withoutExtras`: it may be what was sent about reasoning beyond what was asked for.
   */
  retry: 'never' | 'connection' | 'request' | 'stream' | 'withoutReasoning' | 'withoutExtras';
  /** How long the provider asked to wait, in milliseconds; null: it did not say. */
  waitMs: number | null;
}

/** A failure without a wait asked for. */
export function modelFailure(message: string, codexErrorInfo: TurnError['codexErrorInfo'], retry: ModelFailure['retry']): ModelFailure {
  return { error: { message, codexErrorInfo, additionalDetails: null }, retry, waitMs: null };
}
