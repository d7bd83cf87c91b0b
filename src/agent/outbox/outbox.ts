import { EventLoopYield } from '../../base/event-loop-yield.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { LogEntry, StoredItem } from '../../store/log-entry.ts';
import { StoreError } from '../../store/store-error.ts';
import type { ThreadPatch } from '../../store/thread-record.ts';
import type { ThreadWriter } from '../../store/thread-store.ts';
import { OwedSteps } from './owed-steps.ts';
import { type Step, type StepSequence, stores, unfinishedIn } from './step.ts';
import { UnfinishedItems } from './unfinished-items.ts';
import { areLong, type WaitingStep, WaitingSteps } from './waiting-steps.ts';

/** The part of an outbox that shows what clients have seen and the store does not have. */
export type Unstored = Pick<Outbox, 'owed' | 'unfinished' | 'finishedSteps' | 'between'>;

/**
 * Stores what the turns and parts of a loaded thread do, and then announces it, one step after
 * another. So an item that a client has seen completed is on disk. Steps of the same moment, or
 * made while the store is busy, are one write. docs/design/turn.md says what goes past it, and why.
 */
export class Outbox {
  readonly unfinished = new UnfinishedItems((itemId) => this.#waiting.deltasOf(itemId));
  /** Grows with each step that is stored and announced. */
  finishedSteps = 0;
  readonly #writer: ThreadWriter;
  readonly #announce: (announcement: Announcement) => void;
  readonly #onAppended: (entries: readonly LogEntry[]) => void;
  readonly #waiting = new WaitingSteps();
  readonly #owed = new OwedSteps();
  #isRunning = false;
  /** Whether the steps that wait are stored without waiting for others. */
  #isDue = false;
  #endGroup: () => void = () => {};
  /** The waiting saves of unfinished items, by the ids of the items. */
  readonly #saves = new Map<string, Step>();
  readonly #breaks = new EventLoopYield();

  constructor(options: {
    writer: ThreadWriter;
    announce: (announcement: Announcement) => void;
    onAppended: (entries: readonly LogEntry[]) => void;
  }) {
    this.#writer = options.writer;
    this.#announce = options.announce;
    this.#onAppended = options.onAppended;
  }

  /**
   * Stores and announces a step. If it rejects with the store's error, nothing of the step was
   * announced. A step of a sequence that has failed is rejected with the error of the failure.
   */
  commit(step: Step, sequence: StepSequence | null = null): Promise<void> {
    return new Promise((resolve, reject) =>
      this.#add({ step, sequence, done: resolve, failed: reject }),
    );
  }

  /**
   * Saves an unfinished item. An item is saved once, with its last content, however often that is
   * asked while the store is slow. A failure is ignored: the whole item is stored when it
   * completes, and a failure of that is reported.
   */
  savePartial(partial: StoredItem): void {
    const { id } = partial.item;
    const waiting = this.#saves.get(id);
    if (waiting !== undefined) {
      waiting.partial = partial;
      return;
    }
    const step: Step = { partial };
    this.#saves.set(id, step);
    this.commit(step).catch(() => {});
  }

  /**
   * Stores and announces a step. If that fails, announces it all the same: clients must learn that
   * a turn has failed even if the disk is full. Its entries and its patch are then owed: they are
   * stored with the next step that succeeds. Never rejects.
   */
  commitOrAnnounce(step: Step): Promise<void> {
    const { announce = [], ...rest } = step;
    return this.#commitOrElse(step, () => {
      this.#owed.add(rest);
      for (const announcement of announce) this.#announce(announcement);
    });
  }

  /**
   * Stores and announces a step that cannot be retried. If the store fails, the step is owed: it is
   * stored and announced with the next step that succeeds. Rejects with other errors only.
   */
  commitOrOwe(step: Step): Promise<void> {
    return this.#commitOrElse(step, (error) => {
      if (!(error instanceof StoreError)) throw error;
      this.#owed.add(step);
    });
  }

  /**
   * Makes a step between two others, and commits it before any other. Returns false if `make`
   * returned null, and there is nothing to do. Rejects with the store's error.
   */
  commitMade(make: () => Step | null): Promise<boolean> {
    return this.between(async () => {
      const step = make();
      if (step === null) return false;
      await new Promise<void>((resolve, reject) => {
        const alone = { sequence: null, deltas: [], weight: 0, isAlone: true };
        void this.#store([{ step, ...alone, done: resolve, failed: reject }]);
      });
      return true;
    });
  }

  /** Announces something that is not stored, after all steps so far. */
  announce(announcements: readonly Announcement[]): Promise<void> {
    return this.between(() => {
      for (const announcement of announcements) this.#announce(announcement);
    });
  }

  /**
   * Announces a delta: after the announcements of its sequence that wait, and at once if there are
   * none. Does nothing once the sequence has failed.
   */
  announceDelta(announcement: Announcement, sequence: StepSequence): void {
    if (sequence.failure !== null) return;
    if (!this.#waiting.addDelta(announcement, sequence)) this.#announce(announcement);
  }

  /**
   * Returns a promise that resolves when all steps so far are done, if many steps, long deltas or
   * long entries wait; else null.
   */
  caughtUp(): Promise<void> | null {
    return this.#waiting.areMany ? this.between(() => {}) : null;
  }

  /**
   * Resolves when all steps so far are stored and announced. Rejects if one of the sequence has
   * failed.
   */
  async stored(sequence: StepSequence): Promise<void> {
    await this.between(() => {});
    if (sequence.failure !== null) throw sequence.failure.error;
  }

  /** Runs `work` between two steps, so that no step is in progress. */
  between<T>(work: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.addWork(() => Promise.resolve().then(work).then(resolve, reject));
      this.#begin();
    });
  }

  /** The entries that could not be stored yet. */
  get owed(): readonly LogEntry[] {
    return this.#owed.entries;
  }

  /**
   * Resolves when all steps so far are done and one more attempt was made to store what is owed.
   */
  async settle(): Promise<void> {
    await this.between(() => {});
    if (!this.#owed.exist) return;
    // If the store still fails, the end of a turn may never be stored. It then reads as
    // interrupted.
    await this.commit({}).catch(() => {});
  }

  /** Performs a step, or else something that leaves nothing to do for the caller. */
  #commitOrElse(step: Step, otherwise: (error: unknown) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const failed = (error: unknown) => {
        try {
          resolve(otherwise(error));
        } catch (other) {
          reject(other);
        }
      };
      this.#add({ step, sequence: null, done: resolve, failed });
    });
  }

  #add(waiting: Omit<WaitingStep, 'deltas' | 'weight' | 'isAlone'>): void {
    // The item may continue. It is then saved again, behind this step.
    for (const { item } of waiting.step.dropped ?? []) this.#saves.delete(item.id);
    this.#waiting.add(waiting);
    this.#isDue ||= waiting.step.isLast === true;
    if (this.#isDue) this.#endGroup();
    this.#begin();
  }

  #begin(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    queueMicrotask(() => void this.#run());
  }

  async #run(): Promise<void> {
    for (let { next } = this.#waiting; next !== undefined; next = this.#waiting.next) {
      if ('work' in next) {
        this.#waiting.shift();
        await next.work();
      } else if (this.#owed.exist || stores(next.step)) {
        if (!this.#isDue) await this.#groupEnded();
        this.#isDue = false;
        await this.#store(this.#waiting.take());
      } else {
        this.#waiting.shift();
        if (this.#mayBegin(next)) this.#finish(next);
      }
    }
    this.#isRunning = false;
  }

  /** The events of a model's response come in groups: their steps are one write. */
  #groupEnded(): Promise<void> {
    return new Promise((resolve) => {
      this.#endGroup = resolve;
      setImmediate(resolve);
    });
  }

  async #store(taken: readonly WaitingStep[]): Promise<void> {
    const steps = taken.filter((waiting) => this.#mayBegin(waiting));
    for (const { step } of steps)
      if (step.partial !== undefined) this.#saves.delete(step.partial.item.id);
    const [only, second] = steps;
    if (only === undefined) return;
    const entries = [...this.#owed.entries, ...steps.flatMap(({ step }) => step.entries ?? [])];
    const takesLong = areLong(entries);
    this.#waiting.storing = steps;
    if (takesLong) await this.#breaks.worked(Number.POSITIVE_INFINITY);
    const failure = await this.#write(entries, steps);
    if (takesLong) await this.#breaks.worked(Number.POSITIVE_INFINITY);
    this.#waiting.storing = [];
    if (failure === null) {
      this.#onAppended(entries);
      for (const announcement of this.#owed.takeAnnouncements()) this.#announce(announcement);
      for (const waiting of steps) this.#finish(waiting);
    } else if (second === undefined) this.#fail(only, failure.error);
    else this.#waiting.putBack(steps);
  }

  /**
   * Writes steps, and what is owed, in one transaction. Returns the error if nothing was stored,
   * else null.
   */
  async #write(
    entries: LogEntry[],
    waiting: readonly WaitingStep[],
  ): Promise<{ error: unknown } | null> {
    const steps = waiting.map(({ step }) => step);
    const patches = [this.#owed.patch, ...steps.map(({ patch }) => patch)].filter(
      (patch) => patch != null,
    );
    try {
      await this.#writer.append(entries, {
        ...(patches.length > 0 && { patch: Object.assign({}, ...patches) as ThreadPatch }),
        queued: steps.flatMap(({ queued }) => queued ?? []),
        ...unfinishedIn(steps),
        durable: steps.some(({ durable }) => durable),
      });
    } catch (error) {
      return { error };
    }
    this.#owed.stored();
    return null;
  }

  /** Returns false, and fails the step, if its sequence has failed. */
  #mayBegin(waiting: WaitingStep): boolean {
    const failure = waiting.sequence?.failure ?? null;
    if (failure !== null) this.#fail(waiting, failure.error);
    return failure === null;
  }

  #finish(waiting: WaitingStep): void {
    const { step, deltas, done } = waiting;
    this.finishedSteps++;
    this.#waiting.ended(waiting);
    for (const announcement of [...(step.announce ?? []), ...deltas]) this.#announce(announcement);
    done();
  }

  #fail(waiting: WaitingStep, error: unknown): void {
    this.#waiting.ended(waiting);
    waiting.sequence?.fail(error);
    waiting.failed(error);
  }
}
