import type { TokenUsageBreakdown, TurnError } from '../../protocol/generated/types.ts';
import type { Tool } from '../../tools/tool.ts';
import type { ResponseCalls } from '../calls/response-calls.ts';

/** A whole response. `responseId`: the provider's id; null: it has none. */
export interface CompletedResponse {
  ended: 'completed';
  /** Whether the model has called a tool. */
  hasCalls: boolean;
  usage: TokenUsageBreakdown | null;
  responseId: string | null;
}

/**
 * How one model request ended. `stopped`: by an interrupt or by new input. `broken`: the response
 * broke off after items of it were complete, and the next request, after `delayMs`, continues
 * `run.broken`.
 */
export type ModelResponse =
  | CompletedResponse
  | { ended: 'stopped' }
  | { ended: 'broken'; delayMs: number }
  | { ended: 'failed'; error: TurnError };

/** The tools that a request to the model offers, and the calls of its response. */
export interface RequestTools {
  tools: readonly Tool[];
  calls: ResponseCalls;
}
