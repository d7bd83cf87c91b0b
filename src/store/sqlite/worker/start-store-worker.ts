import type { Worker } from 'node:worker_threads';
import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import { startWorker } from '../../../base/worker/start-worker.ts';
import type { ServedStoreOptions, StoreWorkerData } from './serve-store.ts';
import type { StoreReply } from './store-call.ts';

/** A store that needs more memory than this ends, and not the process. */
const HEAP_MB_MAX = 256;

export interface StoreThreadOptions extends ServedStoreOptions {
  /** Called with a text for the user when a damaged database has been repaired. */
  onRepaired?: (message: string) => void;
  /** Called with a text for the user when the store does not answer, and when it answers again. */
  onSilent?: (message: string) => void;
  /** The built script of the thread. */
  script: string;
  clock: Clock;
  log: Log;
  /** Tests set it, so that little data fills the heap. */
  heapMbMax?: number;
  /** Measures the waiting for the thread. Tests set it: it takes long. */
  waitClock?: Clock;
}

/** The data that a started thread gets, and the listeners that it has. */
interface StoreWorkerLink extends Pick<StoreWorkerData, 'longTextKey'> {
  onReply(reply: StoreReply): void;
  /** See `startWorker`. */
  onEnd(reason: Error): void;
}

/** Starts a thread that serves a store. Throws as `startWorker` does. */
export function startStoreWorker(
  options: StoreThreadOptions,
  { longTextKey, onReply, onEnd }: StoreWorkerLink,
): Worker {
  const { script, file, migrationsDir, tempDir, pid, nodeVersions } = options;
  return startWorker<StoreReply>({
    script,
    heapMbMax: options.heapMbMax ?? HEAP_MB_MAX,
    data: {
      file,
      migrationsDir,
      tempDir,
      pid,
      ...(nodeVersions && { nodeVersions: { ...nodeVersions } }),
      longTextKey,
    } satisfies StoreWorkerData,
    onMessage: onReply,
    onEnd,
  });
}
