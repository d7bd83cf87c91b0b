import { type Clock, systemClock, type Timer } from '../../base/clock.ts';
import { isBusy } from './connect/as-store-error.ts';

/** After this time the other calls and the event loop get their turn. */
const TURN_MS_MAX = 8;
/** The most writes that one transaction has. */
const JOINED_MAX = 256;
/** A write that another process prevents for this time fails. */
export const BUSY_MS_MAX = 60_000;
/**
 * The pauses between the attempts of a write that another process prevents. The last one repeats.
 */
const BUSY_PAUSES_MS = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50];

/** A write that can share its transaction with others. */
export interface JoinedWrite {
  /** Writes with the same key are never in the same transaction. */
  key: string;
  /** Writes, within a transaction. If it throws, nothing of it stays. */
  run(): void;
  /** Called as soon as the write is committed. Never throws. */
  committed(): void;
}

export interface StoreQueueDeps {
  /**
   * Commits writes in one transaction, and tells them. Returns the error of each one that failed,
   * null for the others. Never throws.
   */
  commit: (writes: readonly JoinedWrite[]) => unknown[];
  /** Returns the error for a call that has waited too long for the lock of another process. */
  lockedFor: (ms: number) => unknown;
  /** Measures the waiting for other processes. */
  clock?: Clock;
}

interface Call {
  sinceMs: number;
  attempt: () => void;
  /** If the call can share its transaction. */
  joined: JoinedWrite | null;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Runs the calls of a store. Writes run in their order and before reads; those that wait at the
 * same time share a transaction if they can. While another process holds the lock of the database,
 * writes wait without blocking, and reads go on.
 */
export class StoreQueue {
  readonly #deps: StoreQueueDeps;
  readonly #clock: Clock;
  readonly #writes: Call[] = [];
  readonly #reads: Call[] = [];
  #isDue = false;
  #continuing: NodeJS.Immediate | null = null;
  /** Runs while the lock of another process prevents writes. */
  #pause: Timer | null = null;
  /** Whether it prevents reads too, as while a database is recovered. */
  #areReadsPaused = false;
  #pauses = 0;

  constructor(deps: StoreQueueDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
  }

  /**
   * Runs a write that has transactions of its own. It may run again if it throws because another
   * process holds the lock.
   */
  write<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) =>
      this.#add(this.#writes, { ...this.#once(work, resolve), reject }),
    );
  }

  join(joined: JoinedWrite): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#add(this.#writes, {
        sinceMs: this.#clock.monotonic(),
        attempt: () => {},
        joined,
        resolve,
        reject,
      });
    });
  }

  /**
   * Runs a read. A long one is several calls of some milliseconds each, so that others have their
   * turns in between.
   */
  read<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) =>
      this.#add(this.#reads, { ...this.#once(work, resolve), reject }),
    );
  }

  /** Attempts all waiting calls a last time, and rejects those that another process prevents. */
  close(): void {
    this.#endPause();
    while (this.#writes.length > 0 && this.#pause === null) this.#runWrites();
    while (this.#reads.length > 0 && !this.#areReadsPaused) this.#runReads();
    this.#endPause();
    if (this.#continuing !== null) clearImmediate(this.#continuing);
    for (const call of [...this.#writes.splice(0), ...this.#reads.splice(0)])
      call.reject(this.#locked(call));
  }

  #once<T>(work: () => T, resolve: (value: T) => void): Omit<Call, 'reject'> {
    let value: T;
    const attempt = () => {
      value = work();
    };
    return {
      sinceMs: this.#clock.monotonic(),
      attempt,
      joined: null,
      resolve: () => resolve(value),
    };
  }

  #add(calls: Call[], call: Call): void {
    calls.push(call);
    if (this.#isDue) return;
    this.#isDue = true;
    // Calls that are made in the same moment are joined.
    queueMicrotask(() => this.#run());
  }

  #run(): void {
    this.#isDue = false;
    if (this.#pause === null) this.#runWrites();
    this.#runReads();
    const hasReads = this.#reads.length > 0 && !this.#areReadsPaused;
    const hasWrites = this.#writes.length > 0 && this.#pause === null;
    if (!hasReads && !hasWrites) return;
    this.#continuing ??= setImmediate(() => {
      this.#continuing = null;
      this.#run();
    });
  }

  #runWrites(): void {
    const startMs = this.#clock.monotonic();
    while (this.#writes.length > 0 && this.#clock.monotonic() - startMs < TURN_MS_MAX) {
      const calls = this.#takeWrites();
      const busy =
        calls[0]?.joined == null
          ? calls.filter((call) => !this.#attempt(call))
          : this.#commit(calls);
      this.#writes.unshift(...busy);
      if (busy.length > 0) {
        this.#wait();
        return;
      }
      this.#pauses = 0;
    }
  }

  /** Takes the writes for one transaction: the next one, and those behind it that can join it. */
  #takeWrites(): Call[] {
    const keys = new Set<string>();
    const end = this.#writes.findIndex(({ joined }, index) => {
      if (joined === null || keys.has(joined.key)) return true;
      keys.add(joined.key);
      return index === JOINED_MAX;
    });
    return this.#writes.splice(0, end === -1 ? this.#writes.length : Math.max(1, end));
  }

  /** Returns the calls that another process prevents. */
  #commit(calls: Call[]): Call[] {
    const errors = this.#deps.commit(calls.flatMap(({ joined }) => joined ?? []));
    return calls.filter((call, index) => {
      const error = errors[index];
      if (isBusy(error) && !this.#isOverdue(call)) return true;
      if (error === null) call.resolve();
      else call.reject(isBusy(error) ? this.#locked(call) : error);
      return false;
    });
  }

  #runReads(): void {
    const startMs = this.#clock.monotonic();
    while (!this.#areReadsPaused && this.#clock.monotonic() - startMs < TURN_MS_MAX) {
      const call = this.#reads.shift();
      if (call === undefined) return;
      if (this.#attempt(call)) continue;
      this.#reads.unshift(call);
      this.#areReadsPaused = true;
      this.#wait();
    }
  }

  /** Returns false if another process prevents the call. */
  #attempt(call: Call): boolean {
    try {
      call.attempt();
      call.resolve();
    } catch (error) {
      if (isBusy(error) && !this.#isOverdue(call)) return false;
      call.reject(isBusy(error) ? this.#locked(call) : error);
    }
    return true;
  }

  #wait(): void {
    const ms = BUSY_PAUSES_MS[Math.min(this.#pauses++, BUSY_PAUSES_MS.length - 1)] ?? 0;
    this.#pause ??= this.#clock.setTimer(() => {
      this.#endPause();
      this.#run();
    }, ms);
  }

  #endPause(): void {
    this.#pause?.clear();
    this.#pause = null;
    this.#areReadsPaused = false;
  }

  #isOverdue({ sinceMs }: Call): boolean {
    return this.#clock.monotonic() - sinceMs >= BUSY_MS_MAX;
  }

  #locked({ sinceMs }: Call): unknown {
    return this.#deps.lockedFor(this.#clock.monotonic() - sinceMs);
  }
}
