import type { KnownErrors } from '../../../base/worker/error-data.ts';
import { SLICE_BYTES_MAX } from '../../page-query.ts';
import { StoreError } from '../../store-error.ts';
import type { ThreadStore } from '../../thread-store.ts';
import { PIECE_CHARS } from '../history/long-texts.ts';
import type { SqliteStoreOptions } from '../store-access.ts';

/**
 * The methods of a store: those that change something, those that return the writer of a thread,
 * which stays in the store's worker, and reads. A `part` of a list is larger than a `record`.
 */
export const STORE_METHODS: Record<keyof ThreadStore, 'change' | 'writer' | 'record' | 'part'> = {
  createThread: 'writer',
  forkThread: 'writer',
  openWriter: 'writer',
  getThread: 'record',
  getMetadata: 'record',
  findThreadByPath: 'record',
  updateThread: 'change',
  archiveThread: 'change',
  archiveThreads: 'change',
  unarchiveThread: 'change',
  revertThread: 'change',
  deleteThread: 'change',
  listThreads: 'part',
  listAgents: 'part',
  agentIds: 'part',
  tokensBelow: 'record',
  leftAgents: 'record',
  readQueued: 'part',
  listTurns: 'part',
  listItems: 'part',
  readItems: 'part',
  measureItems: 'record',
  readModelEntries: 'part',
  close: 'change',
};

/**
 * How many bytes an answer is expected to have at most. Long texts are read by themselves, in
 * pieces.
 */
export const READ_BYTES: { [kind in string]?: number } = {
  record: 64 * 1024,
  part: 2 * SLICE_BYTES_MAX,
  piece: 2 * PIECE_CHARS,
};

export type ServedStoreOptions = Pick<
  SqliteStoreOptions,
  'file' | 'migrationsDir' | 'tempDir' | 'pid' | 'nodeVersions'
>;

/** The data that the worker is started with. */
export type StoreWorkerData = ServedStoreOptions & {
  /** The key of stand-ins for long texts. */
  longTextKey: string;
};

/** Of the options of a store, those that are data. */
export function workerData(
  { file, migrationsDir, tempDir, pid, nodeVersions }: ServedStoreOptions,
  longTextKey: string,
): StoreWorkerData {
  return {
    file,
    migrationsDir,
    tempDir,
    pid,
    ...(nodeVersions && { nodeVersions: { ...nodeVersions } }),
    longTextKey,
  };
}

export type StoreMethod = keyof ThreadStore;
export type WriterMethod = 'append' | 'keep' | 'withdraw' | 'close';
/** The methods that only the worker of a store has. */
export type InternalMethod =
  | 'warmUp'
  | 'resumeWriter'
  | 'readAgents'
  | 'readPiece'
  | 'beginStaging'
  | 'stageEntries'
  | 'stagePiece'
  | 'createFromStaged'
  | 'dropStaged';

/**
 * A call of the store, or of a writer. `nowMs` is the time of the caller's clock, which is the time
 * of the store.
 */
export interface StoreCall {
  /** Unique, also among the calls of earlier workers. */
  id: number;
  /** Null: a call of the store. */
  writer: WriterHandle | null;
  method: StoreMethod | WriterMethod | InternalMethod;
  args: readonly unknown[];
  nowMs: number;
  /** Whether an earlier worker died with the call, and may have made it. */
  again: boolean;
}

/**
 * The outcome of a call. `value` is what it resolved with; for a writer OpenedWriter, and for a
 * call of a writer its last write. `hasLongTexts`: it may have stand-ins for long texts.
 */
export interface StoreAnswer {
  value: unknown;
  hasLongTexts: boolean;
}

/** The store in its worker. */
export interface ServedStore {
  perform(call: StoreCall): Promise<StoreAnswer>;
  /** Answers at once, whatever the calls wait for. */
  ping(): void;
}

/** What the main thread is told. */
export interface StoreUser {
  /** The worker has started, and may make calls. */
  ready(): void;
  /** A text for the user about a repair. */
  repaired(message: string): void;
}

export interface WriterHandle {
  /** The id of the call that opened the writer. */
  handle: number;
  threadId: string;
}

export interface OpenedWriter extends WriterHandle {
  /** The identity of the last write. Null: none since the thread was stored. */
  lastWrite: string | null;
}

export const STORE_ERRORS: KnownErrors = {
  toData: (error) =>
    error instanceof StoreError ? { code: error.code, details: error.details } : null,
  toError(data, message, options) {
    const { code, details } = data as Pick<StoreError, 'code' | 'details'>;
    return new StoreError(code, message, details, options);
  },
};
