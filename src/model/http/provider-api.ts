import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import type { JsonText, JsonTextBuilder } from '../../base/text/json-text.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import type { ModelEvent, ModelRequest } from '../model.ts';
import type { ModelFailure } from '../model-failure.ts';
import type { Endpoint } from './endpoint.ts';
import type { ItemTexts } from './item-texts.ts';
import type { OptionalParameter } from './parameters/optional-parameter.ts';
import type { SentSettings } from './parameters/sent-settings.ts';

/** The state that the bodies of one provider's requests share. */
export interface BodyTools {
  pace: EventLoopYield;
  texts: ItemTexts;
}

/** The beginning of a body. */
export interface BegunBody {
  body: JsonTextBuilder;
  /** The items that it has. */
  sent: readonly ResponseItem[];
}

/**
 * The differences between provider APIs: the path, the body of requests, and how to read responses.
 */
export interface ProviderApi {
  /** The path below the provider's `base_url`. */
  path: string;
  /** The parameters that are left out for a model that refuses them. */
  parameters: readonly OptionalParameter[];
  /**
   * Builds the body of a request with these settings, in parts between which other work runs.
   * `begun`: the beginning of the body of a request that had the same settings.
   */
  body(
    request: ModelRequest,
    settings: SentSettings,
    tools: BodyTools,
    begun: BegunBody | null,
  ): Promise<JsonText>;
  /** Begins the body of a request that is about to come, with its input so far. */
  beginBody?(request: ModelRequest, settings: SentSettings, tools: BodyTools): Promise<BegunBody>;
  /** Creates a translator for one response to this request. */
  translator(endpoint: Endpoint, request: ModelRequest): EventTranslator;
}

/** An object of a provider's JSON, such as an event: parsed, and not checked yet. */
export type ProviderJson = Record<string, unknown>;

/** The meaning of an API's event. A failure, or `completed`, is the last one. */
export type Translation = ModelEvent | ModelFailure;

/** Translates the events of one response. */
export interface EventTranslator {
  /** Whether a response may be one JSON object in place of a stream. */
  readonly takesWhole: boolean;
  /**
   * Whether events that are not JSON are skipped: for APIs that repeat all content at the end and
   * have an event for the end.
   */
  readonly skipsNoise: boolean;
  /**
   * Whether all items are complete. After that, a stream that sends nothing more or breaks is not a
   * failure.
   */
  readonly finished: boolean;
  translate(event: ProviderJson): Translation[];
  /**
   * Ends the stream; returns nothing if the response is not complete. `said`: the stream itself
   * marked its end, with `[DONE]`.
   */
  end(said: boolean): Translation[];
}
