import type { TurnError } from '../protocol/generated/types.ts';
import type { ModelEvent } from './model.ts';

/** Why a request to a model failed. */
export interface ModelFailure {
  error: TurnError;
  /**
   * The kind of retry that can help. `connection`: the provider was not reached; `request`: it
   * refused before a stream began; `stream`: the stream broke or went silent; `withoutReasoning`:
   * the model has no reasoning settings; `withoutExtras`: the cause may be reasoning settings that
   * were sent although the user did not set them.
   */
  retry: 'never' | 'connection' | 'request' | 'stream' | 'withoutReasoning' | 'withoutExtras';
  /** How long the provider asks to wait, in milliseconds; null if it does not say. */
  waitMs: number | null;
  /** The provider refuses a picture, or pictures at all, in words of its own. */
  refusesPictures?: true;
  /**
   * The words of a refusal that may name a parameter of the request. Absent: its cause is known,
   * and is not a parameter.
   */
  refusal?: readonly string[];
}

/** Makes a failure for which the provider asks for no wait. */
export function modelFailure(
  message: string,
  codexErrorInfo: TurnError['codexErrorInfo'],
  retry: ModelFailure['retry'],
): ModelFailure {
  return { error: { message, codexErrorInfo, additionalDetails: null }, retry, waitMs: null };
}

/** The last event of a response that has failed. */
export function failedEvent({
  error,
  refusesPictures,
}: Pick<ModelFailure, 'error' | 'refusesPictures'>): ModelEvent {
  return { type: 'failed', error, ...(refusesPictures && { refusesPictures }) };
}
