import type { JsonObject, JsonValue } from '../base/json-value.ts';
import type { ReasoningSummary, ResponseItem, TokenUsageBreakdown, TurnError } from '../protocol/generated/types.ts';

/** A tool as the model sees it. */
export type ToolSpec =
  | {
      type: 'function';
      name: string;
      description: string;
      /** A JSON Schema. */
      parameters: JsonObject;
    }
  | {
      /** Takes one text in place of arguments. */
      type: 'custom';
      name: string;
      description: string;
      /** What the text may be, in the words of the Responses API; models behind other APIs have to go by the description. */
      format: JsonObject;
    };

/** One question to a model. Plain data: it can be written down, compared and asked again. */
export interface ModelRequest {
  model: string;
  instructions: string;
  input: ResponseItem[];
  tools: ToolSpec[];
  effort: string | null;
  summary: ReasoningSummary | null;
  outputSchema: JsonValue;
  serviceTier: string | null;
  verbosity: string | null;
  /** The same for all requests of a thread. */
  promptCacheKey: string;
}

/**
 * What a model answers, as plain data. `started` opens an attempt. `retrying` voids what began since and did not complete,
 * and the tool calls since; whatever else completed stays.
 * The last event is `completed` or `failed`, unless the signal aborted: then the events just end.
 * Items of one response may overlap; an item may complete without having started.
 */
export type ModelEvent =
  | { type: 'started' }
  | { type: 'itemStarted'; item: ResponseItem & { id: string } }
  | { type: 'textDelta'; itemId: string; delta: string }
  | { type: 'reasoningSummaryPart'; itemId: string; index: number }
  | { type: 'reasoningSummaryDelta'; itemId: string; index: number; delta: string }
  | { type: 'reasoningDelta'; itemId: string; index: number; delta: string }
  /** What a call is made with, as it streams: the text of a custom tool, else the JSON of the arguments. */
  | { type: 'callDelta'; callId: string; name: string; custom: boolean; delta: string }
  | { type: 'itemCompleted'; item: ResponseItem }
  | { type: 'retrying'; error: TurnError; delayMs: number }
  | { type: 'completed'; usage: TokenUsageBreakdown | null }
  | { type: 'failed'; error: TurnError };

export interface Model {
  /**
   * Asks the model once. Never rejects and never hangs: a failure is the last event, silence ends in one, retries are
   * bounded in number and time. Reading slowly slows the provider down; nothing is buffered without bound.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
  /** For a model that checks how it is used: what was wrong up to now, as a text of several lines; null: nothing. */
  report?(): string | null;
}
