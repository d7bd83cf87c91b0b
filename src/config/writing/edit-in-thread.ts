import { type Clock, systemClock } from '../../base/clock.ts';
import { startWorker } from '../../base/processes/start-worker.ts';
import type { EditedToml, EditToml } from './toml-edit.ts';

/** Much more than the largest file needs. */
const HEAP_MB_MAX = 256;
/** How long the edits of one write may take. */
const EDIT_MS_MAX = 30_000;

/**
 * Returns an editor whose edits run in a thread, which ends with the edit. `script`: the absolute
 * path of the thread's script.
 */
export function editInThread(
  script: string,
  clock: Pick<Clock, 'setTimer'> = systemClock,
): EditToml {
  return (text, edits) =>
    new Promise((resolve, reject) => {
      const worker = startWorker<EditedToml>({
        script,
        heapMbMax: HEAP_MB_MAX,
        data: { text, edits },
        onMessage: resolve,
        onEnd: (cause) => {
          timer.clear();
          reject(
            new Error(
              `the thread that edits config.toml ended without a result: ${cause.message}`,
              { cause },
            ),
          );
        },
      });
      worker.ref();
      const timer = clock.setTimer(() => {
        resolve({ problem: TOO_SLOW });
        void worker.terminate();
      }, EDIT_MS_MAX);
    });
}

const LIMIT = `${EDIT_MS_MAX / 1_000} s`;
const TOO_SLOW = `The edits take longer than ${LIMIT}. config.toml was not changed: make fewer edits in a write, or change it by hand.`;
