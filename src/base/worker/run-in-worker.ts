import type { Clock } from '../clock.ts';
import type { Remote } from './remote.ts';
import { RemoteWorker, type RemoteWorkerOptions } from './remote-worker.ts';

interface Deadline<Late> {
  /** The worker is terminated after so many milliseconds. */
  msMax: number;
  /** The outcome then. */
  late: Late;
  clock: Pick<Clock, 'setTimer'>;
}

/**
 * Runs work that cannot be interrupted in a worker of its own, which ends with it. Rejects if the
 * worker ends before, or cannot be started.
 */
export async function runInWorker<Api, Value, Late>(
  options: RemoteWorkerOptions<object>,
  work: (remote: Remote<Api>) => Promise<Value>,
  { msMax, late, clock }: Deadline<Late>,
): Promise<Value | Late> {
  const worker = new RemoteWorker<Api>(options);
  let stop = (_outcome: Late): void => {};
  const stopped = new Promise<Late>((resolve) => {
    stop = resolve;
  });
  const timer = clock.setTimer(() => stop(late), msMax);
  try {
    return await Promise.race([work(worker.remote), stopped]);
  } finally {
    timer.clear();
    await worker.close();
  }
}
