import type { JsonValue } from '../../../base/json-value.ts';
import { SLICE_BYTES_MAX } from '../../page-query.ts';
import type { StoreErrorCode } from '../../store-error.ts';
import { StoreError } from '../../store-error.ts';
import type { ThreadStore } from '../../thread-store.ts';
import { PIECE_CHARS } from '../history/long-texts.ts';

/**
 * The methods of a store: those that change something, those that return the writer of a thread,
 * which stays in the store's thread, and reads. A `part` of a history or a list is larger than a
 * `record`.
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

export type StoreMethod = keyof ThreadStore;
export type WriterMethod = 'append' | 'keep' | 'withdraw' | 'close';
/** The methods that only the thread of a store has. */
export type InternalMethod =
  | 'warmUp'
  | 'ping'
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
  /** Unique, also among the calls of earlier threads. */
  id: number;
  /** Null: a call of the store. */
  writer: WriterHandle | null;
  method: StoreMethod | WriterMethod | InternalMethod;
  args: readonly unknown[];
  nowMs: number;
  /** Whether an earlier thread died with the call, and may have made it. */
  again: boolean;
}

/**
 * The outcome of a call. `value` is what it resolved with; for a writer OpenedWriter, and for a
 * call of a writer its last write. `hasLongTexts`: it may have stand-ins for long texts.
 */
export type StoreAnswer =
  | { id: number; value: unknown; hasLongTexts?: true }
  | { id: number; error: ErrorData };

/**
 * A message of the store's thread: it has started, outcomes of calls, a text for the user about a
 * repair, or a line for the log.
 */
export type StoreReply =
  | { ready: true }
  | { answers: StoreAnswer[] }
  | { repaired: string }
  | { level: 'debug' | 'info' | 'warn' | 'error'; fields: object; text: string };

export interface WriterHandle {
  /** The id of the call that opened the writer. */
  handle: number;
  threadId: string;
}

export interface OpenedWriter extends WriterHandle {
  /** The identity of the last write. Null: none since the thread was stored. */
  lastWrite: string | null;
}

/** An error as data. Structured clones of errors lose their class and their code. */
export interface ErrorData {
  message: string;
  stack: string | null;
  /** The code of a system error or of SQLite. */
  code: string | null;
  /** Set for a StoreError. */
  store: { code: StoreErrorCode; details: Record<string, JsonValue> } | null;
  cause: ErrorData | null;
}

export function errorData(error: unknown): ErrorData {
  if (!(error instanceof Error))
    return { message: String(error), stack: null, code: null, store: null, cause: null };
  const { message, stack = null, cause } = error;
  const store = error instanceof StoreError ? { code: error.code, details: error.details } : null;
  const code =
    store === null && 'code' in error && typeof error.code === 'string' ? error.code : null;
  return { message, stack, code, store, cause: cause === undefined ? null : errorData(cause) };
}

/** The error again, with the stack that it had where it was thrown. */
export function errorOf({ message, stack, code, store, cause }: ErrorData): Error {
  const options = cause === null ? {} : { cause: errorOf(cause) };
  const error =
    store === null
      ? new Error(message, options)
      : new StoreError(store.code, message, store.details, options);
  return Object.assign(error, { stack: stack ?? message, ...(code !== null && { code }) });
}
