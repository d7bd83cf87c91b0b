import type { Clock } from '../clock.ts';
import { PeerEnded } from './peer.ts';
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
 * Runs work that cannot be interrupted in a worker of its own, which ends with it. Resolves with
 * `late` when the worker has ended. Rejects if it ends before, or cannot be started.
 */
export async function runInWorker<Api, Value, Late>(
  options: RemoteWorkerOptions<object>,
  work: (remote: Remote<Api>) => Promise<Value>,
  { msMax, late, clock }: Deadline<Late>,
): Promise<Value | Late> {
  const worker = new RemoteWorker<Api>(options);
  const stopped = new AbortController();
  const timer = clock.setTimer(() => {
    stopped.abort();
    void worker.close();
  }, msMax);
  try {
    return await work(worker.remote);
  } catch (cause) {
    if (stopped.signal.aborted) {
      await worker.close();
      return late;
    }
    if (cause instanceof PeerEnded || !(cause instanceof Error)) throw cause;
    throw new Error(`${options.called} gave no result: ${cause.message}`, { cause });
  } finally {
    timer.clear();
    void worker.close();
  }
}
