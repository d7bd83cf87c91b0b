import { Once } from '../../base/loading/once.ts';
import { type Processes, ProcessStartError, SERVER_ENDING } from './processes.ts';
import type { ProcessesDeps } from './processes-deps.ts';

/** Returns the processes of this machine. The code that starts them is loaded at first use. */
export function createProcesses(deps: ProcessesDeps): Processes {
  const loaded = new Once<Processes>(
    async () => new (await import('./process-keeper.ts')).ProcessKeeper(deps),
  );
  let closed = false;
  return {
    async start(spec, onOutput) {
      if (closed) throw new ProcessStartError(SERVER_ENDING);
      return (await loaded.get()).start(spec, onOutput);
    },
    async prepare(bounds) {
      if (bounds.managedNetwork === true && !closed) await (await loaded.get()).prepare(bounds);
    },
    async killOwned(owner) {
      await (await loaded.made)?.killOwned(owner);
    },
    async tidy() {
      await (await loaded.made)?.tidy();
    },
    async close() {
      closed = true;
      await (await loaded.made)?.close();
      await deps.sandbox?.close();
    },
  };
}
