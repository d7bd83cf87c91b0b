import { join } from 'node:path';
import { expect } from 'vitest';
import type {
  Thread,
  ThreadItem,
  ThreadStartResponse,
  Turn,
  UntimedItem,
  UserInput,
} from '../../src/protocol/generated/types.ts';
import { PROTOCOL_VERSION } from '../../src/protocol/protocol-version.ts';
import { CLIENT_INFO } from './test-client.ts';
import type { TestServer } from './test-server.ts';

/** The start time of a test's clock, in Unix milliseconds. */
export const START_MS = Date.UTC(2026, 0, 1);
/** The same, in Unix seconds. */
export const START = START_MS / 1000;

/** Matches an id that the test does not know. */
export const ANY_ID: string = expect.any(String);

type Folders = Pick<TestServer, 'home' | 'cwd'>;

/** The thread that `thread/start` returns without params, except the given fields. */
export function threadOf({ home, cwd }: Folders, given: Partial<Thread> & { id: string }): Thread {
  return {
    sessionId: given.id,
    forkedFromId: null,
    attachedToThreadId: null,
    parentThreadId: null,
    preview: '',
    ephemeral: false,
    section: null,
    sectionEnteredAt: null,
    projectId: null,
    historyMode: 'paginated',
    modelProvider: 'test',
    model: 'test-model',
    reasoningEffort: null,
    createdAt: START,
    updatedAt: START,
    recencyAt: START,
    status: { type: 'idle' },
    path: join(
      home,
      'sessions',
      '2026',
      '01',
      '01',
      `rollout-2026-01-01T00-00-00-${given.id}.jsonl`,
    ),
    cwd,
    cliVersion: PROTOCOL_VERSION,
    originator: CLIENT_INFO.name,
    source: 'vscode',
    canAcceptDirectInput: given.status?.type === 'notLoaded' ? null : true,
    threadSource: null,
    agentNickname: null,
    agentRole: null,
    gitInfo: null,
    name: null,
    daybreakEnabled: null,
    environments: [
      { environmentId: 'local', cwd: given.cwd ?? cwd, runtimeWorkspaceRoots: [given.cwd ?? cwd] },
    ],
    extra: null,
    turns: [],
    ...given,
  };
}

/**
 * The settings beside a thread in a response, from the configuration of the tests, except the given
 * ones.
 */
export function settingsOf(
  { cwd }: Folders,
  given: Partial<ThreadStartResponse> = {},
): Omit<ThreadStartResponse, 'thread'> {
  return {
    model: 'test-model',
    modelProvider: 'test',
    serviceTier: null,
    disabledPluginIds: [],
    cwd,
    instructionSources: [],
    approvalPolicy: 'on-request',
    approvalsReviewer: 'user',
    sandbox: { type: 'readOnly', networkAccess: false },
    activePermissionProfile: null,
    runtimeWorkspaceRoots: [given.cwd ?? cwd],
    reasoningEffort: null,
    multiAgentMode: 'explicitRequestOnly',
    ...given,
  };
}

/** A completed turn at the start time of a test's clock, except the given fields. */
export function turnOf(given: Partial<Turn> & { id: string }): Turn {
  return {
    rootTurnId: given.id,
    items: [],
    itemsView: 'full',
    status: 'completed',
    error: null,
    startedAt: START,
    completedAt: START,
    durationMs: 0,
    ...given,
  };
}

/**
 * The times of an item, by default those of one that has begun and completed at the start time of a
 * test's clock.
 */
export type ItemTimes = Pick<ThreadItem, 'startedAtMs' | 'completedAtMs'>;

/** An item with its times. */
export function timed<Item extends UntimedItem>(
  item: Item,
  times: Partial<ItemTimes> = {},
): Item & ItemTimes {
  return { ...item, startedAtMs: START_MS, completedAtMs: START_MS, ...times };
}

/** An item that has begun and not ended. */
export function begun<Item extends ItemTimes>(item: Item): Item {
  return { ...item, completedAtMs: null };
}

/** A user message: a text, or parts. */
export function userItem(
  content: string | UserInput[],
  {
    id = ANY_ID,
    clientId = null,
    ...times
  }: { id?: string; clientId?: string | null } & Partial<ItemTimes> = {},
): ThreadItem {
  const parts: UserInput[] =
    typeof content === 'string' ? [{ type: 'text', text: content, text_elements: [] }] : content;
  return timed({ type: 'userMessage', id, clientId, content: parts }, times);
}

/** A message of the agent. */
export function agentItem(
  text: string,
  given: Partial<Extract<ThreadItem, { type: 'agentMessage' }>> = {},
): ThreadItem {
  return {
    type: 'agentMessage',
    id: ANY_ID,
    text,
    phase: null,
    memoryCitation: null,
    delivery: null,
    questions: null,
    moderation: null,
    startedAtMs: START_MS,
    completedAtMs: START_MS,
    ...given,
  };
}

/** The texts of items with their authors, for tests about which items there are. */
export function brief(items: readonly UntimedItem[]): string[] {
  return items.map((item) => {
    if (item.type === 'agentMessage') return `agent: ${item.text}`;
    if (item.type !== 'userMessage') return item.type;
    return `user: ${item.content.map((part) => (part.type === 'text' ? part.text : part.type)).join('|')}`;
  });
}

/** The error of a request that needs the experimental API: a method, or a field of its params. */
export function needsExperimentalApi(what: string) {
  return {
    code: -32600,
    message: `${what} requires experimentalApi capability`,
    data: { code: 'experimental_api_required' },
  };
}
