import { loadConfig } from '../config/load-config.ts';
import { PROTOCOL_VERSION } from '../protocol/protocol-version.ts';
import { type Rollout, readRollout } from '../rollout/read-rollout.ts';
import type { ThreadRecord, ThreadSettings } from '../store/thread-store.ts';
import type { AgentDeps } from './agent-deps.ts';
import { historyFacts } from './history-facts.ts';
import { resolveSettings, threadCwd } from './settings/resolve-settings.ts';

/**
 * Stores the thread that a rollout file holds, with the file's id, path and times, and gives its record. A thread that is
 * stored already stays as it is, though the file may have grown. Rejects with an RpcError that says what is wrong with the file.
 */
export async function importRollout(path: string, deps: Omit<AgentDeps, 'onTurnEnded'>): Promise<ThreadRecord> {
  const { store, ids, log } = deps;
  const rollout = await readRollout(path, { ids });
  const { meta, entries, skippedLines } = rollout;
  const stored = await store.getThread(meta.id);
  if (stored !== null) return stored;
  const record: ThreadRecord = {
    id: meta.id,
    sessionId: meta.sessionId,
    createdAtMs: meta.createdAtMs,
    updatedAtMs: rollout.updatedAtMs,
    recencyAtMs: entries.findLast((entry) => entry.kind === 'turnStarted')?.startedAtMs ?? meta.createdAtMs,
    archivedAtMs: null,
    ephemeral: false,
    name: rollout.name,
    ...historyFacts(entries),
    path,
    forkedFromId: meta.forkedFromId,
    source: meta.source,
    threadSource: meta.threadSource,
    originator: meta.originator,
    cliVersion: meta.cliVersion ?? PROTOCOL_VERSION,
    gitInfo: meta.gitInfo,
    settings: await settingsOf(rollout, deps),
    tokenUsage: rollout.tokenUsage,
    told: null,
    memoryMode: null,
    daybreakEnabled: null,
    goal: null,
  };
  const writer = await store.createThread(record, entries);
  await writer.close();
  log.info({ threadId: meta.id, path, skippedLines }, 'a rollout was imported');
  return record;
}

/**
 * What the file says, and the configuration for the rest. Whether there is such a provider here is asked when the thread
 * is taken up, where a request may name another.
 */
async function settingsOf({ meta, last }: Rollout, deps: Omit<AgentDeps, 'onTurnEnded'>): Promise<ThreadSettings> {
  const cwd = threadCwd(last?.cwd ?? meta.cwd, deps.cwd);
  const { home, env, overrides, modelGiven } = deps;
  const config = await loadConfig({ home, cwd, env, overrides, modelGiven });
  const kept: Partial<ThreadSettings> = {};
  if (last?.model) kept.model = last.model;
  if (last !== null) kept.effort = last.effort;
  if (meta.baseInstructions !== null) kept.baseInstructions = meta.baseInstructions;
  const { settings } = resolveSettings({ overrides: {}, requested: {}, last: kept, config, cwd });
  return { ...settings, modelProvider: meta.modelProvider ?? settings.modelProvider };
}
