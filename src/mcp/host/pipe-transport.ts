import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { isObject } from '../../base/json-value.ts';
import { PartCounter } from '../../base/text/part-counter.ts';

/** The longest message that a server may send: a line, the body of a response, or an event. */
export const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
/**
 * The most objects, arrays and members of a message. More of them need too much time and memory,
 * which all servers share.
 */
export const MESSAGE_PARTS_MAX = 2_000_000;
const LINE_FEED = 10;
/** So many lines are read in one turn of the event loop. */
const LINES_A_TURN = 100;

interface PipeTransportDeps {
  /** Passes bytes on to the server. */
  write(bytes: Uint8Array): void;
  /** A line that is not a message, such as text that a program prints to its output. */
  onNoise(line: string): void;
  /** The connection is ended from this side, for this reason. */
  onEnded(reason: string): void;
}

/**
 * Messages of a server that runs elsewhere, as JSON lines: `receive` takes the bytes of its output.
 */
export class PipeTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];
  readonly #deps: PipeTransportDeps;
  readonly #encoder = new TextEncoder();
  #parts: Uint8Array[] = [];
  #length = 0;
  #lines = 0;
  #isClosed = false;
  #receiving: Promise<void> = Promise.resolve();

  constructor(deps: PipeTransportDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw new Error('the server has ended');
    this.#deps.write(this.#encoder.encode(`${JSON.stringify(message)}\n`));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#forget();
    this.onclose?.();
  }

  /**
   * Takes bytes of the server's output. Resolves when its messages in them have been passed on.
   * Never rejects.
   */
  receive(bytes: Uint8Array): Promise<void> {
    this.#receiving = this.#receiving.then(() => this.#take(bytes));
    return this.#receiving;
  }

  async #take(bytes: Uint8Array): Promise<void> {
    let from = 0;
    for (
      let end = bytes.indexOf(LINE_FEED);
      end !== -1 && !this.#isClosed;
      end = bytes.indexOf(LINE_FEED, from)
    ) {
      this.#keep(bytes.subarray(from, end));
      // The library handles notifications later, so that a response behind one would overtake it.
      if (this.#line() || ++this.#lines % LINES_A_TURN === 0) await nextTurn();
      from = end + 1;
    }
    if (from < bytes.length && !this.#isClosed) this.#keep(bytes.subarray(from));
  }

  #keep(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.#length += bytes.length;
    if (this.#length > MESSAGE_BYTES_MAX)
      this.#end(`it sent a message of more than ${MESSAGE_BYTES_MAX / 1024 / 1024} MiB`);
  }

  #end(reason: string): void {
    this.#deps.onEnded(reason);
    void this.close();
  }

  /** Returns whether it was a notification. */
  #line(): boolean {
    const line = Buffer.concat(this.#parts, this.#length).toString('utf8').trim();
    this.#forget();
    if (line === '') return false;
    if (line.length > MESSAGE_PARTS_MAX && new PartCounter().add(line) > MESSAGE_PARTS_MAX) {
      this.#end(`it sent a message of more than ${MESSAGE_PARTS_MAX} objects, arrays and members`);
      return false;
    }
    try {
      const message: unknown = JSON.parse(line);
      if (!isObject(message)) throw new TypeError('not an object');
      // The library throws if it cannot show a message that it does not know.
      this.onmessage?.(message as unknown as JSONRPCMessage);
      return !('id' in message);
    } catch {
      this.#deps.onNoise(line);
      return false;
    }
  }

  #forget(): void {
    this.#parts = [];
    this.#length = 0;
  }
}
