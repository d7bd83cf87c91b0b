import type { Clock } from '../clock.ts';
import { startWorker, type WorkerOptions } from './start-worker.ts';

interface WorkerRun<Result> extends Pick<WorkerOptions<Result>, 'script' | 'heapMbMax' | 'data'> {
  /** The worker is terminated after so many milliseconds. */
  msMax: number;
  clock: Pick<Clock, 'setTimer'>;
}

/**
 * Runs one piece of work that cannot be interrupted, in a worker of its own, which keeps the
 * process alive until it ends. Resolves with its first message, or with `late` after `msMax`.
 * Rejects if the worker ends without a message, or cannot be started.
 */
export function runInWorker<Result, Late>(
  { msMax, clock, ...options }: WorkerRun<Result>,
  late: Late,
): Promise<Result | Late> {
  return new Promise((resolve, reject) => {
    const worker = startWorker<Result>({
      ...options,
      onMessage: resolve,
      onEnd: (cause) => {
        timer.clear();
        reject(cause);
      },
    });
    worker.ref();
    const timer = clock.setTimer(() => {
      resolve(late);
      void worker.terminate();
    }, msMax);
  });
}
