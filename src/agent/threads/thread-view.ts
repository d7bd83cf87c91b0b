import type { Thread, ThreadStatus, Turn } from '../../protocol/generated/types.ts';
import type { LogEntry } from '../../store/log-entry.ts';
import { spawnSource } from '../../store/spawn-source.ts';
import type { ThreadRecord, ThreadSettings } from '../../store/thread-record.ts';
import type { StoredTurn } from '../../store/thread-store.ts';
import { timedItem } from '../../store/timed-item.ts';
import { seconds, turnView } from '../turn/turn-view.ts';
import type { LoadedThread } from './loaded-thread.ts';

/** A thread as clients see it. */
export function threadView(record: ThreadRecord, status: ThreadStatus, turns: Turn[] = []): Thread {
  const spawned = spawnSource(record.source);
  return {
    id: record.id,
    sessionId: record.sessionId,
    forkedFromId: record.forkedFromId,
    attachedToThreadId: null,
    parentThreadId: spawned?.parent_thread_id ?? null,
    preview: record.preview,
    ephemeral: record.ephemeral,
    section: null,
    sectionEnteredAt: null,
    projectId: null,
    historyMode: 'paginated',
    modelProvider: record.settings.modelProvider,
    model: record.settings.model,
    reasoningEffort: record.settings.effort,
    createdAt: seconds(record.createdAtMs),
    updatedAt: seconds(record.updatedAtMs),
    recencyAt: seconds(record.recencyAtMs),
    status,
    path: record.path,
    cwd: record.settings.cwd,
    cliVersion: record.cliVersion,
    originator: record.originator,
    source: record.source,
    canAcceptDirectInput: status.type === 'notLoaded' ? null : true,
    threadSource: record.threadSource,
    agentNickname: spawned?.agent_nickname ?? null,
    agentRole: spawned?.agent_role ?? null,
    gitInfo: record.gitInfo,
    name: record.name,
    daybreakEnabled: record.daybreakEnabled,
    environments: environments(record.settings),
    extra: null,
    turns,
  };
}

/**
 * Stored turns as clients see them. For a loaded thread, they include state that is not in the
 * store: which turn runs, unfinished items as clients have seen them, and the ends of turns and
 * items that could not be stored yet.
 */
export function storedTurnViews(turns: readonly StoredTurn[], loaded: LoadedThread | null): Turn[] {
  if (loaded === null) return turns.map(turnView);
  const { unfinished } = loaded.unstored;
  return turns.map((turn) => {
    const seen = { ...turn, items: unfinished.allAsSeen(turn.items) };
    return turnView({ ...seen, ...owedEnd(seen, loaded) });
  });
}

function owedEnd(turn: StoredTurn, { turn: running, unstored }: LoadedThread): Partial<StoredTurn> {
  if (unstored.owed.length === 0 || turn.status !== 'inProgress' || running?.id === turn.id)
    return {};
  const owed = unstored.owed.filter((entry) => 'turnId' in entry && entry.turnId === turn.id);
  const end = owed.find(
    (entry): entry is Extract<LogEntry, { kind: 'turnEnded' }> => entry.kind === 'turnEnded',
  );
  if (end === undefined) return {};
  const ended = new Map(
    owed.flatMap((entry) =>
      (entry.kind === 'item' && entry.running !== true) || entry.kind === 'lateItem'
        ? [[entry.item.id, timedItem(entry)]]
        : [],
    ),
  );
  const items = turn.items.map((item) => ended.get(item.id) ?? item);
  return {
    status: end.status,
    error: end.error,
    completedAtMs: end.completedAtMs,
    durationMs: end.durationMs,
    items,
  };
}

function environments(settings: ThreadSettings): Thread['environments'] {
  const { cwd, withoutProject } = settings;
  return withoutProject
    ? []
    : [{ environmentId: 'local', cwd, runtimeWorkspaceRoots: workspaceRoots(settings) }];
}

/** The folders of the thread's workspace. */
export function workspaceRoots({ workspaceRoots: roots = [], cwd }: ThreadSettings): string[] {
  return roots.length > 0 ? [...roots] : [cwd];
}
