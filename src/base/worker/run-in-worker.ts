import type { Clock } from '../clock.ts';
import { startWorker, type WorkerOptions } from './start-worker.ts';

interface WorkerRun<Result> extends Pick<WorkerOptions<Result>, 'script' | 'heapMbMax' | 'data'> {
  /** The worker is terminated after so many milliseconds. */
  msMax: number;
  clock: Pick<Clock, 'setTimer'>;
}

/**
 * Runs one piece of work that cannot be interrupted, in a worker of its own, which keeps the
 * process alive until it ends. Resolves with its first message. After `msMax` the worker is
 * terminated; resolves with `late` when it has ended.
 * Rejects if the worker ends without a message, or cannot be started.
 */
export function runInWorker<Result, Late>(
  { msMax, clock, ...options }: WorkerRun<Result>,
  late: Late,
): Promise<Result | Late> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const worker = startWorker<Result>({
      ...options,
      onMessage: resolve,
      onEnd: (cause) => {
        timer.clear();
        if (isLate) resolve(late);
        else reject(cause);
      },
    });
    worker.ref();
    const timer = clock.setTimer(() => {
      isLate = true;
      void worker.terminate();
    }, msMax);
  });
}
