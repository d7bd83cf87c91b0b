import { AbstractMessageWriter, type Message, type MessageWriter } from 'vscode-jsonrpc/node';
import { JsonText } from '../base/text/json-text.ts';
import { Backlog } from './backlog.ts';
import { LongMessage, type OutgoingMessage, outgoing } from './outgoing-message.ts';
import type { RequestIds } from './request-ids.ts';
import type { Transport } from './transport.ts';
import type { WireTap } from './wire-tap.ts';

/**
 * Writes JSON-RPC messages, without the `jsonrpc` member. All messages that are sent within one
 * turn of the event loop, or before `flush`, are written together, in their order.
 */
export class JsonWriter extends AbstractMessageWriter implements MessageWriter {
  readonly #transport: Transport;
  readonly #ids: RequestIds;
  readonly #backlog: Backlog;
  readonly #tap: WireTap | null;
  #queue: OutgoingMessage[] = [];
  #flushing = false;
  /** Resolves when the long message at the beginning of the queue is written. */
  #writing: Promise<void> | null = null;
  /** Ends the waiting for it: the client is gone. */
  #stopWriting: () => void = () => {};
  #broken = false;

  constructor(transport: Transport, { ids, tap }: { ids: RequestIds; tap: WireTap | null }) {
    super();
    this.#transport = transport;
    this.#ids = ids;
    this.#backlog = new Backlog(transport);
    this.#tap = tap;
    transport.onWriteError((error) => {
      this.#broken = true;
      this.#stopWriting();
      this.#backlog.giveUp();
      if (error !== null) this.fireError(error);
      this.fireClose();
    });
  }

  /** Called by vscode-jsonrpc with its messages, which are responses. */
  write(message: Message): Promise<void> {
    const { id, result, error } = message as { id?: unknown; result?: unknown; error?: unknown };
    const text = typeof id === 'number' ? this.#ids.close(id) : undefined;
    if (text !== undefined) {
      this.send(answer(text, result, error));
    }
    return Promise.resolve();
  }

  /** Sends one message, after all earlier ones. */
  send(message: OutgoingMessage): void {
    if (this.#broken) return;
    this.#queue.push(message);
    this.#backlog.queued(message.length);
    if (this.#transport.isRemote && this.#backlog.isTooLong) this.#cutOff();
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => this.flush());
  }

  /** The client reads so slowly that what waits for it would fill the memory. */
  #cutOff(): void {
    this.#broken = true;
    this.#queue = [];
    this.#stopWriting();
    this.#backlog.giveUp();
    this.#transport.end('slow');
    this.fireClose();
  }

  /** `Backlog.unread`. */
  get unread(): Backlog['unread'] {
    return this.#backlog.unread;
  }

  /** `Backlog.drained` of the messages that were sent. */
  drained(): Promise<void> | null {
    return this.#backlog.drained();
  }

  /** Resolves when the operating system has accepted all messages, or the client is gone. */
  async flushed(): Promise<void> {
    for (this.flush(); this.#writing !== null; ) await this.#writing;
    if (this.#broken || this.#transport.backlog === 0) return;
    await new Promise<void>((resolve) => this.#transport.write([], resolve));
  }

  end(): void {
    this.flush();
  }

  /** Writes what was sent so far, instead of at the end of this turn of the event loop. */
  flush(): void {
    this.#flushing = false;
    if (this.#broken || this.#writing !== null) return;
    const texts: string[] = [];
    let long: LongMessage | null = null;
    for (const message of this.#queue) {
      if (typeof message !== 'string') {
        long = message;
        break;
      }
      texts.push(message);
      this.#backlog.written(message.length);
      this.#tap?.sent(message);
    }
    this.#queue = this.#queue.slice(texts.length);
    if (texts.length > 0) {
      const lengths = texts.map(({ length }) => length);
      this.#transport.write(texts, () => this.#backlog.taken(lengths));
    }
    if (long !== null) this.#writing = this.#writeLong(long);
  }

  /**
   * Later messages wait until this one is taken, so that the text of only one long message is in
   * memory at a time.
   */
  async #writeLong(message: LongMessage): Promise<void> {
    await message.withBytes((bytes) => this.#writeBytes(message, bytes));
    this.#writing = null;
    if (this.#broken) return;
    this.#backlog.taken([message.length]);
    this.flush();
  }

  async #writeBytes(message: LongMessage, bytes: readonly Buffer[]): Promise<void> {
    if (this.#broken) return;
    this.#queue.shift();
    this.#backlog.written(message.length);
    const text = () => Buffer.concat(bytes).toString();
    this.#tap?.sent(text());
    await new Promise<void>((taken) => {
      this.#stopWriting = taken;
      if (this.#transport.writeLong === undefined) this.#transport.write([text()], taken);
      else this.#transport.writeLong(bytes, taken);
    });
  }
}

/**
 * A response, with the id as the client wrote it. A result that is too large for a message becomes
 * an error.
 */
function answer(idText: string, result: unknown, error: unknown): OutgoingMessage {
  if (error !== undefined) return `{"id":${idText},"error":${JSON.stringify(error)}}`;
  const head = `{"id":${idText},"result":`;
  if (result instanceof JsonText) {
    return new LongMessage(
      () => Promise.resolve([Buffer.from(head), ...result.parts, Buffer.from('}')]),
      result.length,
    );
  }
  return outgoing({ head, value: result ?? null, instead: () => tooLarge(idText) });
}

function tooLarge(idText: string): string {
  const error = {
    code: -32603,
    message: 'the response is too large for one message: request it in pages',
    data: { code: 'answer_too_large' },
  };
  return `{"id":${idText},"error":${JSON.stringify(error)}}`;
}
