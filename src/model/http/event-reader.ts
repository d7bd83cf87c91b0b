import { createParser, type EventSourceParser } from 'eventsource-parser';
import { isObject, parsedJson } from '../../base/json-value.ts';

/** The longest single event, in characters. */
export const EVENT_CHARS_MAX = 64 * 1024 * 1024;
/** The longest whole response, in characters of the stream: a provider that never ends is stopped. */
export const STREAM_CHARS_MAX = 256 * 1024 * 1024;

/** What came out of a piece of a stream: events, how many were skipped, whether the stream called itself done, and what was wrong with it. */
export interface ReadEvents {
  events: Record<string, unknown>[];
  skipped: number;
  done: boolean;
  /** A text for people, without a subject; the events before it are good. */
  problem: string | null;
}

/**
 * Cuts server-sent events out of a text stream and parses their JSON. Nothing is read after a problem or the end. With
 * `skipsNoise` what is no JSON object is no problem, and `[DONE]` no end: for APIs with an event of their own for that.
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

  /** Takes the next piece of the stream. */
  feed(chunk: string): ReadEvents {
    this.#result = { events: [], skipped: 0, done: false, problem: null };
    const start = this.#charsRead === 0 && chunk.startsWith('\uFEFF') ? 1 : 0;
    this.#charsRead += chunk.length;
    if (this.#charsRead > STREAM_CHARS_MAX) this.#fail(`sent a response of more than ${STREAM_CHARS_MAX} characters`);
    else this.#parser.feed(start === 0 ? chunk : chunk.slice(start));
    return this.#result;
  }

  /** The stream is over: gives the event that it broke off in, if that was there in full. */
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
