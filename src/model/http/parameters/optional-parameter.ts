import type { JsonObject, JsonValue } from '../../../base/json-value.ts';
import type { ModelRequest } from '../../model.ts';
import type { ModelFailure } from '../../model-failure.ts';
import type { ReasoningSent, SentSettings } from './sent-settings.ts';

/** A parameter that a request can do without. Not every provider or model takes it. */
export interface OptionalParameter {
  /** Its name in the API, with a dot before the name of a part. */
  name: string;
  /** Matches the words of a refusal that name it. */
  named: RegExp;
  /**
   * Matches refusals that name it although the fault is in what the client gave, so that only the
   * client can correct it.
   */
  clientFault?: RegExp;
  /** Returns the value for a request; undefined: the parameter is not sent. */
  value(request: ModelRequest, reasoning: ReasoningSent): JsonValue | undefined;
  /**
   * What the user loses without it, as a sentence; null: nothing that the user or the client has
   * asked for.
   */
  loss: string | null;
}

/** The fields of a request for these parameters. */
export function sentParameters(
  parameters: readonly OptionalParameter[],
  request: ModelRequest,
  settings: SentSettings,
): JsonObject {
  const fields: JsonObject = {};
  for (const { name, value } of parameters) {
    const sent = settings.leftOut.has(name) ? undefined : value(request, settings.reasoning);
    if (sent !== undefined) fields[name] = sent;
  }
  return fields;
}

/**
 * Returns the parameter of a request that a failure names first; null if it names none that was
 * sent.
 */
export function refusedParameter(
  parameters: readonly OptionalParameter[],
  { refusal = [] }: Pick<ModelFailure, 'refusal'>,
  sent: { request: ModelRequest; settings: SentSettings },
): OptionalParameter | null {
  const { request, settings } = sent;
  const candidates = parameters.filter(
    ({ name, value, clientFault }) =>
      !settings.leftOut.has(name) &&
      value(request, settings.reasoning) !== undefined &&
      !refusal.some((words) => clientFault?.test(words) === true),
  );
  for (const words of refusal) {
    const found = candidates
      .map((parameter) => ({ parameter, at: words.search(parameter.named) }))
      .filter(({ at }) => at >= 0);
    const [first] = found.sort((one, other) => one.at - other.at);
    if (first !== undefined) return first.parameter;
  }
  return null;
}
