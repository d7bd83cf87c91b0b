import { isObject } from '../../../base/json-value.ts';
import { parseJson } from '../../../base/parse-long-json.ts';
import { EventReader, type ReadEvents, STREAM_CHARS_MAX } from './event-reader.ts';

/**
 * Reads a response that is a stream of events or, if `takesWhole`, one JSON object: some servers
 * send one even though a stream was requested, and under any content type.
 */
export class ResponseReader {
  readonly #takesWhole: boolean;
  readonly #events: EventReader;
  #form: 'unknown' | 'stream' | 'whole' = 'unknown';
  readonly #pieces: string[] = [];
  #chars = 0;

  constructor({ takesWhole, skipsNoise }: { takesWhole: boolean; skipsNoise: boolean }) {
    this.#takesWhole = takesWhole;
    this.#events = new EventReader({ skipsNoise });
  }

  get isWhole(): boolean {
    return this.#form === 'whole';
  }

  /** The length of what has come and could not be used so far. */
  get pendingChars(): number {
    return this.#form === 'whole' ? this.#chars : this.#events.pendingChars;
  }

  /** Takes the next chunk of the response. */
  feed(chunk: string): ReadEvents | Promise<ReadEvents> {
    if (this.#form === 'unknown' && chunk.trim() !== '')
      this.#form = this.#takesWhole && /^\s*\{/.test(chunk) ? 'whole' : 'stream';
    if (this.#form !== 'whole') return this.#events.feed(chunk);
    this.#chars += chunk.length;
    this.#pieces.push(chunk);
    const problem =
      this.#chars > STREAM_CHARS_MAX
        ? `sent a response of more than ${STREAM_CHARS_MAX} characters`
        : null;
    return { events: [], skipped: 0, done: false, problem };
  }

  /** Ends the response; returns its last event if that is complete. */
  async end(): Promise<ReadEvents> {
    if (this.#form !== 'whole') return this.#events.end();
    const value = await parseJson(this.#pieces.splice(0).join(''));
    return { events: isObject(value) ? [value] : [], skipped: 0, done: false, problem: null };
  }
}
