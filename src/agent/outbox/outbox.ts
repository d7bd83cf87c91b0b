import { setImmediate as nextRound } from 'node:timers/promises';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { jsonWeight } from '../../base/json-pieces.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { LogEntry, StoredItem } from '../../store/log-entry.ts';
import { StoreError } from '../../store/store-error.ts';
import type { ThreadPatch } from '../../store/thread-record.ts';
import type { ThreadWriter } from '../../store/thread-store.ts';
import { type Step, type StepSequence, stores } from './step.ts';
import { UnfinishedItems } from './unfinished-items.ts';

/**
 * To store entries that are longer, in characters, takes some milliseconds. Other work runs before
 * and after it.
 */
const SHORT_CHARS_MAX = 256 * 1024;
/** The most steps in one write of the store. */
const STEPS_TOGETHER_MAX = 64;
/**
 * The most steps and deltas that should wait. Long entries count as the most: what they replace
 * stays in memory until they are stored.
 */
const WAITING_MAX = 64;
/** A long delta counts once more for each part of this many characters. */
const DELTA_PART_CHARS = 4096;

/** A step that waits to be stored and announced. */
interface WaitingStep {
  step: Step;
  sequence: StepSequence | null;
  /** Announced after the step's own announcements. */
  deltas: Announcement[];
  /** The weight of its deltas and long entries. */
  weight: number;
  /** Whether it is stored by itself, because a write together with others has failed. */
  isAlone: boolean;
  done(): void;
  failed(error: unknown): void;
}

type Waiting = WaitingStep | { work(): Promise<void> };

/** The part of an outbox that shows what clients have seen and the store does not have. */
export type Unstored = Pick<Outbox, 'owed' | 'unfinished' | 'finishedSteps' | 'between'>;

/**
 * The only way to store and announce something about a thread. Takes one step after another, and
 * stores each before it announces it, so an item that a client has seen completed is on disk. Steps
 * that are made in the same moment, or while the store is busy, are one write of the store.
 */
