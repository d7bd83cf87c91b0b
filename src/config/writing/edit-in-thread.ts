import { SHARE_ENV, Worker } from 'node:worker_threads';
import type { EditedToml, EditToml } from './toml-edit.ts';

/** Much more than the largest file needs. */
const HEAP_MB_MAX = 256;

/** Returns an editor whose edits run in a thread, which ends with the edit. `script`: the absolute path of the thread's script. */
export function editInThread(script: string): EditToml {
  return (text, edits) =>
    new Promise((resolve, reject) => {
      const worker = new Worker(script, {
        workerData: { text, edits },
        env: SHARE_ENV,
        execArgv: [],
        resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
      });
      worker.once('message', (edited: EditedToml) => resolve(edited));
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('the thread that edits config.toml ended without a result')));
    });
}
