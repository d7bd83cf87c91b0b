import { setImmediate } from 'node:timers/promises';
import { type Clock, sleep } from '../../base/clock.ts';
import { estimateTokens } from '../../base/text/estimate-tokens.ts';
import type {
  MessagePhase,
  ResponseItem,
  TokenUsageBreakdown,
} from '../../protocol/generated/types.ts';
import type { ModelEvent, ModelRequest } from '../model.ts';

/** How many events are emitted before other work gets its turn. */
const EVENTS_AT_ONCE_MAX = 32;

/** An event, or a wait before the next one; Infinity waits until the signal aborts. */
export type TimedEvent = ModelEvent | { waitMs: number };

/** The parts of a text, each streamed as one delta. */
export type Pieces = Iterable<string>;

/**
 * Makes the events of items, with ids that depend only on the request, and counts the bytes
 * written.
 */
export class AnswerWriter {
  readonly #request: ModelRequest;
  #items = 0;
  #textBytes = 0;
  #reasoningBytes = 0;

  constructor(request: ModelRequest) {
    this.#request = request;
  }

  /** `delayMs`: the time between two deltas. */
  *message(
    pieces: Pieces,
    { delayMs = 0, phase = null }: { delayMs?: number; phase?: MessagePhase | null } = {},
  ): Generator<TimedEvent, void> {
    const itemId = this.#nextId('msg');
    const item = (content: { type: 'output_text'; text: string }[]) => ({
      type: 'message' as const,
      id: itemId,
      role: 'assistant',
      content,
      ...(phase === null ? {} : { phase }),
    });
    yield { type: 'itemStarted', item: item([]) };
    const text = yield* streamed(pieces, delayMs, (delta) => ({
      type: 'textDelta',
      itemId,
      delta,
    }));
    this.#textBytes += Buffer.byteLength(text);
    yield { type: 'itemCompleted', item: item([{ type: 'output_text', text }]) };
  }

  *reasoning({
    summary,
    raw = [],
    delayMs = 0,
  }: {
    summary: Pieces[];
    raw?: Pieces[];
    delayMs?: number;
  }): Generator<TimedEvent, void> {
    const itemId = this.#nextId('rs');
    yield { type: 'itemStarted', item: { type: 'reasoning', id: itemId, summary: [] } };
    const rawTexts: string[] = [];
    for (const [index, pieces] of raw.entries()) {
      rawTexts.push(
        yield* streamed(pieces, delayMs, (delta) => ({
          type: 'reasoningDelta',
          itemId,
          index,
          delta,
        })),
      );
    }
    const texts: string[] = [];
    for (const [index, pieces] of summary.entries()) {
      yield { type: 'reasoningSummaryPart', itemId, index };
      texts.push(
        yield* streamed(pieces, delayMs, (delta) => ({
          type: 'reasoningSummaryDelta',
          itemId,
          index,
          delta,
        })),
      );
    }
    this.#reasoningBytes += Buffer.byteLength([...texts, ...rawTexts].join(''));
    const content = rawTexts.map((text) => ({ type: 'reasoning_text' as const, text }));
    const item = {
      type: 'reasoning' as const,
      id: itemId,
      summary: texts.map((text) => ({ type: 'summary_text' as const, text })),
    };
    yield { type: 'itemCompleted', item: content.length === 0 ? item : { ...item, content } };
  }

  /**
   * A call with arguments, or of a custom tool, whose input streams line by line. If `callId` is
   * null, an id is made.
   */
  *call(
    call: { name: string; arguments: string } | { name: string; input: string },
    callId: string | null = null,
  ): Generator<TimedEvent, void> {
    const isCustom = 'input' in call;
    this.#textBytes += Buffer.byteLength(isCustom ? call.input : call.arguments);
    const id = this.#nextId(isCustom ? 'ctc' : 'fc');
    const call_id = callId ?? `call_${id}`;
    const item: ResponseItem = isCustom
      ? { type: 'custom_tool_call', id, call_id, ...call }
      : { type: 'function_call', id, call_id, ...call };
    const { name } = call;
    const lines = isCustom ? call.input.split(/(?<=\n)/) : [];
    for (const delta of lines)
      if (delta !== '') yield { type: 'callDelta', callId: call_id, name, custom: true, delta };
    yield { type: 'itemCompleted', item };
  }

  /** Estimates the token counts: one token for four bytes. */
  usage(): TokenUsageBreakdown {
    const { instructions, input, tools } = this.#request;
    const inputTokens = tokens(Buffer.byteLength(JSON.stringify([instructions, input, tools])));
    const reasoningOutputTokens = tokens(this.#reasoningBytes);
    const outputTokens = tokens(this.#textBytes) + reasoningOutputTokens;
    return {
      inputTokens,
      cachedInputTokens: 0,
      cacheWriteInputTokens: 0,
      outputTokens,
      reasoningOutputTokens,
      totalTokens: inputTokens + outputTokens,
    };
  }

  #nextId(prefix: string): string {
    return `${prefix}_${this.#request.input.length}_${++this.#items}`;
  }
}

/**
 * Yields the events, waits where they say so, lets other work run between them, and stops when the
 * signal aborts.
 */
export async function* pacedEvents(
  events: Iterable<TimedEvent>,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void, undefined> {
  let given = 0;
  if (signal.aborted) return;
  for (const event of events) {
    if (given++ % EVENTS_AT_ONCE_MAX === 0) await setImmediate();
    if ('waitMs' in event)
      await (event.waitMs === Number.POSITIVE_INFINITY
        ? aborted(signal)
        : sleep(clock, event.waitMs, signal));
    if (signal.aborted) return;
    if (!('waitMs' in event)) yield event;
  }
}

/** Splits a text into words, each with the space before it. Joined, the parts are the text. */
export function words(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

function* streamed(
  pieces: Pieces,
  delayMs: number,
  event: (delta: string) => ModelEvent,
): Generator<TimedEvent, string> {
  let text = '';
  let first = true;
  for (const delta of pieces) {
    if (!first && delayMs > 0) yield { waitMs: delayMs };
    first = false;
    text += delta;
    yield event(delta);
  }
  return text;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
}

function tokens(bytes: number): number {
  return Math.ceil(estimateTokens(bytes));
}
