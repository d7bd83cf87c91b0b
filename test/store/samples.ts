import { wholeTurns } from '../../src/handlers/history/whole-turns.ts';
import type { ResponseItem, ThreadItem, UntimedItem } from '../../src/protocol/generated/types.ts';
import type { LogEntry, ModelSlice, StoredItem } from '../../src/store/log-entry.ts';
import { type AuthoredItem, ModelItems } from '../../src/store/model-items.ts';
import type { HistoryPage, Page, PageQuery, ThreadQuery } from '../../src/store/page-query.ts';
import type { ThreadRecord, ThreadSettings } from '../../src/store/thread-record.ts';
import type { StoredTurn, ThreadStore, ThreadWriter } from '../../src/store/thread-store.ts';
import { asked } from '../support/test-model.ts';

/** The id of the thread or turn with this number: a UUID, in the order of the numbers. */
export function idOf(number: number): string {
  return `019a0000-0000-7000-8000-${String(number).padStart(12, '0')}`;
}

export const settings: ThreadSettings = {
  model: 'gpt-test',
  modelProvider: 'scripted',
  cwd: '/project',
  approvalPolicy: 'on-request',
  approvalsReviewer: 'user',
  sandboxPolicy: { type: 'dangerFullAccess' },
  effort: null,
  summary: null,
  personality: null,
  serviceTier: null,
  collaborationMode: { mode: 'default', settings: { model: 'gpt-test' } },
  baseInstructions: null,
  developerInstructions: null,
};

/** A listed thread whose times are all its number. */
export function threadRecord(number: number, changes: Partial<ThreadRecord> = {}): ThreadRecord {
  return {
    id: idOf(number),
    sessionId: idOf(number),
    createdAtMs: number,
    updatedAtMs: number,
    recencyAtMs: number,
    listed: true,
    archivedAtMs: null,
    ephemeral: false,
    name: null,
    preview: `preview ${number}`,
    previewIsCommand: false,
    path: `/sessions/${number}.jsonl`,
    forkedFromId: null,
    source: 'vscode',
    threadSource: null,
    originator: null,
    cliVersion: '0.1.0',
    gitInfo: null,
    settings,
    tokenUsage: null,
    told: null,
    memoryMode: null,
    daybreakEnabled: null,
    clientTools: null,
    goal: null,
    queue: null,
    queueHold: null,
    agentClosedAtMs: null,
    spawnTurnId: null,
    ...changes,
  };
}

/** The thread of an agent that the thread with the number `parent` started. */
export function agentRecord(
  number: number,
  parent: number,
  changes: Partial<ThreadRecord> = {},
): ThreadRecord {
  const spawned = {
    parent_thread_id: idOf(parent),
    depth: 1,
    agent_path: null,
    agent_nickname: null,
    agent_role: null,
  };
  return threadRecord(number, { source: { subAgent: { thread_spawn: spawned } }, ...changes });
}

export const everyThread: ThreadQuery = {
  archived: false,
  sortKey: 'createdAt',
  direction: 'desc',
  modelProviders: null,
  cwds: null,
  sources: null,
  originators: null,
  parentId: null,
  ancestorId: null,
  excludedIds: null,
  searchTerm: null,
};

export function userMessage(id: string, text = `say ${id}`): UntimedItem {
  return { type: 'userMessage', id, content: [{ type: 'text', text, text_elements: [] }] };
}

export function agentMessage(id: string, text = `said ${id}`): UntimedItem {
  return { type: 'agentMessage', id, text, phase: null };
}

export function command(id: string, status: 'inProgress' | 'completed' | 'failed'): UntimedItem {
  return {
    type: 'commandExecution',
    id,
    command: 'ls',
    cwd: '/project',
    status,
    commandActions: [],
  };
}

export function itemEntry(turnId: string, item: UntimedItem): LogEntry {
  return { kind: 'item', turnId, item, startedAtMs: 11, completedAtMs: 12 };
}

export function storedItem(turnId: string, item: UntimedItem): StoredItem {
  return { turnId, item, startedAtMs: 11, completedAtMs: null };
}

