import { shuttingDown } from '../../protocol/rpc-error.ts';
import type { ForeignSession } from '../../rollout/session/read-session.ts';
import type { ThreadRecord } from '../../store/thread-record.ts';
import { historyFacts } from '../history/history-facts.ts';
import type { Services } from '../services.ts';
import { newThread, resolveThread } from './new-thread.ts';

export interface SessionImport {
  session: ForeignSession;
  /** The folder of the thread. */
  cwd: string;
  /** The name of the client that imports it. */
  originator: string | null;
}

/**
 * Stores a session of another agent as a new thread, with its title and times, and the settings of
 * the configuration. Returns the record. Rejects with an RpcError if the configuration is invalid.
 */
export async function importSession(
  { session, cwd, originator }: SessionImport,
  services: Services,
  isClosing: () => boolean,
): Promise<ThreadRecord> {
  const request = {
    overrides: { cwd },
    config: null,
    knowsModes: true,
    ephemeral: false,
    threadSource: null,
    daybreakEnabled: null,
    clientTools: null,
    originator,
  };
  const resolved = await resolveThread(services, request, {});
  const { record } = await newThread(services, { ...request, resolved }, {});
  const { entries, gitBranch } = session;
  const createdAtMs = session.createdAtMs ?? record.createdAtMs;
  const imported: ThreadRecord = {
    ...record,
    ...historyFacts(entries),
    name: session.name,
    createdAtMs,
    updatedAtMs: session.updatedAtMs ?? createdAtMs,
    recencyAtMs:
      entries.findLast((entry) => entry.kind === 'turnStarted')?.startedAtMs ?? createdAtMs,
    gitInfo: gitBranch === null ? null : { sha: null, branch: gitBranch, originUrl: null },
  };
  const onStored = () => {
    if (isClosing()) throw shuttingDown();
  };
  const writer = await services.store.createThread(imported, entries, onStored);
  await writer.close();
  return imported;
}
