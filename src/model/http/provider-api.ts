import type { JsonObject } from '../../base/json-value.ts';
import type { ModelEvent, ModelRequest } from '../model.ts';
import type { ModelFailure } from '../model-failure.ts';
import type { Endpoint } from './endpoint.ts';

/**
 * What a request says about reasoning: all that helps clients (`full`), what was asked for (`asked`), or nothing. Not
 * every provider or model takes all of it.
 */
export type ReasoningSent = 'full' | 'asked' | 'none';

/** What tells one API of providers from another: where requests go, what they say, and how answers read. */
export interface ProviderApi {
  /** Below the provider's `base_url`. */
  path: string;
  /** The body of a request, with as much about reasoning as is said. */
  body(request: ModelRequest, reasoning: ReasoningSent): JsonObject;
  /** Reads one answer to this request. */
  translator(endpoint: Endpoint, request: ModelRequest): EventTranslator;
}

/** An object of a provider's JSON, such as an event: parsed, and not checked yet. */
export type ProviderJson = Record<string, unknown>;

/** What an event of an API means, in order. A failure, or `completed`, is the last. */
export type Translation = ModelEvent | ModelFailure;

/** Translates the events of one answer. */
export interface EventTranslator {
  /** Whether an answer may also be one JSON object in place of a stream. */
  readonly takesWhole: boolean;
  /** Whether events that are no JSON are passed over: what they said is said again as a whole, and the end has an event of its own. */
  readonly skipsNoise: boolean;
  /** Whether all that matters has been said: then neither silence nor a cut makes a failure of it. */
  readonly finished: boolean;
  translate(event: ProviderJson): Translation[];
  /** The stream is over; `said`: it said so itself, by `[DONE]`. Empty: the answer is not complete. */
  end(said: boolean): Translation[];
}
