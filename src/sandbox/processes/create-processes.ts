import { type Processes, ProcessStartError, SERVER_ENDING } from './processes.ts';
import type { ProcessesDeps } from './processes-deps.ts';

/** Returns the processes of this machine. The code that starts them is loaded at first use. */
export function createProcesses(deps: ProcessesDeps): Processes {
  let loaded: Promise<Processes> | null = null;
  let closed = false;
  function load(): Promise<Processes> {
    loaded ??= import('./process-keeper.ts').then(({ ProcessKeeper }) => new ProcessKeeper(deps));
    return loaded;
  }
  return {
    async start(spec, onOutput) {
      if (closed) throw new ProcessStartError(SERVER_ENDING);
      return (await load()).start(spec, onOutput);
    },
    async prepare(bounds) {
      if (bounds.managedNetwork === true && !closed) await (await load()).prepare(bounds);
    },
    async killOwned(owner) {
      await (await loaded)?.killOwned(owner);
    },
    async tidy() {
      await (await loaded)?.tidy();
    },
    async close() {
      closed = true;
      await (await loaded)?.close();
      await deps.sandbox?.close();
    },
  };
}
