import { type Clock, systemClock } from '../../base/clock.ts';
import { runInWorker } from '../../base/worker/run-in-worker.ts';
import type { EditedToml, EditToml } from './toml-edit.ts';

/** Much more than the largest file needs. */
const HEAP_MB_MAX = 256;
/** How long the edits of one write may take. */
const EDIT_MS_MAX = 30_000;

/**
 * Returns an editor whose edits run in a worker, which ends with the edit. `script`: the absolute
 * path of the worker's script.
 */
export function editInThread(
  script: string,
  clock: Pick<Clock, 'setTimer'> = systemClock,
): EditToml {
  return async (text, edits) => {
    try {
      return await runInWorker<EditedToml, EditedToml>(
        { script, heapMbMax: HEAP_MB_MAX, data: { text, edits }, msMax: EDIT_MS_MAX, clock },
        { problem: TOO_SLOW },
      );
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`the worker that edits config.toml gave no result: ${reason}`, {
        cause,
      });
    }
  };
}

const LIMIT = `${EDIT_MS_MAX / 1_000} s`;
const TOO_SLOW = `The edits take longer than ${LIMIT}. config.toml was not changed: make fewer edits in a write, or change it by hand.`;
