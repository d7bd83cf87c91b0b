import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildSync } from 'esbuild';
import { onTestFinished } from 'vitest';
import { createWorkerStore, type WorkerStore } from '../../src/store/sqlite/worker/create-worker-store.ts';
import type { StoreThreadOptions } from '../../src/store/sqlite/worker/store-thread.ts';
import { TempHome } from './temp-home.ts';

const root = dirname(dirname(import.meta.dirname));

/** The script of the store's thread, built from the sources. Below the root, so that it finds the packages that it imports. */
const script = join(root, '.cache', 'test', `store-worker.${process.pid}.cjs`);

let isBuilt = false;

function builtScript(): string {
  if (isBuilt) return script;
  mkdirSync(dirname(script), { recursive: true });
  buildSync({
    absWorkingDir: root,
    entryPoints: ['src/store/sqlite/worker/store-worker.ts'],
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    packages: 'external',
  });
  isBuilt = true;
  return script;
}

/** A home whose stores run in threads of their own. */
export class WorkerHome extends TempHome {
  override open(_connect?: undefined, options: Partial<StoreThreadOptions> = {}): WorkerStore {
    return this.closeAtEnd(createWorkerStore({ ...this.options(), script: builtScript(), ...options }));
  }
}

export function workerHome(): WorkerHome {
  const home = new WorkerHome();
  onTestFinished(() => home.dispose());
  return home;
}
