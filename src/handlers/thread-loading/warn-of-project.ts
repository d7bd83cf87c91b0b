import type { LoadedThread } from '../../agent/loaded-thread.ts';
import type { Caller } from '../method.ts';
import type { ThreadDeps } from '../thread-deps.ts';

/** Warns the caller about each instruction file that the model does not get, because it is a link that leads out of the project. */
export function warnOfLinks({ clients }: ThreadDeps, { id, configuration }: LoadedThread, caller: Caller): void {
  for (const path of configuration.instructions.leftOut) {
    const message = `${path} is a link that leads out of the project: it is not read as instructions.`;
    clients.publish({ connection: caller.id }, 'warning', { threadId: id, message });
  }
}