/** An item of `itemEntry` as clients see it; null: it has not completed. */
export function shownItem(item: UntimedItem, completedAtMs: number | null = 12): ThreadItem {
  return { ...item, startedAtMs: 11, completedAtMs };
}

export function turnStarted(turnId: string): LogEntry {
  return { kind: 'turnStarted', turnId, startedAtMs: 10 };
}

export function turnEnded(turnId: string): LogEntry {
  return {
    kind: 'turnEnded',
    turnId,
    status: 'completed',
    error: null,
    completedAtMs: 20,
    durationMs: 10,
  };
}

/**
 * The entries of a whole turn: a question, a command and an answer, and the items that the model
 * read and wrote.
 */
export function turnEntries(turnId: string): LogEntry[] {
  return [
    turnStarted(turnId),
    itemEntry(turnId, userMessage(`${turnId} question`)),
    { kind: 'model', turnId, item: asked(`${turnId} question`) },
    itemEntry(turnId, command(`${turnId} command`, 'completed')),
    itemEntry(turnId, agentMessage(`${turnId} answer`)),
    { kind: 'model', turnId, item: asked(`${turnId} answer`) },
    turnEnded(turnId),
  ];
}

/** A thread with whole turns of these ids, and its writer. */
export function threadWithTurns(
  store: ThreadStore,
  number: number,
  turnIds: string[],
): Promise<ThreadWriter> {
  return store.createThread(threadRecord(number), turnIds.flatMap(turnEntries));
}

/** A page of turns with all their items; by default all turns. */
export async function turnsWithItems(
  store: ThreadStore,
  threadId: string,
  query: PageQuery = { direction: 'asc' },
): Promise<Page<StoredTurn>> {
  const limits = { bytesMax: Number.POSITIVE_INFINITY, turnBytesMax: Number.POSITIVE_INFINITY };
  const { data, nextCursor, backwardsCursor } = await wholeTurns(store, threadId, query, limits);
  return { data, nextCursor, backwardsCursor };
}

/** All items of a thread, oldest first. */
export async function itemsOf(store: ThreadStore, threadId: string): Promise<StoredItem[]> {
  const items: StoredItem[] = [];
  for (let cursor: string | null = null; ; ) {
    const page: HistoryPage<StoredItem> = await store.listItems(threadId, {
      direction: 'asc',
      cursor,
    });
    items.push(...page.data);
    cursor = page.nextCursor;
    if (cursor === null) return items;
  }
}

/** The items that the model reads, from parts of at most so many bytes. */
export async function modelItems(
  store: ThreadStore,
  threadId: string,
  bytesMax?: number,
): Promise<ResponseItem[]> {
  const read: ResponseItem[] = [];
  const items = new ModelItems({
    take: ({ item }) => read.push(item),
    restart: (kept) => read.splice(0, read.length, ...plainItems(kept)),
  });
  let slice: ModelSlice = { entries: [], cursor: null, more: true };
  while (slice.more) {
    slice = await store.readModelEntries(threadId, {
      cursor: slice.cursor,
      ...(bytesMax === undefined ? {} : { bytesMax }),
    });
    for (const entry of slice.entries) items.add(entry);
  }
  return [...read, ...plainItems(items.deferred)];
}

function plainItems(read: readonly AuthoredItem[]): ResponseItem[] {
  return read.map(({ item }) => item);
}

/** A summary of a thread's turns: `t1 completed: t1 question, …`. */
export async function turnsInShort(store: ThreadStore, threadId: string): Promise<string[]> {
  const { data } = await turnsWithItems(store, threadId);
  return data.map(
    (turn) => `${turn.id} ${turn.status}: ${turn.items.map((item) => item.id).join(', ')}`,
  );
}

export async function textsForModel(store: ThreadStore, threadId: string): Promise<string[]> {
  const items = await modelItems(store, threadId);
  return items.map((item) => JSON.stringify(item).match(/"text":"([^"]*)"/)?.[1] ?? '?');
}

export function wholeTurn(turnId: string): string {
  return `${turnId} completed: ${turnId} question, ${turnId} command, ${turnId} answer`;
}
