import { type Clock, systemClock } from '../../base/clock.ts';
import type { Remote } from '../../base/worker/remote.ts';
import { runInWorker } from '../../base/worker/run-in-worker.ts';
import type { EditToml } from './toml-edit.ts';
import type { TomlEditor } from './toml-editor.worker.ts';

/** Much more than the largest file needs. */
const HEAP_MB_MAX = 256;
/** How long the edits of one write may take. */
const EDIT_MS_MAX = 30_000;

/**
 * Returns an editor whose edits run in a worker, which ends with the edit. `script`: the absolute
 * path of the script that loads workers.
 */
export function editInWorker(
  script: string,
  clock: Pick<Clock, 'setTimer'> = systemClock,
): EditToml {
  const worker = {
    script,
    name: 'toml-editor.worker',
    called: 'the worker that edits config.toml',
    heapMbMax: HEAP_MB_MAX,
  };
  const deadline = { msMax: EDIT_MS_MAX, late: { problem: TOO_SLOW }, clock };
  return (text, edits) =>
    runInWorker(
      worker,
      (editor: Remote<TomlEditor>) => editor.call('editToml', [text, edits]),
      deadline,
    );
}

const LIMIT = `${EDIT_MS_MAX / 1_000} s`;
const TOO_SLOW = `The edits take longer than ${LIMIT}. config.toml was not changed: make fewer edits in a write, or change it by hand.`;
