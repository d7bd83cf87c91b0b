import type { Clock } from '../base/clock.ts';
import type { JsonObject, JsonValue } from '../base/json-value.ts';
import type { WebSearch } from '../config/web-search.ts';
import type {
  ReasoningSummary,
  ResponseItem,
  TokenUsageBreakdown,
  TurnError,
} from '../protocol/generated/types.ts';

/** A group of tools. Two tools of one name are different tools if their namespaces differ. */
export interface ToolNamespace {
  name: string;
  description: string;
}

/** A tool as the model sees it. */
export type ToolSpec =
  | {
      type: 'function';
      /** Absent: the tool is in no namespace. */
      namespace?: ToolNamespace;
      name: string;
      description: string;
      /** A JSON Schema. */
      parameters: JsonObject;
    }
  | {
      /**
       * The API's own search for tools, which the server runs. APIs that have none give models a
       * function of this name.
       */
      type: 'tool_search';
      name: 'tool_search';
      description: string;
      /** A JSON Schema. */
      parameters: JsonObject;
    }
  | {
      /** Takes one string in place of arguments. */
      type: 'custom';
      name: string;
      description: string;
      /**
       * The string's format, as the Responses API defines it. Other APIs give models only the
       * description.
       */
      format: JsonObject;
    };

/** One request to a model. Plain data: it can be stored, compared and sent again. */
export interface ModelRequest {
  model: string;
  instructions: string;
  input: ResponseItem[];
  tools: ToolSpec[];
  effort: string | null;
  summary: ReasoningSummary | null;
  outputSchema: JsonValue;
  /**
   * The instructions describe the output too, and the tools matter more than the schema: an API
   * with many servers that call no tools under a schema, or refuse the two together, leaves the
   * schema out.
   */
  schemaIsOptional?: true;
  serviceTier: string | null;
  verbosity: string | null;
  /** How the provider searches the web for the model, if its API can. Absent: not at all. */
  webSearch?: WebSearch;
  /** The same for all requests of a thread. */
  promptCacheKey: string;
  /**
   * Facts about the request for the provider, where its API takes them: the thread and the
   * request's purpose.
   */
  clientMetadata?: Record<string, string>;
  /**
   * Headers that identify the caller, for gateways. The configured headers of the provider count
   * before these. Names are in lower case.
   */
  headers?: Record<string, string>;
  /**
   * The retries before this request, if it continues a response that broke off: they count against
   * the same limits. Absent: none.
   */
  retries?: SpentRetries;
}

/** How many retries a request has used so far. */
export interface SpentRetries {
  /** Of requests that were not answered. */
  ofRequest: number;
  /** Of responses that broke off. */
  ofStream: number;
  nextWaitMs: number;
  /**
   * From the first failure to the last retry, without the time between a response that broke off
   * and the request that continues it.
   */
  retryingMs: number;
}

/**
 * An event of a model's response, as plain data. `started` begins an attempt. `answered` has what
 * the headers of the response tell. `retrying` voids the items that have begun since then and not
 * completed; completed items and calls stay. The same request is then sent again. If items have
 * completed, the reader should rather stop reading, wait for `delayMs`, and send a request that has
 * them, with `spent` as its `retries`. The last event is `completed` or `failed`. If the signal
 * aborts, the events end without either. Items of one response may overlap; an item may complete
 * without having started.
 */
export type ModelEvent =
  | { type: 'started' }
  /**
   * `model`: the model that answers, by its own name. `turnState`: to be sent back within the turn.
   * Null: not told.
   */
  | { type: 'answered'; model: string | null; turnState: string | null }
  /**
   * The provider refused a parameter that the user or the client asked for, so it was left out.
   * Comes before the answer, with each request. `message` says what was refused, and what that
   * costs.
   */
  | { type: 'leftOut'; parameter: string; message: string }
  /** The provider's metadata about its moderation of the response, for clients. */
  | { type: 'moderated'; metadata: JsonValue }
  | { type: 'itemStarted'; item: ResponseItem & { id: string } }
  | { type: 'textDelta'; itemId: string; delta: string }
  | { type: 'reasoningSummaryPart'; itemId: string; index: number }
  | { type: 'reasoningSummaryDelta'; itemId: string; index: number; delta: string }
  | { type: 'reasoningDelta'; itemId: string; index: number; delta: string }
  /**
   * A piece of a call's input as it streams: the string for a custom tool, else the JSON of the
   * arguments.
   */
  | { type: 'callDelta'; callId: string; name: string; custom: boolean; delta: string }
  | { type: 'itemCompleted'; item: ResponseItem }
  /**
   * The answer is complete and has neither text nor calls, though the model has said nothing
   * before. `message` is for people.
   */
  | { type: 'saidNothing'; message: string }
  | { type: 'retrying'; error: TurnError; delayMs: number; spent?: SpentRetries }
  /** `responseId`: the id of the response at a provider that keeps responses. */
  | { type: 'completed'; usage: TokenUsageBreakdown | null; responseId?: string }
  /** `refusesPictures`: the provider says that the cause is a picture, or that it takes none. */
  | { type: 'failed'; error: TurnError; refusesPictures?: true };

export interface Model {
  /** The embedded model. Threads that name no other model or provider have its name. */
  readonly isEmbedded?: true;
  /**
   * Sends one request to the model and streams its events. Never rejects and never hangs: a failure
   * is the last event, silence becomes a failure, and retries are limited in number and time. A
   * slow reader slows the provider down; buffers are limited.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
  /**
   * Begins what the next request of a thread needs, if that takes time. `request`: what it will
   * probably be, with its input so far. Returns at once. When the signal aborts, the request does
   * not come any more.
   */
  prepare?(request: ModelRequest, signal: AbortSignal): void;
  /**
   * For a model that checks how it is used, such as a scripted one: the problems so far as a string
   * of several lines; null if there are none.
   */
  report?(): string | null;
  /**
   * For a model that waits, such as a scripted one: the same model, which waits by this clock. A
   * deterministic server, whose time does not pass while it waits for the model, calls it once.
   */
  withClock?(clock: Clock): Model;
}
