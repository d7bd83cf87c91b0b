import type { Clock, Timer } from '../base/clock.ts';

/**
 * How long calls of a thread's tools wait for a client after the one that provides them has left.
 */
const ABSENCE_MS_MAX = 30_000;

interface Provider {
  /** The number of its connection; null: it has left. */
  connectionId: number | null;
  /** Whether it is the client that declared the tools. */
  isDeclarer: boolean;
  /** Runs while the provider has left and calls still wait for another client. */
  absence: Timer | null;
}

/**
 * The connections that run the tools of clients, by thread: the one that declared them, until it
 * leaves. Then it is the next connection of the same client. Other clients, which may only observe
 * the thread, run them only while that client is not expected.
 */
export class ToolProviders {
  readonly #clock: Clock;
  readonly #onLost: (threadId: string) => void;
  readonly #providers = new Map<string, Provider>();

  /** `onLost`: the provider of a thread's tools has left, and no client has come in its place. */
  constructor(clock: Clock, onLost: (threadId: string) => void) {
    this.#clock = clock;
    this.#onLost = onLost;
  }

  /** The connection that runs the tools of a thread; null: there is none now. */
  of(threadId: string): number | null {
    return this.#providers.get(threadId)?.connectionId ?? null;
  }

  /** Whether calls may wait: a provider is connected, or has left only just now. */
  isExpected(threadId: string): boolean {
    const provider = this.#providers.get(threadId);
    return provider !== undefined && (provider.connectionId !== null || provider.absence !== null);
  }

  /**
   * Makes a connection the provider of a thread's tools. One of the client that declared them takes
   * any place, except from another one of that client. Others take only a place that nobody has and
   * for which that client is not expected.
   */
  offer(threadId: string, connectionId: number, { isDeclarer }: { isDeclarer: boolean }): void {
    const provider = this.#providers.get(threadId);
    const isTaken = provider !== undefined && provider.connectionId !== null;
    if (isDeclarer ? isTaken && provider.isDeclarer : isTaken || provider?.isDeclarer === true)
      return;
    provider?.absence?.clear();
    this.#providers.set(threadId, { connectionId, isDeclarer, absence: null });
  }

  /** A connection does not follow the thread any more. */
  left(threadId: string, connectionId: number): void {
    const provider = this.#providers.get(threadId);
    if (provider?.connectionId !== connectionId) return;
    provider.connectionId = null;
    provider.absence = this.#clock.setTimer(() => {
      this.#providers.delete(threadId);
      this.#onLost(threadId);
    }, ABSENCE_MS_MAX);
  }

  /** The thread is not loaded any more. */
  forget(threadId: string): void {
    this.#providers.get(threadId)?.absence?.clear();
    this.#providers.delete(threadId);
  }
}
