import { EventLoopYield } from '../base/event-loop-yield.ts';
import { jsonWeight } from '../base/json-pieces.ts';
import type { Announcement } from '../protocol/announcement.ts';
import { StoreError } from '../store/store-error.ts';
import type { LogEntry, StoredItem, ThreadPatch, ThreadWriter } from '../store/thread-store.ts';

/** To store an entry that is longer, in characters, takes some milliseconds. Other work runs before and after it. */
const SHORT_CHARS_MAX = 256 * 1024;
/** After so many steps in a row other work runs: a model may make many calls at once, none of which waits for anything. */
const STEPS_AT_ONCE = 50;

/** One step of a thread: what is stored, and what is announced after that. */
export interface Step {
  entries?: LogEntry[];
  patch?: ThreadPatch;
  /** Whether the step must survive a crash of the machine, not only of the process. */
  durable?: boolean;
  /** An item that has begun and not completed, with its content so far. */
  partial?: StoredItem;
  /** Items that had begun and are discarded, because the model is asked again. */
  dropped?: readonly StoredItem[];
  announce?: Announcement[];
}

/** The part of a step that several parts can contribute to: the entries to store, and the announcements that follow. */
export type StepAddition = Pick<Step, 'entries' | 'patch' | 'announce'>;

/** Merges steps into one. Later patches win; entries and announcements keep their order. */
export function mergedSteps(steps: readonly StepAddition[]): StepAddition & Required<Pick<Step, 'announce'>> {
  const merged: StepAddition & Required<Pick<Step, 'announce'>> = { announce: [] };
  for (const { patch, entries, announce } of steps) {
    if (patch !== undefined) merged.patch = { ...merged.patch, ...patch };
    if (entries !== undefined) merged.entries = [...(merged.entries ?? []), ...entries];
    if (announce !== undefined) merged.announce.push(...announce);
  }
  return merged;
}

/**
 * The only way to store and announce something about a thread. Takes one step after another, and stores each before it announces
 * it, so an item that a client has seen completed is on disk.
 */
export class Outbox {
  readonly #writer: ThreadWriter;
  readonly #announce: (announcement: Announcement) => void;
  readonly #onAppended: (entries: readonly LogEntry[]) => void;
  #tail: Promise<void> = Promise.resolve();
  /** The unfinished items that wait to be saved, by their ids. */
  readonly #partials = new Map<string, StoredItem>();
  #owed: LogEntry[] = [];
  #owedPatch: ThreadPatch | null = null;
  readonly #breaks = new EventLoopYield();
  #steps = 0;
  /** Announced when what is owed is stored. */
  #owedAnnouncements: Announcement[] = [];

  constructor(options: {
    writer: ThreadWriter;
    announce: (announcement: Announcement) => void;
    onAppended: (entries: readonly LogEntry[]) => void;
  }) {
    this.#writer = options.writer;
    this.#announce = options.announce;
    this.#onAppended = options.onAppended;
  }

  /** Stores and announces a step. If it rejects with the store's error, nothing of the step was announced. */
  commit(step: Step): Promise<void> {
    const done = this.#tail.then(() => this.#perform(step));
    this.#tail = done.catch(() => {});
    return done;
  }

  /**
   * Saves an unfinished item. An item is saved once, with its last content, however often that is asked while the store is slow.
   * Never rejects: the whole item is stored when it completes, and a failure of that is reported.
   */
  async savePartial(partial: StoredItem): Promise<void> {
    const isWaiting = this.#partials.has(partial.item.id);
    this.#partials.set(partial.item.id, partial);
    if (isWaiting) return;
    await this.between(() => {
      const last = this.#partials.get(partial.item.id) ?? partial;
      this.#partials.delete(partial.item.id);
      return this.#writer.savePartial(last).catch(() => {});
    });
  }

  /**
   * Stores and announces a step. If that fails, announces it all the same: clients must learn that a turn has failed even if the
   * disk is full. Its entries and its patch are then owed: they are stored with the next step that succeeds. Never rejects.
   */
  commitOrAnnounce(step: Step): Promise<void> {
    return this.#commitOrElse(step, () => {
      this.#owe(step);
      for (const announcement of step.announce ?? []) this.#announce(announcement);
    });
  }

  /**
   * Stores and announces a step that cannot be retried. If the store fails, the step is owed: it is stored and announced with the
   * next step that succeeds. Rejects with other errors only.
   */
  commitOrOwe(step: Step): Promise<void> {
    return this.#commitOrElse(step, (error) => {
      if (!(error instanceof StoreError)) throw error;
      this.#owe(step);
      this.#owedAnnouncements.push(...(step.announce ?? []));
    });
  }

  /** Announces something that is not stored, after all steps so far. */
  announce(announcements: readonly Announcement[]): Promise<void> {
    return this.between(() => {
      for (const announcement of announcements) this.#announce(announcement);
    });
  }

  /** Runs `work` between two steps, so that no step is in progress. It must not throw. */
  between<T>(work: () => T | Promise<T>): Promise<T> {
    const done = this.#tail.then(work);
    this.#tail = done.then(() => {});
    return done;
  }

  /** The entries that could not be stored yet. */
  get owed(): readonly LogEntry[] {
    return this.#owed;
  }

  /** Resolves when all steps so far are done and one more attempt was made to store what is owed. */
  async settle(): Promise<void> {
    await this.#tail;
    if (this.#owed.length === 0 && this.#owedPatch === null) return;
    // If the store still fails, the end of a turn may never be stored. It then reads as interrupted.
    await this.commit({}).catch(() => {});
  }

  /** Performs a step, or else something that leaves nothing to do for the caller. */
  #commitOrElse(step: Step, otherwise: (error: unknown) => void): Promise<void> {
    const done = this.#tail.then(() => this.#perform(step)).catch(otherwise);
    this.#tail = done.catch(() => {});
    return done;
  }

  #owe({ entries = [], patch }: Step): void {
    this.#owed.push(...entries);
    if (patch !== undefined) this.#owedPatch = { ...this.#owedPatch, ...patch };
  }

  async #perform({ entries = [], patch, durable = false, partial, dropped = [], announce = [] }: Step): Promise<void> {
    const all = this.#owed.length === 0 ? entries : [...this.#owed, ...entries];
    const wholePatch = this.#owedPatch === null ? patch : { ...this.#owedPatch, ...patch };
    const isLong = jsonWeight(all, SHORT_CHARS_MAX) > SHORT_CHARS_MAX;
    if (isLong || ++this.#steps % STEPS_AT_ONCE === 0) await this.#breaks.worked(Number.POSITIVE_INFINITY);
    if (all.length > 0 || wholePatch !== undefined) {
      await this.#writer.append(all, { durable, ...(wholePatch === undefined ? {} : { patch: wholePatch }) });
      this.#owed = [];
      this.#owedPatch = null;
      this.#onAppended(all);
      for (const announcement of this.#owedAnnouncements.splice(0)) this.#announce(announcement);
    }
    if (isLong) await this.#breaks.worked(Number.POSITIVE_INFINITY);
    if (partial !== undefined) await this.#writer.savePartial(partial);
    if (dropped.length > 0) await this.#writer.dropPartials(dropped.map(({ item }) => item.id));
    for (const announcement of announce) this.#announce(announcement);
  }
}
