import { AbstractMessageWriter, type Message, type MessageWriter } from 'vscode-jsonrpc/node';
import { JsonText } from '../base/json-text.ts';
import type { RequestIds } from './request-ids.ts';
import type { Transport } from './transport.ts';
import type { WireTap } from './wire-tap.ts';

/** With more unread output than this, everything that can wait (a streaming turn, the reader) waits for the client. */
const BACKLOG_BYTES_HIGH = 4 * 1024 * 1024;
const BACKLOG_BYTES_LOW = BACKLOG_BYTES_HIGH / 4;

/**
 * Writes JSON-RPC messages, without the `jsonrpc` member. All messages that are sent within one turn of the event loop are
 * written together, in their order.
 */
export class JsonWriter extends AbstractMessageWriter implements MessageWriter {
  readonly #transport: Transport;
  readonly #ids: RequestIds;
  readonly #tap: WireTap | null;
  #lines: string[] = [];
  #queuedLength = 0;
  #flushing = false;
  #broken = false;
  #drained: { promise: Promise<void>; resolve: () => void } | null = null;

  constructor(transport: Transport, { ids, tap }: { ids: RequestIds; tap: WireTap | null }) {
    super();
    this.#transport = transport;
    this.#ids = ids;
    this.#tap = tap;
    transport.onWriteError((error) => {
      this.#broken = true;
      this.#release();
      this.fireError(error);
      this.fireClose();
    });
  }

  /** Called by vscode-jsonrpc with its messages, which are responses. */
  write(message: Message): Promise<void> {
    const { id, result, error } = message as { id?: unknown; result?: unknown; error?: unknown };
    const text = typeof id === 'number' ? this.#ids.close(id) : undefined;
    if (text !== undefined) {
      if (result instanceof JsonText) this.#sendLong([Buffer.from(`{"id":${text},"result":`), ...result.parts, Buffer.from('}')]);
      else this.send(answer(text, result, error));
    }
    return Promise.resolve();
  }

  /** Sends one message, given as its JSON text. */
  send(line: string): void {
    if (this.#broken) return;
    this.#tap?.sent(line);
    this.#lines.push(line);
    this.#queuedLength += line.length;
    this.#flushSoon();
  }

  /** Sends one message, given as the bytes of its JSON text. */
  #sendLong(parts: readonly Buffer[]): void {
    if (this.#broken) return;
    if (this.#transport.writeParts === undefined) {
      this.send(Buffer.concat(parts).toString());
      return;
    }
    this.#tap?.sent(Buffer.concat(parts).toString());
    this.#flush();
    this.#transport.writeParts(parts, () => this.#taken());
  }

  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => this.#flush());
  }

  /** Returns null while the client keeps up with reading, else a promise that resolves when it has caught up, or is gone. */
  drained(): Promise<void> | null {
    if (this.#broken || this.#backlog() < BACKLOG_BYTES_HIGH) return null;
    if (this.#drained === null) {
      let resolve = () => {};
      const promise = new Promise<void>((done) => {
        resolve = done;
      });
      this.#drained = { promise, resolve };
    }
    return this.#drained.promise;
  }

  /** Resolves when the operating system has accepted all messages, or the client is gone. */
  flushed(): Promise<void> {
    this.#flush();
    if (this.#broken || this.#transport.backlog === 0) return Promise.resolve();
    return new Promise((resolve) => this.#transport.write([], resolve));
  }

  end(): void {
    this.#flush();
  }

  #backlog(): number {
    return this.#queuedLength + this.#transport.backlog;
  }

  #flush(): void {
    this.#flushing = false;
    if (this.#broken || this.#lines.length === 0) return;
    const texts = this.#lines;
    this.#lines = [];
    this.#queuedLength = 0;
    this.#transport.write(texts, () => this.#taken());
  }

  #taken(): void {
    if (this.#backlog() <= BACKLOG_BYTES_LOW) this.#release();
  }

  #release(): void {
    this.#drained?.resolve();
    this.#drained = null;
  }
}

/** The JSON text of a response, with the id as the client wrote it. A result that is too large for a string becomes an error. */
function answer(idText: string, result: unknown, error: unknown): string {
  if (error !== undefined) return `{"id":${idText},"error":${JSON.stringify(error)}}`;
  try {
    return `{"id":${idText},"result":${JSON.stringify(result ?? null)}}`;
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    return answer(idText, undefined, {
      code: -32603,
      message: 'the response is too large for one message: request it in pages',
      data: { code: 'answer_too_large' },
    });
  }
}
