import { randomUUID } from 'node:crypto';
import { jsonWeight } from '../../../base/text/json-pieces.ts';
import type { LogEntry } from '../../log-entry.ts';
import { isPiecesLost, piecesLost } from '../../store-error.ts';
import type { ThreadRecord } from '../../thread-record.ts';
import type { LongTexts } from '../history/long-texts.ts';
import { LongTextSender } from './long-text-sender.ts';
import type { RemoteStore } from './remote-store.ts';

/** How much of a history is stored in one call, so that it takes some milliseconds. */
const SLICE_CHARS_MAX = 256 * 1024;
const SLICE_ENTRIES_MAX = 250;
/** How often a history is stored from its beginning if what was stored of it is lost. */
const TRIES_MAX = 5;

/** Whether a history is stored in one call. */
export function isShort(entries: readonly LogEntry[]): boolean {
  return (
    entries.length <= SLICE_ENTRIES_MAX && jsonWeight(entries, SLICE_CHARS_MAX) <= SLICE_CHARS_MAX
  );
}

interface StagingOptions {
  texts: LongTexts;
  /** Called when so many of the entries are stored. */
  onStored: (count: number) => void;
}

/**
 * Stores a thread with a long history in parts, between which the calls of others run. Nobody sees
 * any of it before the last call, which stores the thread. What is left of an attempt that fails is
 * removed: by the store, or when another process finds that this one has died. Resolves as the call
 * `createThread` does.
 */
export async function createFromStaged(
  store: RemoteStore,
  { record, entries }: { record: ThreadRecord; entries: readonly LogEntry[] },
  options: StagingOptions,
): Promise<unknown> {
  for (let tries = 1; ; tries++) {
    try {
      return await new StagedThread(store, options).create(record, entries);
    } catch (error) {
      if (!isPiecesLost(error) || tries === TRIES_MAX) throw error;
    }
  }
}

class StagedThread {
  readonly #store: RemoteStore;
  readonly #id = randomUUID();
  readonly #onStored: (count: number) => void;
  readonly #sender: LongTextSender;

  constructor(store: RemoteStore, { texts, onStored }: StagingOptions) {
    this.#store = store;
    this.#onStored = onStored;
    this.#sender = new LongTextSender(
      texts,
      async (piece) => (await this.#stage('stagePiece', [this.#id, piece])) as string,
    );
  }

  async create(record: ThreadRecord, entries: readonly LogEntry[]): Promise<unknown> {
    try {
      await this.#store.call({ method: 'beginStaging', args: [this.#id] });
      for (let tip = 0; tip < entries.length; ) {
        const slice = await this.#slice(entries, tip);
        await this.#stage('stageEntries', [{ id: this.#id, tip }, slice]);
        tip += slice.length;
        this.#onStored(tip);
      }
      return await this.#stage('createFromStaged', [record, { id: this.#id, tip: entries.length }]);
    } catch (error) {
      // If this fails too, what was staged is removed when this process has ended.
      await this.#store.call({ method: 'dropStaged', args: [this.#id] }).catch(() => {});
      throw error;
    }
  }

  /** Makes a call that answers null or false if what was staged is lost. */
  async #stage(
    method: 'stagePiece' | 'stageEntries' | 'createFromStaged',
    args: readonly unknown[],
  ): Promise<unknown> {
    const value = await this.#store.call({ method, args });
    if (value === null || value === false) throw piecesLost();
    return value;
  }

  /** The entries of a call, with stand-ins for their long texts. */
  async #slice(entries: readonly LogEntry[], from: number): Promise<LogEntry[]> {
    const slice: LogEntry[] = [];
    let chars = 0;
    for (let index = from; index < entries.length && slice.length < SLICE_ENTRIES_MAX; index++) {
      const entry = await this.#sender.send(entries[index] as LogEntry);
      chars += jsonWeight(entry);
      if (slice.length > 0 && chars > SLICE_CHARS_MAX) break;
      slice.push(entry);
    }
    return slice;
  }
}
