import { createParser, type EventSourceParser } from 'eventsource-parser';
import { isObject, parsedJson } from '../../../base/json-value.ts';
import { parseLongJson } from '../../../base/parse-long-json.ts';

/** The longest single event, in characters. */
export const EVENT_CHARS_MAX = 64 * 1024 * 1024;
/** To parse the JSON of a longer event takes some milliseconds. */
const SHORT_CHARS_MAX = 1024 * 1024;
/** The longest response, in characters of the stream; a provider that never ends is cut off. */
export const STREAM_CHARS_MAX = 256 * 1024 * 1024;

/**
 * The result of reading one chunk. `skipped` counts events that were not JSON objects; `done`: the
 * stream sent [DONE].
 */
export interface ReadEvents {
  events: Record<string, unknown>[];
  skipped: number;
  done: boolean;
  /** The problem as a sentence without a subject; the events before it are valid. */
  problem: string | null;
}

/**
 * Parses server-sent events and their JSON. Reads nothing after a problem or the end. With
 * `skipsNoise` it skips events that are not JSON objects, and does not end at `[DONE]`: this is for
 * APIs whose end is an event.
 */
export class EventReader {
  readonly #parser: EventSourceParser;
  readonly #skipsNoise: boolean;
  /** The parser's findings in the chunk: events, and at last a problem. */
  #found: ({ data: string; name: string | undefined } | { problem: string })[] = [];
  #result: ReadEvents = { events: [], skipped: 0, done: false, problem: null };
  #charsRead = 0;
  #pendingChars = 0;

  constructor({ skipsNoise }: { skipsNoise: boolean }) {
    this.#skipsNoise = skipsNoise;
    this.#parser = createParser({
      maxBufferSize: EVENT_CHARS_MAX,
      onEvent: ({ data, event }) => void this.#found.push({ data, name: event }),
      onError: ({ type, field, value = '' }) => {
        // In llama.cpp until 2025, a failure is a field of its own, in place of data.
        if (type === 'unknown-field' && field === 'error' && parsedJson(value) !== undefined)
          this.#found.push({ data: `{"error":${value}}`, name: undefined });
        if (type === 'max-buffer-size-exceeded')
          this.#found.push({ problem: `sent an event of more than ${EVENT_CHARS_MAX} characters` });
      },
    });
  }

  /** The length of the event that has not ended. */
  get pendingChars(): number {
    return this.#pendingChars;
  }

  /**
   * Takes the next chunk of the stream. Returns a promise only if an event is so long that other
   * work runs while it is parsed.
   */
  feed(chunk: string): ReadEvents | Promise<ReadEvents> {
    this.#result = { events: [], skipped: 0, done: false, problem: null };
    const start = this.#charsRead === 0 && chunk.startsWith('\uFEFF') ? 1 : 0;
    this.#charsRead += chunk.length;
    if (this.#charsRead > STREAM_CHARS_MAX)
      this.#fail(`sent a response of more than ${STREAM_CHARS_MAX} characters`);
    else this.#parser.feed(start === 0 ? chunk : chunk.slice(start));
    this.#pendingChars =
      this.#found.length === 0
        ? this.#pendingChars + chunk.length
        : chunk.length - 1 - chunk.lastIndexOf('\n');
    return this.#hasLong() ? this.#takeSlowly() : this.#take();
  }

  /** Ends the stream; returns its last event if that is complete. */
  async end(): Promise<ReadEvents> {
    this.#result = { events: [], skipped: 0, done: false, problem: null };
    this.#parser.feed('\n\n');
    return { ...(await (this.#hasLong() ? this.#takeSlowly() : this.#take())), problem: null };
  }

  #hasLong(): boolean {
    return this.#found.some((found) => 'data' in found && found.data.length > SHORT_CHARS_MAX);
  }

  #take(): ReadEvents {
    for (const found of this.#found.splice(0)) {
      if ('problem' in found) this.#fail(found.problem);
      else if (!this.#isEnd(found.data)) this.#receive(parsedJson(found.data), found.name);
    }
    return this.#result;
  }

  async #takeSlowly(): Promise<ReadEvents> {
    for (const found of this.#found.splice(0)) {
      if ('problem' in found) this.#fail(found.problem);
      else if (!this.#isEnd(found.data)) this.#receive(await parseLongJson(found.data), found.name);
    }
    return this.#result;
  }

  /** Whether this is the end of the stream, or comes after it. */
  #isEnd(data: string): boolean {
    if (this.#result.done || this.#result.problem !== null) return true;
    if (data === '[DONE]') this.#result.done = !this.#skipsNoise;
    return data === '[DONE]';
  }

  #receive(value: unknown, name: string | undefined): void {
    if (this.#skipsNoise && !isObject(value)) this.#result.skipped += 1;
    else if (value === undefined) this.#fail('sent an event that is not JSON');
    else if (!isObject(value)) this.#fail('sent an event that is not a JSON object');
    else
      this.#result.events.push(
        value.type === undefined && name !== undefined ? { ...value, type: name } : value,
      );
  }

  #fail(problem: string): void {
    this.#result.problem ??= problem;
  }
}
