import { createParser, type EventSourceParser } from 'eventsource-parser';
import { isObject, parsedJson } from '../../base/json-value.ts';

/** The longest single event, in characters. */
export const EVENT_CHARS_MAX = 64 * 1024 * 1024;
/** The longest response, in characters of the stream; a provider that never ends is cut off. */
export const STREAM_CHARS_MAX = 256 * 1024 * 1024;

/** The result of reading one chunk. `skipped` counts events that were not JSON objects; `done`: the stream sent [DONE]. */
export interface ReadEvents {
  events: Record<string, unknown>[];
  skipped: number;
  done: boolean;
  /** The problem as a sentence without a subject; the events before it are valid. */
  problem: string | null;
}

/**
 * Parses server-sent events and their JSON. Reads nothing after a problem or the end. With `skipsNoise` it skips events that are
 * not JSON objects, and does not end at `[DONE]`: this is for APIs whose end is an event.
 */
export class EventReader {
  readonly #parser: EventSourceParser;
  readonly #skipsNoise: boolean;
  #result: ReadEvents = { events: [], skipped: 0, done: false, problem: null };
  #charsRead = 0;

  constructor({ skipsNoise }: { skipsNoise: boolean }) {
    this.#skipsNoise = skipsNoise;
    this.#parser = createParser({
      maxBufferSize: EVENT_CHARS_MAX,
      onEvent: ({ data, event }) => this.#receive(data, event),
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') this.#fail(`sent an event of more than ${EVENT_CHARS_MAX} characters`);
      },
    });
  }

  /** Takes the next chunk of the stream. */
  feed(chunk: string): ReadEvents {
    this.#result = { events: [], skipped: 0, done: false, problem: null };
    const start = this.#charsRead === 0 && chunk.startsWith('\uFEFF') ? 1 : 0;
    this.#charsRead += chunk.length;
    if (this.#charsRead > STREAM_CHARS_MAX) this.#fail(`sent a response of more than ${STREAM_CHARS_MAX} characters`);
    else this.#parser.feed(start === 0 ? chunk : chunk.slice(start));
    return this.#result;
  }

  /** Ends the stream; returns its last event if that is complete. */
  end(): ReadEvents {
    this.#result = { events: [], skipped: 0, done: false, problem: null };
    this.#parser.feed('\n\n');
    return { ...this.#result, problem: null };
  }

  #receive(data: string, name: string | undefined): void {
    if (this.#result.done || this.#result.problem !== null) return;
    if (data === '[DONE]') {
      this.#result.done = !this.#skipsNoise;
      return;
    }
    const value = parsedJson(data);
    if (this.#skipsNoise && !isObject(value)) this.#result.skipped += 1;
    else if (value === undefined) this.#fail('sent an event that is not JSON');
    else if (!isObject(value)) this.#fail('sent an event that is not a JSON object');
    else this.#result.events.push(value.type === undefined && name !== undefined ? { ...value, type: name } : value);
  }

  #fail(problem: string): void {
    this.#result.problem ??= problem;
  }
}
