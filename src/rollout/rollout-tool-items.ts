import { basename, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isObject } from '../base/json-value.ts';
import type {
  CollabAgentState,
  CommandAction,
  DynamicToolCallOutputContentItem,
  FileUpdateChange,
  McpToolCallResult,
  UntimedItem,
} from '../protocol/generated/types.ts';
import { itemEffort } from '../protocol/item-effort.ts';
import { camelCase, Fields } from './fields.ts';

/**
 * Converters of a rollout's tool items. Each returns null if the item lacks a field that clients
 * need.
 */
export const rolloutToolItems: Record<string, (item: Fields, id: string) => UntimedItem | null> = {
  CommandExecution: commandExecution,
  FileChange: fileChange,
  McpToolCall: mcpToolCall,
  DynamicToolCall: dynamicToolCall,
  CollabAgentToolCall: collabAgentToolCall,
  SubAgentActivity: subAgentActivity,
};

/** Reads a path, which may be written as a file URL. */
export function recordedPath(fields: Fields, key: string): string | null {
  const path = fields.text(key);
  if (path === null || !path.startsWith('file://')) return path;
  try {
    return fileURLToPath(path);
  } catch {
    // The URL names no file of this system. Showing it is better than dropping it.
    return path;
  }
}

function commandExecution(item: Fields, id: string): UntimedItem | null {
  const cwd = recordedPath(item, 'cwd');
  const command = item.text('command') ?? shellText(item.texts('command'));
  if (cwd === null || command === '') return null;
  return {
    type: 'commandExecution',
    id,
    command,
    cwd,
    processId: item.text('process_id'),
    source:
      word(item, 'source', [
        'agent',
        'userShell',
        'unifiedExecStartup',
        'unifiedExecInteraction',
      ]) ?? 'agent',
    status: statusOf(item, ['completed', 'failed', 'declined']),
    commandActions: item.objects('parsed_cmd').map((action) => commandAction(action, cwd)),
    aggregatedOutput: item.text('aggregated_output') || null,
    exitCode: item.number('exit_code'),
    durationMs: durationMs(item),
  };
}