export class Outbox {
  readonly unfinished = new UnfinishedItems((itemId) => this.#waitingDeltas(itemId));
  /** Grows with each step that is stored and announced. */
  finishedSteps = 0;
  readonly #writer: ThreadWriter;
  readonly #announce: (announcement: Announcement) => void;
  readonly #onAppended: (entries: readonly LogEntry[]) => void;
  readonly #waiting: Waiting[] = [];
  /** The steps that are being stored. */
  #storing: readonly WaitingStep[] = [];
  /** The weight of the deltas and long entries of all steps. */
  #weight = 0;
  #isRunning = false;
  /** The waiting saves of unfinished items, by the ids of the items. */
  readonly #saves = new Map<string, Step>();
  #owed: LogEntry[] = [];
  #owedPatch: ThreadPatch | null = null;
  /** Announced when what is owed is stored. */
  #owedAnnouncements: Announcement[] = [];
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
    return this.#commitOrElse(step, () => {
      this.#owe(step);
      for (const announcement of step.announce ?? []) this.#announce(announcement);
    });
  }

  /**
   * Stores and announces a step that cannot be retried. If the store fails, the step is owed: it is
   * stored and announced with the next step that succeeds. Rejects with other errors only.
   */
  commitOrOwe(step: Step): Promise<void> {
    return this.#commitOrElse(step, (error) => {
      if (!(error instanceof StoreError)) throw error;
      this.#owe(step);
      this.#owedAnnouncements.push(...(step.announce ?? []));
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
        void this.#store([
          {
            step,
            sequence: null,
            deltas: [],
            weight: 0,
            isAlone: true,
            done: resolve,
            failed: reject,
          },
        ]);
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
    const isBefore = (waiting: Waiting) => announces(waiting, sequence);
    const before = this.#waiting.findLast(isBefore) ?? this.#storing.findLast(isBefore);
    if (before === undefined) {
      this.#announce(announcement);
      return;
    }
    const weight = 1 + Math.floor(jsonWeight(announcement, SHORT_CHARS_MAX) / DELTA_PART_CHARS);
    before.deltas.push(announcement);
    before.weight += weight;
    this.#weight += weight;
  }

  /**
   * Returns a promise that resolves when all steps so far are done, if many steps, long deltas or
   * long entries wait; else null.
   */
  caughtUp(): Promise<void> | null {
    return this.#waiting.length + this.#weight < WAITING_MAX ? null : this.between(() => {});
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
      this.#enqueue({ work: () => Promise.resolve().then(work).then(resolve, reject) });
    });
  }

  /** The entries that could not be stored yet. */
  get owed(): readonly LogEntry[] {
    return this.#owed;
  }

  /**
   * Resolves when all steps so far are done and one more attempt was made to store what is owed.
   */
  async settle(): Promise<void> {
    await this.between(() => {});
    if (!this.#owes()) return;
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

  #waitingDeltas(itemId: string): Announcement[] {
    const deltas = [...this.#storing, ...this.#waiting].flatMap((waiting) =>
      'step' in waiting ? waiting.deltas : [],
    );
    return deltas.filter(({ params }) => 'itemId' in params && params.itemId === itemId);
  }

  #owe({ entries = [], patch }: Step): void {
    this.#owed.push(...entries);
    if (patch !== undefined) this.#owedPatch = { ...this.#owedPatch, ...patch };
  }

  #owes(): boolean {
    return this.#owed.length > 0 || this.#owedPatch !== null;
  }

  #add(waiting: Omit<WaitingStep, 'deltas' | 'weight' | 'isAlone'>): void {
    // The item may continue. It is then saved again, behind this step.
    for (const { item } of waiting.step.dropped ?? []) this.#saves.delete(item.id);
    const weight = isLong(waiting.step.entries ?? []) ? WAITING_MAX : 0;
    this.#weight += weight;
    this.#enqueue({ ...waiting, deltas: [], weight, isAlone: false });
  }

  #enqueue(waiting: Waiting): void {
    this.#waiting.push(waiting);
    if (this.#isRunning) return;
    this.#isRunning = true;
    queueMicrotask(() => void this.#run());
  }

  async #run(): Promise<void> {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if ('work' in next) {
        this.#waiting.shift();
        await next.work();
      } else if (this.#owes() || stores(next.step)) {
        // The events of a model's response come in groups: their steps are one write.
        await nextRound();
        await this.#store(this.#takeSteps());
      } else {
        this.#waiting.shift();
        if (this.#mayBegin(next)) this.#finish(next);
      }
    }
    this.#isRunning = false;
  }

  /** Takes the steps for one write. A long one is taken by itself. */
  #takeSteps(): WaitingStep[] {
    const taken: WaitingStep[] = [];
    let chars = 0;
    for (const waiting of this.#waiting) {
      if ('work' in waiting) break;
      chars += jsonWeight(waiting.step.entries ?? [], SHORT_CHARS_MAX);
      const isAlone = waiting.isAlone || taken[0]?.isAlone === true;
      if (
        taken.length > 0 &&
        (isAlone || chars > SHORT_CHARS_MAX || taken.length === STEPS_TOGETHER_MAX)
      )
        break;
      taken.push(waiting);
    }
    this.#waiting.splice(0, taken.length);
    return taken;
  }

  async #store(taken: readonly WaitingStep[]): Promise<void> {
    const steps = taken.filter((waiting) => this.#mayBegin(waiting));
    for (const { step } of steps)
      if (step.partial !== undefined) this.#saves.delete(step.partial.item.id);
    const [only, second] = steps;
    if (only === undefined) return;
    const entries = [...this.#owed, ...steps.flatMap(({ step }) => step.entries ?? [])];
    const takesLong = isLong(entries);
    this.#storing = steps;
    if (takesLong) await this.#breaks.worked(Number.POSITIVE_INFINITY);
    const failure = await this.#write(entries, steps);
    if (takesLong) await this.#breaks.worked(Number.POSITIVE_INFINITY);
    this.#storing = [];
    if (failure === null) {
      this.#onAppended(entries);
      for (const announcement of this.#owedAnnouncements.splice(0)) this.#announce(announcement);
      for (const waiting of steps) this.#finish(waiting);
    } else if (second === undefined) this.#fail(only, failure.error);
    else {
      for (const waiting of steps) waiting.isAlone = true;
      this.#waiting.unshift(...steps);
    }
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
    const patches = [this.#owedPatch, ...steps.map(({ patch }) => patch)].filter(
      (patch) => patch != null,
    );
    try {
      await this.#writer.append(entries, {
        ...(patches.length > 0 && { patch: Object.assign({}, ...patches) as ThreadPatch }),
        ...unfinished(steps),
        durable: steps.some(({ durable }) => durable),
      });
    } catch (error) {
      return { error };
    }
    this.#owed = [];
    this.#owedPatch = null;
    return null;
  }

  /** Returns false, and fails the step, if its sequence has failed. */
  #mayBegin(waiting: WaitingStep): boolean {
    const failure = waiting.sequence?.failure ?? null;
    if (failure !== null) this.#fail(waiting, failure.error);
    return failure === null;
  }

  #finish({ step, deltas, weight, done }: WaitingStep): void {
    this.finishedSteps++;
    this.#weight -= weight;
    for (const announcement of [...(step.announce ?? []), ...deltas]) this.#announce(announcement);
    done();
  }

  #fail({ weight, sequence, failed }: WaitingStep, error: unknown): void {
    this.#weight -= weight;
    sequence?.fail(error);
    failed(error);
  }
}

function announces(waiting: Waiting, sequence: StepSequence): waiting is WaitingStep {
  return (
    'step' in waiting && waiting.sequence === sequence && (waiting.step.announce ?? []).length > 0
  );
}

function isLong(entries: readonly LogEntry[]): boolean {
  return jsonWeight(entries, SHORT_CHARS_MAX) > SHORT_CHARS_MAX;
}

/** The unfinished items to save and to discard once all steps are done. */
function unfinished(steps: readonly Step[]): { partials: StoredItem[]; dropped: string[] } {
  const partials = new Map<string, StoredItem>();
  const dropped = new Set<string>();
  for (const step of steps) {
    if (step.partial !== undefined) partials.set(step.partial.item.id, step.partial);
    for (const entry of step.entries ?? [])
      if (entry.kind === 'item' && !entry.running) partials.delete(entry.item.id);
    for (const { item } of step.dropped ?? []) {
      partials.delete(item.id);
      dropped.add(item.id);
    }
  }
  return {
    partials: [...partials.values()],
    dropped: [...dropped].filter((id) => !partials.has(id)),
  };
}
