import type { JsonValue } from '../base/json-value.ts';
import { cutText } from '../base/text/cut-text.ts';

/** The reason why a store refused a call. */
export type StoreErrorCode =
  | 'thread_not_found'
  | 'thread_archived'
  | 'thread_not_archived'
  | 'turn_not_found'
  | 'item_not_found'
  | 'active_writer'
  | 'invalid_cursor'
  | 'store_full'
  | 'store_read_only'
  | 'store_damaged'
  | 'store_newer'
  | 'store_failed';

export class StoreError extends Error {
  override readonly name = 'StoreError';
  constructor(
    readonly code: StoreErrorCode,
    message: string,
    readonly details: Record<string, JsonValue> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** An error message quotes this much of a wrong cursor. Correct cursors are shorter. */
const CURSOR_CHARS_MAX = 200;

export function noStoredThread(threadId: string): StoreError {
  return new StoreError('thread_not_found', `thread not found: ${threadId}`, { threadId });
}

export function storedThreadArchived(threadId: string): StoreError {
  return new StoreError('thread_archived', `thread ${threadId} is archived: unarchive it first`, {
    threadId,
  });
}

export function threadNotArchived(threadId: string): StoreError {
  return new StoreError('thread_not_archived', `thread ${threadId} is not archived`, { threadId });
}

export function turnNotFound(threadId: string, turnId: string): StoreError {
  return new StoreError('turn_not_found', `turn not found: ${turnId}`, { threadId, turnId });
}

export function itemNotFound(threadId: string, itemId: string): StoreError {
  return new StoreError('item_not_found', `item not found: ${itemId}`, { threadId, itemId });
}

export function activeWriter(threadId: string, pid: number): StoreError {
  return new StoreError(
    'active_writer',
    `thread ${threadId} already has an active writer (pid ${pid})`,
    { pid },
  );
}

export function storeClosed(file: string): StoreError {
  return new StoreError('store_failed', `${file} cannot be used (the store is closed)`);
}

export function writerClosed(threadId: string): StoreError {
  return new StoreError('store_failed', `the writer of thread ${threadId} is closed`, { threadId });
}

/**
 * The error of a writer that cannot go on, because its store has died, and the thread may have
 * changed since.
 */
export function writerLost(threadId: string): StoreError {
  const advice = 'restart heddle, and resume the thread';
  return new StoreError(
    'store_failed',
    `thread ${threadId} cannot be written any more, because its store has died: ${advice}`,
    {
      threadId,
    },
  );
}

/**
 * The error of a call that needs something that was stored before it and is gone. It can be made
 * again, from the beginning.
 */
export function piecesLost(): StoreError {
  return new StoreError(
    'store_failed',
    'a part of the change was stored before and is gone: try again',
    { again: true },
  );
}

export function isPiecesLost(error: unknown): boolean {
  return error instanceof StoreError && error.details.again === true;
}

export function invalidStoreCursor(cursor: string): StoreError {
  return new StoreError('invalid_cursor', `invalid cursor: ${cutText(cursor, CURSOR_CHARS_MAX)}`);
}
