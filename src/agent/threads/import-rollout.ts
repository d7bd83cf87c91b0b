import { PROTOCOL_VERSION } from '../../protocol/protocol-version.ts';
import { shuttingDown } from '../../protocol/rpc-error.ts';
import { type Rollout, readRollout } from '../../rollout/read-rollout.ts';
import type { ThreadRecord, ThreadSettings } from '../../store/thread-record.ts';
import { historyFacts } from '../history/history-facts.ts';
import type { Services } from '../services.ts';
import { resolveSettings, threadCwd } from '../settings/resolve-settings.ts';

/** How much of the files of a history is read, or of its entries is stored. */
export interface ImportProgress {
  step: 'read' | 'stored';
  percent: number;
}

interface ImportOptions {
  onProgress: (progress: ImportProgress) => void;
  /** Whether the server is being closed, which ends the import. */
  isClosing: () => boolean;
}

/**
 * Stores the thread of a rollout file, with the file's id, path and times, and returns its record.
 * A thread that is already stored does not change, even if the file has grown since. Rejects with
 * an RpcError that says why the file cannot be read.
 */
export async function importRollout(
  path: string,
  services: Services,
  { onProgress, isClosing }: ImportOptions,
): Promise<ThreadRecord> {
  const { store } = services;
  const { ids, log } = services.runtime;
  const report = (step: ImportProgress['step'], done: number, all: number) => {
    if (isClosing()) throw shuttingDown();
    onProgress({ step, percent: Math.min(100, Math.round((100 * done) / Math.max(1, all))) });
  };
  const onRead = (bytes: number, allBytes: number) => report('read', bytes, allBytes);
  const rollout = await readRollout(path, { ids, onRead });
  const { meta, entries, skippedLines } = rollout;
  const stored = await store.getThread(meta.id);
  if (stored !== null) return stored;
  const record: ThreadRecord = {
    id: meta.id,
    sessionId: meta.sessionId,
    createdAtMs: meta.createdAtMs,
    updatedAtMs: rollout.updatedAtMs,
    recencyAtMs:
      entries.findLast((entry) => entry.kind === 'turnStarted')?.startedAtMs ?? meta.createdAtMs,
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
    settings: await settingsOf(rollout, services),
    tokenUsage: rollout.tokenUsage,
    told: null,
    memoryMode: null,
    daybreakEnabled: null,
    previewIsCommand: false,
    clientTools: null,
    goal: null,
    queue: null,
    queueHold: null,
    agentClosedAtMs: null,
    spawnTurnId: null,
  };
  const onStored = (count: number) => report('stored', count, entries.length);
  try {
    const writer = await store.createThread(record, entries, onStored);
    await writer.close();
  } catch (error) {
    // Another process has imported it meanwhile.
    const imported = await store.getThread(meta.id).catch(() => null);
    if (imported === null) throw error;
    return imported;
  }
  log.info({ threadId: meta.id, path, skippedLines }, 'a rollout was imported');
  return record;
}

/**
 * The settings from the file, and the configuration's for the rest. The provider need not exist
 * here: resuming the thread checks that, and the request may name another one.
 */
async function settingsOf({ meta, last }: Rollout, services: Services): Promise<ThreadSettings> {
  const cwd = threadCwd(last?.cwd ?? meta.cwd, services.machine.cwd);
  const config = await services.configuration.load(cwd, null);
  const kept: Partial<ThreadSettings> = {};
  if (last?.model) kept.model = last.model;
  if (last !== null) kept.effort = last.effort;
  if (meta.baseInstructions !== null) kept.baseInstructions = meta.baseInstructions;
  const { settings } = resolveSettings({ overrides: {}, requested: {}, last: kept, config, cwd });
  return { ...settings, modelProvider: meta.modelProvider ?? settings.modelProvider };
}