/** Quotes words so that a shell would split the string into them. */
function shellText(words: readonly string[]): string {
  return words
    .map((text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`))
    .join(' ');
}

function commandAction(action: Fields, cwd: string): CommandAction {
  const command = action.text('cmd') ?? '';
  const path = action.text('path');
  switch (action.text('type')) {
    case 'read':
      if (path === null) return { type: 'unknown', command };
      return {
        type: 'read',
        command,
        name: action.text('name') ?? basename(path),
        path: posix.resolve(cwd, path),
      };
    case 'list_files':
      return { type: 'listFiles', command, path };
    case 'search':
      return { type: 'search', command, query: action.text('query'), path };
    default:
      return { type: 'unknown', command };
  }
}

function fileChange(item: Fields, id: string): UntimedItem {
  const changes = item.object('changes');
  return {
    type: 'fileChange',
    id,
    changes: changes
      .keys()
      .sort()
      .map((path) => change(path, changes.object(path))),
    status: statusOf(item, ['completed', 'failed', 'declined']),
  };
}

function change(path: string, fields: Fields): FileUpdateChange {
  const type = fields.oneOf('type', ['add', 'delete']);
  if (type !== null) return { path, kind: { type }, diff: fields.text('content') ?? '' };
  return {
    path,
    kind: { type: 'update', move_path: fields.text('move_path') },
    diff: fields.text('unified_diff') ?? '',
  };
}

function mcpToolCall(item: Fields, id: string): UntimedItem | null {
  const [server, tool] = [item.text('server'), item.text('tool')];
  if (server === null || tool === null) return null;
  const message = item.object('error').text('message') ?? item.text('error');
  return {
    type: 'mcpToolCall',
    id,
    server,
    tool,
    status: statusOf(item, ['completed', 'failed']),
    arguments: item.raw('arguments') ?? null,
    readOnlyHint: item.flag('readOnlyHint'),
    result: mcpResult(item),
    error: message === null ? null : { message },
    durationMs: durationMs(item),
  };
}

function mcpResult(item: Fields): McpToolCallResult | null {
  if (!isObject(item.raw('result'))) return null;
  const result = item.object('result');
  return {
    content: result.list('content'),
    structuredContent: result.raw('structuredContent') ?? result.raw('structured_content') ?? null,
    _meta: result.raw('_meta') ?? null,
  };
}

function dynamicToolCall(item: Fields, id: string): UntimedItem | null {
  const tool = item.text('tool');
  if (tool === null) return null;
  return {
    type: 'dynamicToolCall',
    id,
    namespace: item.text('namespace'),
    tool,
    arguments: item.raw('arguments') ?? null,
    status: statusOf(item, ['completed', 'failed']),
    contentItems: item.has('content_items')
      ? item.objects('content_items').flatMap(toolContent)
      : null,
    success: item.flag('success'),
    durationMs: durationMs(item),
  };
}

function toolContent(part: Fields): DynamicToolCallOutputContentItem[] {
  const [text, imageUrl, audioUrl] = [
    part.text('text'),
    part.text('imageUrl'),
    part.text('audioUrl'),
  ];
  if (text !== null) return [{ type: 'inputText', text }];
  if (imageUrl !== null) return [{ type: 'inputImage', imageUrl }];
  return audioUrl === null ? [] : [{ type: 'inputAudio', audioUrl }];
}

function collabAgentToolCall(item: Fields, id: string): UntimedItem | null {
  const tool = word(item, 'tool', [
    'spawnAgent',
    'sendInput',
    'resumeAgent',
    'wait',
    'closeAgent',
    'sendMessage',
    'followupTask',
    'interruptAgent',
    'listAgents',
  ]);
  const senderThreadId = item.text('sender_thread_id');
  if (tool === null || senderThreadId === null) return null;
  const states = item.object('agents_states');
  return {
    type: 'collabAgentToolCall',
    id,
    tool,
    status: statusOf(item, ['completed', 'failed', 'interrupted']),
    senderThreadId,
    receiverThreadIds: item.texts('receiver_thread_ids'),
    prompt: item.text('prompt'),
    model: item.text('model'),
    reasoningEffort: itemEffort(item.text('reasoning_effort')),
    agentsStates: Object.fromEntries(
      states.keys().map((threadId) => [threadId, agentState(states, threadId)]),
    ),
  };
}

const AGENT_STATES = [
  'pendingInit',
  'running',
  'interrupted',
  'completed',
  'errored',
  'shutdown',
  'notFound',
] as const;

/**
 * Reads an agent's state: a status string, or an object with the status as its key and the agent's
 * message as its value.
 */
function agentState(states: Fields, threadId: string): CollabAgentState {
  const said = states.object(threadId);
  const [key = ''] = said.keys();
  const status = camelCase(states.text(threadId) ?? key);
  return {
    status: AGENT_STATES.find((state) => state === status) ?? 'notFound',
    message: said.text(key),
  };
}

function subAgentActivity(item: Fields, id: string): UntimedItem | null {
  const kind = word(item, 'kind', ['started', 'interacted', 'interrupted', 'completed']);
  const [agentThreadId, agentPath] = [item.text('agent_thread_id'), item.text('agent_path')];
  if (kind === null || agentThreadId === null || agentPath === null) return null;
  return {
    type: 'subAgentActivity',
    id,
    kind,
    agentThreadId,
    agentPath,
    model: item.text('model'),
    reasoningEffort: itemEffort(item.text('reasoning_effort')),
  };
}

/** The status of an item that has ended. One that is not among `statuses` counts as failed. */
function statusOf<const Status extends string>(
  item: Fields,
  statuses: readonly Status[],
): Status | 'failed' {
  return word(item, 'status', statuses) ?? 'failed';
}

function word<const Word extends string>(
  item: Fields,
  key: string,
  words: readonly Word[],
): Word | null {
  return new Fields({ word: camelCase(item.text(key) ?? '') }).oneOf('word', words);
}

function durationMs(item: Fields): number | null {
  const duration = item.object('duration');
  const seconds = duration.number('secs');
  return seconds === null
    ? null
    : seconds * 1000 + Math.floor((duration.number('nanos') ?? 0) / 1e6);
}
