import type { Announcement } from '../protocol/announcement.ts';
import { StoreError } from '../store/store-error.ts';
import type { LogEntry, StoredItem, ThreadPatch, ThreadWriter } from '../store/thread-store.ts';

/** One step of a thread: what is stored, and what is announced once it is. */
export interface Step {
  entries?: LogEntry[];
  patch?: ThreadPatch;
  /** Whether the step must survive the death of the machine, and not of the process alone. */
  durable?: boolean;
  /** An item that has begun, as far as it has come. */
  partial?: StoredItem;
  /** Items that had begun and were given up: the model is asked again. */
  dropped?: readonly StoredItem[];
  announce?: Announcement[];
}

/** One step that does what several do. Later patches win; entries and announcements keep their order. */
export function mergedSteps(steps: readonly Step[]): Step & Required<Pick<Step, 'announce'>> {
  const patches = steps.flatMap(({ patch }) => (patch === undefined ? [] : [patch]));
  const entries = steps.flatMap((step) => step.entries ?? []);
  return {
    ...(patches.length === 0 ? {} : { patch: Object.assign({}, ...patches) as ThreadPatch }),
    ...(entries.length === 0 ? {} : { entries }),
    announce: steps.flatMap(({ announce = [] }) => announce),
  };
}

/**
 * The one way out of a thread: stored, then announced, one step after another. So what a client has seen completed is
 * on disk, and nobody else needs to think about order.
 */
export class Outbox {
  readonly #writer: ThreadWriter;
  readonly #announce: (announcement: Announcement) => void;
  readonly #onAppended: (entries: readonly LogEntry[]) => void;
  #tail: Promise<void> = Promise.resolve();
  #owed: LogEntry[] = [];
  #owedPatch: ThreadPatch | null = null;

  constructor(options: {
    writer: ThreadWriter;
    announce: (announcement: Announcement) => void;
    onAppended: (entries: readonly LogEntry[]) => void;
  }) {
    this.#writer = options.writer;
    this.#announce = options.announce;
    this.#onAppended = options.onAppended;
  }

  /** Rejects with the store's error, and then nothing of the step was stored or announced. */
  commit(step: Step): Promise<void> {
    const done = this.#tail.then(() => this.#perform(step));
    this.#tail = done.catch(() => {});
    return done;
  }

  /**
   * Announces a step that could not be stored: the end of a turn that failed because the disk is full must still be told.
   * Its entries and its patch are owed, and written with the next step that succeeds.
   */
  announceUnstored(step: Step): Promise<void> {
    return this.between(() => this.#owe(step));
  }

  /** Takes a step that is told whatever the store says, for what cannot be tried again: where it is not stored, it is owed. */
  commitOrOwe(step: Step): Promise<void> {
    const done = this.#tail
      .then(() => this.#perform(step))
      .catch((error: unknown) => {
        if (!(error instanceof StoreError)) throw error;
        this.#owe(step);
      });
    this.#tail = done.catch(() => {});
    return done;
  }

  /** Announces something that needs no storing, behind all steps so far. Nothing can keep it from being told. */
  announce(announcements: readonly Announcement[]): Promise<void> {
    return this.between(() => {
      for (const announcement of announcements) this.#announce(announcement);
    });
  }

  /** Runs something between two steps: none is under way meanwhile. It must not throw. */
  between<T>(work: () => T): Promise<T> {
    const done = this.#tail.then(work);
    this.#tail = done.then(() => {});
    return done;
  }

  /** What was announced and is not on disk. */
  get owed(): readonly LogEntry[] {
    return this.#owed;
  }

  /** Resolves when all steps so far have been taken, and what is owed has been tried once more. */
  async settle(): Promise<void> {
    await this.#tail;
    if (this.#owed.length === 0 && this.#owedPatch === null) return;
    // Where the store still fails, the turn that is owed its end will read as interrupted.
    await this.commit({}).catch(() => {});
  }

  #owe({ entries = [], patch, announce = [] }: Step): void {
    this.#owed.push(...entries);
    if (patch !== undefined) this.#owedPatch = { ...this.#owedPatch, ...patch };
    for (const announcement of announce) this.#announce(announcement);
  }

  async #perform({ entries = [], patch, durable = false, partial, dropped = [], announce = [] }: Step): Promise<void> {
    const all = this.#owed.length === 0 ? entries : [...this.#owed, ...entries];
    const wholePatch = this.#owedPatch === null ? patch : { ...this.#owedPatch, ...patch };
    if (all.length > 0 || wholePatch !== undefined) {
      await this.#writer.append(all, { durable, ...(wholePatch === undefined ? {} : { patch: wholePatch }) });
      this.#owed = [];
      this.#owedPatch = null;
      this.#onAppended(all);
    }
    if (partial !== undefined) await this.#writer.savePartial(partial);
    if (dropped.length > 0) await this.#writer.dropPartials(dropped.map(({ item }) => item.id));
    for (const announcement of announce) this.#announce(announcement);
  }
}
