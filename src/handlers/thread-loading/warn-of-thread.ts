import type { LoadedThread } from '../../agent/loaded-thread.ts';
import { projectWarnings } from '../../config/config-warnings.ts';
import type { Caller } from '../method.ts';
import type { ThreadDeps } from '../thread-deps.ts';

/**
 * Warns the caller if the thread has another model or other settings than it was asked for, and about the files of the thread's project that have no
 * effect: settings that are ignored or that the user has not trusted, and instruction files that are links out of the project.
 */
export function warnOfThread({ clients }: ThreadDeps, { id, configuration }: LoadedThread, caller: Caller): void {
  const { config, instructions, warnings } = configuration;
  const messages = [
    ...warnings,
    ...projectWarnings(config).map(({ summary, details }) => (details ? `${summary}. ${details}` : summary)),
    ...instructions.leftOut.map((path) => `${path} is a link that leads out of the project: it is not read as instructions.`),
  ];
  for (const message of messages) clients.publish({ connection: caller.id }, 'warning', { threadId: id, message });
}
