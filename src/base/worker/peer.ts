import { type Log, sendingLog } from '../log.ts';
import {
  type ErrorData,
  errorData,
  errorOf,
  fieldsData,
  fieldsOf,
  type KnownErrors,
} from './error-data.ts';
import type { MainThread } from './remote.ts';

/** A message of one side to the other. `call`: the number of a call that is answered. */
export type PeerMessage =
  | { call: number | null; name: string; args: readonly unknown[] }
  | { cancelled: number }
  | { answered: number; value: unknown }
  | { answered: number; error: ErrorData }
  | { level: keyof Log; fields: object; text: string };

export interface PeerOptions {
  /** Sends messages to the other side. Throws if one of them is not data. */
  post(messages: readonly PeerMessage[]): void;
  knownErrors?: KnownErrors | undefined;
  /** Whether the calls and answers of one moment are sent together. */
  joins?: boolean | undefined;
  /** The log for the other side's lines. */
  log?: Log;
  /** A call waits for the other side, or none does any more. */
  onWaiting?(isWaiting: boolean): void;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
  /** Stops listening for an abort. */
  forget(): void;
}

/** The other thread has ended. */
export class PeerEnded extends Error {}

/**
 * One side of a worker: calls methods of the other side, and performs the calls that come from
 * there.
 */
export class Peer<Theirs, Ours> implements MainThread<Theirs> {
  readonly #options: PeerOptions;
  readonly #waiting = new Map<number, Waiting>();
  /** The calls of the other side that run. */
  readonly #running = new Map<number, AbortController>();
  #served: Ours | null = null;
  #unsent: PeerMessage[] = [];
  #calls = 0;
  #ended: PeerEnded | null = null;
  readonly log = sendingLog((level, fields, text) =>
    this.#send({ level, fields: fieldsData(fields, this.#options.knownErrors), text }),
  );

  constructor(options: PeerOptions) {
    this.#options = options;
  }

  /** Sets the object whose methods the other side calls, before its first message comes. */
  serve(served: Ours): void {
    this.#served = served;
  }

  call(name: string, args: readonly unknown[], signal?: AbortSignal): Promise<never> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== null) return reject(this.#ended);
      if (signal?.aborted === true) return reject(signal.reason);
      const call = ++this.#calls;
      const cancel = () => this.#send({ cancelled: call });
      if (this.#waiting.size === 0) this.#options.onWaiting?.(true);
      this.#waiting.set(call, {
        resolve: resolve as (value: unknown) => void,
        reject,
        forget: () => signal?.removeEventListener('abort', cancel),
      });
      signal?.addEventListener('abort', cancel);
      this.#send({ call, name, args });
    });
  }

  tell(name: string, ...args: readonly unknown[]): void {
    this.#send({ call: null, name, args });
  }

  receive(messages: readonly PeerMessage[]): void {
    if (this.#ended !== null) return;
    for (const message of messages) {
      if ('name' in message) this.#perform(message);
      else if ('cancelled' in message) this.#running.get(message.cancelled)?.abort();
      else if ('answered' in message) this.#settle(message);
      else
        this.#options.log?.[message.level](
          fieldsOf(message.fields, this.#options.knownErrors),
          message.text,
        );
    }
  }

  /** The other thread has ended: rejects all calls, and aborts those of the other side. */
  end(reason: string): void {
    this.#ended = new PeerEnded(reason);
    for (const cancelled of this.#running.values()) cancelled.abort();
    for (const call of [...this.#waiting.keys()]) this.#take(call)?.reject(this.#ended);
  }

  #perform({ call, name, args }: Extract<PeerMessage, { name: string }>): void {
    const served = this.#served as Record<string, (...args: readonly unknown[]) => unknown>;
    if (call === null) served[name]?.(...args);
    else void this.#answer(call, async (signal) => served[name]?.(...args, signal));
  }

  async #answer(call: number, work: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    const cancelled = new AbortController();
    this.#running.set(call, cancelled);
    try {
      this.#send({ answered: call, value: await work(cancelled.signal) });
    } catch (error) {
      this.#send({ answered: call, error: errorData(error, this.#options.knownErrors) });
    } finally {
      this.#running.delete(call);
    }
  }

  #settle(answer: Extract<PeerMessage, { answered: number }>): void {
    const waiting = this.#take(answer.answered);
    if ('error' in answer) waiting?.reject(errorOf(answer.error, this.#options.knownErrors));
    else waiting?.resolve(answer.value);
  }

  #take(call: number): Waiting | null {
    const waiting = this.#waiting.get(call) ?? null;
    if (this.#waiting.delete(call) && this.#waiting.size === 0) this.#options.onWaiting?.(false);
    waiting?.forget();
    return waiting;
  }

  /** Log lines and what is told are sent at once: this side may die soon. */
  #send(message: PeerMessage): void {
    this.#unsent.push(message);
    const waits = 'answered' in message || ('call' in message && message.call !== null);
    if (this.#options.joins !== true || !waits) this.#postUnsent();
    else if (this.#unsent.length === 1) queueMicrotask(() => this.#postUnsent());
  }

  #postUnsent(): void {
    this.#post(this.#unsent.splice(0));
  }

  #post(messages: readonly PeerMessage[]): void {
    if (this.#ended !== null) return;
    try {
      this.#options.post(messages);
    } catch (problem) {
      if (messages.length > 1) for (const message of messages) this.#post([message]);
      else this.#refuse(messages[0] as PeerMessage, errorData(problem));
    }
  }

  /** A message is not data: the call fails. */
  #refuse(message: PeerMessage, error: ErrorData): void {
    if ('name' in message && message.call !== null) this.#settle({ answered: message.call, error });
    else if ('answered' in message) this.#post([{ answered: message.answered, error }]);
    else throw errorOf(error);
  }
}
