import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import type { LogEntry } from '../../src/store/log-entry.ts';
import { createSqliteStore } from '../../src/store/sqlite/create-sqlite-store.ts';
import type { ThreadRecord } from '../../src/store/thread-record.ts';
import type { ThreadStore } from '../../src/store/thread-store.ts';

/**
 * Opens the store of a home, as a process beside a server does. Close it before the server needs
 * its threads.
 */
export function openStore(home: string): ThreadStore {
  const ignore = () => {};
  return createSqliteStore({
    file: join(home, 'heddle.db'),
    migrationsDir: join(import.meta.dirname, '../../migrations'),
    tempDir: home,
    clock: systemClock,
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    pid: process.pid,
  });
}

/** Stores a thread with these turns, one write each, as a server would. */
export async function fillThread(
  store: ThreadStore,
  record: ThreadRecord,
  [first = [], ...others]: readonly LogEntry[][],
): Promise<void> {
  const writer = await store.createThread(record, first);
  for (const turn of others) await writer.append(turn);
  await writer.close();
}
