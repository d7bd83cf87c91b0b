import { isObject } from '../base/json-value.ts';
import type { ThreadItem, Turn, TurnStartResponse } from '../protocol/generated/types.ts';
import type { Notification, RequestOptions, Subscriber } from './client-options.ts';
import { NotificationStream } from './notification-stream.ts';
import { ConnectionError } from './request-error.ts';

/** Parts of the client that a turn needs. */
export interface TurnRunDeps {
  threadId: string;
  start(options: RequestOptions): Promise<TurnStartResponse>;
  interrupt(turnId: string): Promise<unknown>;
  subscribe(subscriber: Subscriber): () => void;
}

/** A turn that has ended. */
export interface TurnResult {
  /** The turn from `turn/completed`. Its `status` says how it ended. */
  turn: Turn;
  /** The completed items, in the order of their announcements. */
  items: ThreadItem[];
  /** The agent's last message; an empty string if there is none. */
  text: string;
}

/**
 * A turn from its start to its end. Iterate over it for its notifications, of which
 * `turn/completed` is the last, or wait for `result`, or both. Both fail if `turn/start` is
 * refused, or if the connection ends before the turn. The turn goes on if you stop iterating.
 *
 * If you begin to iterate at once, or as soon as `started` has resolved, you get all notifications.
 * Until then only the newest one is kept, so a later iteration begins with that. It always gets
 * `turn/completed`.
 */
export class TurnRun implements AsyncIterable<Notification> {
  /**
   * Resolves with the turn from the response to `turn/start`. If a turn was already running, this
   * is that turn, which the input joined.
   */
  readonly started: Promise<Turn>;
  readonly result: Promise<TurnResult>;
  readonly #deps: TurnRunDeps;
  readonly #signal: AbortSignal | undefined;
  readonly #events = new NotificationStream<Notification>(() => {});
  #isRead = false;
  readonly #items: ThreadItem[] = [];
  #unsubscribe = () => {};
  readonly #onAbort = () => void this.#interrupt();
  /**
   * Notifications that came before the response. They are kept because only the response contains
   * the turn's id.
   */
  #early: Notification[] | null = [];
  #turnId = '';
  #resolve: (result: TurnResult) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(deps: TurnRunDeps, signal: AbortSignal | undefined) {
    this.#deps = deps;
    this.#signal = signal;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#unsubscribe = deps.subscribe({
      take: (notification) => this.#take(notification),
      end: (error) =>
        this.#fail(error ?? new ConnectionError('this client was closed before the turn ended')),
    });
    this.started = this.#start();
    // The failure reaches the caller through any one of `started`, `result` and the iterator: the
    // others need not be awaited.
    for (const promise of [this.started, this.result]) promise.catch(() => {});
  }

  [Symbol.asyncIterator](): AsyncIterator<Notification, undefined> {
    this.#isRead = true;
    return this.#events;
  }

  async #start(): Promise<Turn> {
    try {
      const { turn } = await this.#deps.start(
        this.#signal?.aborted ? { signal: this.#signal } : {},
      );
      this.#turnId = turn.id;
      this.#signal?.addEventListener('abort', this.#onAbort);
      if (this.#signal?.aborted) this.#onAbort();
      const early = this.#early ?? [];
      this.#early = null;
      for (const notification of early) this.#deliver(notification, { isEarly: true });
      return turn;
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  #take(notification: Notification): void {
    const { params } = notification;
    if (!('threadId' in params) || params.threadId !== this.#deps.threadId) return;
    if (this.#early !== null) {
      this.#early.push(notification);
      return;
    }
    this.#deliver(notification, { isEarly: false });
  }

  #deliver(notification: Notification, { isEarly }: { isEarly: boolean }): void {
    const { method, params } = notification;
    if (method === 'thread/closed')
      this.#fail(new Error('the thread was closed before the turn ended'));
    if (turnOf(notification) !== this.#turnId) return;
    if (!this.#isRead && !isEarly) this.#events.forget();
    this.#events.push(notification);
    if (method === 'item/completed') this.#items.push(params.item);
    if (method === 'turn/completed') this.#complete(params.turn);
  }

  #complete(turn: Turn): void {
    this.#settle();
    this.#events.end(null);
    const messages = this.#items.filter((item) => item.type === 'agentMessage');
    this.#resolve({ turn, items: this.#items, text: messages.at(-1)?.text ?? '' });
  }

  #fail(error: unknown): void {
    this.#settle();
    this.#events.end(error instanceof Error ? error : new Error(String(error)));
    this.#reject(error);
  }

  #settle(): void {
    this.#unsubscribe();
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }

  /** If the request is refused, the turn has just ended by itself. */
  async #interrupt(): Promise<void> {
    await this.#deps.interrupt(this.#turnId).catch(() => {});
  }
}

function turnOf({ params }: Notification): string | null | undefined {
  if ('turnId' in params) return params.turnId;
  return 'turn' in params && isObject(params.turn) ? params.turn.id : undefined;
}
