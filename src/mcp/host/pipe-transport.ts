import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';

/** The longest line that a server may send. */
const LINE_BYTES_MAX = 64 * 1024 * 1024;
const LINE_FEED = 10;

interface PipeTransportDeps {
  /** Passes bytes on to the server. */
  write(bytes: Uint8Array): void;
  /** A line that is not a message, such as text that a program prints to its output. */
  onNoise(problem: string): void;
}

/** Messages of a server that runs elsewhere, as JSON lines: `receive` takes the bytes of its output. */
export class PipeTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];
  readonly #deps: PipeTransportDeps;
  readonly #encoder = new TextEncoder();
  #parts: Uint8Array[] = [];
  #length = 0;
  #isClosed = false;

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
    this.#parts = [];
    this.onclose?.();
  }

  receive(bytes: Uint8Array): void {
    let from = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1 && !this.#isClosed; end = bytes.indexOf(LINE_FEED, from)) {
      this.#keep(bytes.subarray(from, end));
      this.#line();
      from = end + 1;
    }
    if (from < bytes.length && !this.#isClosed) this.#keep(bytes.subarray(from));
  }

  #keep(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.#length += bytes.length;
    if (this.#length <= LINE_BYTES_MAX) return;
    this.onerror?.(new Error(`the server sent a message of more than ${LINE_BYTES_MAX / 1024 / 1024} MiB`));
    void this.close();
  }

  #line(): void {
    const line = Buffer.concat(this.#parts, this.#length).toString('utf8').trim();
    this.#parts = [];
    this.#length = 0;
    if (line === '') return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      this.#deps.onNoise(line.slice(0, 500));
      return;
    }
    if (typeof message === 'object' && message !== null && !Array.isArray(message)) this.onmessage?.(message as JSONRPCMessage);
    else this.#deps.onNoise(line.slice(0, 500));
  }
}
