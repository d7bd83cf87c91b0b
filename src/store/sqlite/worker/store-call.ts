import type { JsonValue } from '../../../base/json-value.ts';
import type { StoreErrorCode } from '../../store-error.ts';
import { StoreError } from '../../store-error.ts';
import type { ThreadStore, ThreadWriter } from '../../thread-store.ts';

/** The methods of a store, and what each returns: data, or the writer of a thread, which stays in the store's thread. */
export const STORE_METHODS: Record<keyof ThreadStore, 'data' | 'writer'> = {
  createThread: 'writer',
  forkThread: 'writer',
  openWriter: 'writer',
  getThread: 'data',
  getMetadata: 'data',
  findThreadByPath: 'data',
  updateThread: 'data',
  archiveThread: 'data',
  unarchiveThread: 'data',
  revertThread: 'data',
  deleteThread: 'data',
  listThreads: 'data',
  listAgents: 'data',
  listTurns: 'data',
  listItems: 'data',
  readItems: 'data',
  measureItems: 'data',
  readModelEntries: 'data',
  close: 'data',
};

export type StoreMethod = keyof ThreadStore;
export type WriterMethod = Exclude<keyof ThreadWriter, 'threadId'>;

/**
 * A call of the store, or of the writer with this handle; handle 0 is the store. `nowMs` is the time of the caller's clock, which is
 * the time of the store.
 */
export interface StoreCall {
  id: number;
  handle: number;
  method: StoreMethod | WriterMethod | 'warmUp' | 'resumeWriter';
  args: readonly unknown[];
  nowMs: number;
}

/** The outcome of a call. `value` is what it resolved with; for a writer its handle, and for a call of a writer its tip. */
export type StoreAnswer = { id: number; value: unknown } | { id: number; error: ErrorData };

/** A message of the store's thread: the outcomes of calls, a text for the user about a repair, or a line for the log. */
export type StoreReply =
  | { answers: StoreAnswer[] }
  | { repaired: string }
  | { level: 'debug' | 'info' | 'warn' | 'error'; fields: object; text: string };

export interface WriterHandle {
  handle: number;
  threadId: string;
  /** The ordinal of the last entry. */
  tip: number;
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
  if (!(error instanceof Error)) return { message: String(error), stack: null, code: null, store: null, cause: null };
  const { message, stack = null, cause } = error;
  const store = error instanceof StoreError ? { code: error.code, details: error.details } : null;
  const code = store === null && 'code' in error && typeof error.code === 'string' ? error.code : null;
  return { message, stack, code, store, cause: cause === undefined ? null : errorData(cause) };
}

/** The error again, with the stack that it had where it was thrown. */
export function errorOf({ message, stack, code, store, cause }: ErrorData): Error {
  const options = cause === null ? {} : { cause: errorOf(cause) };
  const error = store === null ? new Error(message, options) : new StoreError(store.code, message, store.details, options);
  return Object.assign(error, { stack: stack ?? message, ...(code !== null && { code }) });
}
