import { onTestFinished } from 'vitest';
import {
  createWorkerStore,
  type WorkerStore,
} from '../../src/store/sqlite/worker/create-worker-store.ts';
import type { RemoteStoreOptions } from '../../src/store/sqlite/worker/remote-store.ts';
import type { ThreadStore } from '../../src/store/thread-store.ts';
import { builtScript } from '../support/built-script.ts';
import { TempHome } from './temp-home.ts';

const SCRIPT = 'src/store/sqlite/worker/store.worker.ts';

/** A home whose stores run in threads of their own. */
export class WorkerHome extends TempHome {
  override open(_connect?: undefined, options: Partial<RemoteStoreOptions> = {}): WorkerStore {
    return this.closeAtEnd(
      createWorkerStore({ ...this.options(), script: builtScript(SCRIPT), ...options }),
    );
  }

  /** Opens a store in this thread, as another process would. */
  sqliteStore(): ThreadStore {
    return super.open();
  }
}

export function workerHome(): WorkerHome {
  const home = new WorkerHome();
  onTestFinished(() => home.dispose());
  return home;
}
