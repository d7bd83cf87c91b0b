import type { Log } from '../../base/log.ts';
import { asStoreError } from './connect/as-store-error.ts';
import type { JoinedWrite } from './store-queue.ts';

interface DurableDeps {
  file: string;
  log: Log;
  /** Resolves when all commits so far are on the disk. */
  flush: () => Promise<void>;
  /** Commits `undo`. */
  commit: () => Promise<void>;
}

/**
 * Resolves when a write that is committed survives a power failure. If that fails, and the write
 * could be undone, rejects.
 */
export async function makeDurable(
  { key }: JoinedWrite,
  { file, log, flush, commit }: DurableDeps,
): Promise<void> {
  try {
    await flush();
  } catch (cause) {
    try {
      await commit();
    } catch (error) {
      // Everyone reads these entries, so they count as stored.
      const text =
        'a write could neither be flushed nor undone: it may not survive a power failure';
      log.error({ threadId: key, err: error, cause }, text);
      return;
    }
    throw asStoreError(cause, file);
  }
}
