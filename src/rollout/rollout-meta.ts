import { isUuid } from '../base/ids.ts';
import { cutText } from '../base/text/cut-text.ts';
import type { GitInfo, SessionSource, SubAgentSource } from '../protocol/generated/types.ts';
import { camelCase, type Fields } from './fields.ts';
import { type RolloutRecord, timeOf } from './rollout-record.ts';

/** The metadata of a rollout's thread. Null: not recorded. */
export interface RolloutMeta {
  id: string;
  sessionId: string;
  createdAtMs: number;
  cwd: string | null;
  source: SessionSource;
  threadSource: string | null;
  originator: string | null;
  cliVersion: string | null;
  modelProvider: string | null;
  gitInfo: GitInfo | null;
  forkedFromId: string | null;
  /**
   * Only if a client set them. The default instructions of the server that wrote the file are not
   * for other servers.
   */
  baseInstructions: string | null;
  /**
   * The thread's history begins with these first bytes of another file, whose name ends in the id.
   */
  base: { fileId: string; bytes: number } | null;
}

/** Reads the first record of a rollout. Returns a description of the problem if it is invalid. */
export function readMeta({ type, payload, atMs }: RolloutRecord): RolloutMeta | string {
  if (type !== 'session_meta')
    return `its first record is "${cutText(type, 60)}", not "session_meta"`;
  const id = payload.text('id') ?? '';
  if (!isUuid(id)) return 'its session_meta has no thread id';
  const createdAtMs = timeOf(payload.text('timestamp')) ?? atMs;
  if (createdAtMs === null) return 'its session_meta has no timestamp';
  const instructions = payload.object('base_instructions');
  const isCustom = instructions.object('provenance').text('type') === 'custom';
  return {
    id,
    sessionId: uuidOf(payload, 'session_id') ?? id,
    createdAtMs,
    cwd: payload.text('cwd'),
    source: sourceOf(payload),
    threadSource: payload.text('thread_source'),
    originator: payload.text('originator'),
    cliVersion: payload.text('cli_version'),
    modelProvider: payload.text('model_provider'),
    gitInfo: gitInfo(payload.object('git')),
    forkedFromId: uuidOf(payload, 'forked_from_id'),
    baseInstructions: isCustom ? instructions.text('text') : null,
    base: baseOf(payload.object('history_base')),
  };
}

/** Ids of threads are sent to providers in headers, so only ids are accepted. */
function uuidOf(fields: Fields, name: string): string | null {
  const id = fields.text(name);
  return id !== null && isUuid(id) ? id : null;
}

function baseOf(base: Fields): RolloutMeta['base'] {
  const fileId = uuidOf(base, 'thread_id');
  const bytes = base.number('end_byte_offset');
  return fileId !== null && bytes !== null && bytes >= 0 ? { fileId, bytes } : null;
}

function gitInfo(git: Fields): GitInfo | null {
  const [sha, branch, originUrl] = [
    git.text('commit_hash'),
    git.text('branch'),
    git.text('repository_url'),
  ];
  return sha === null && branch === null && originUrl === null ? null : { sha, branch, originUrl };
}

function sourceOf(meta: Fields): SessionSource {
  // Before files recorded the source, there was only one kind of client.
  if (!meta.has('source')) return 'vscode';
  const word = meta.text('source');
  if (word === 'mcp' || word === 'app_server') return 'appServer';
  if (word !== null)
    return meta.oneOf('source', ['cli', 'vscode', 'exec', 'appServer']) ?? 'unknown';
  const source = meta.object('source');
  const custom = source.text('custom');
  if (custom !== null) return { custom };
  const key = source.keys().find((name) => camelCase(name).toLowerCase() === 'subagent');
  return key === undefined ? 'unknown' : { subAgent: subAgent(source, key) };
}

function subAgent(source: Fields, key: string): SubAgentSource {
  const word = source.oneOf(key, ['review', 'compact', 'memory_consolidation']);
  if (word !== null) return word;
  const spawn = source.object(key).object('thread_spawn');
  const parent = uuidOf(spawn, 'parent_thread_id');
  if (parent === null)
    return { other: source.object(key).text('other') ?? source.text(key) ?? 'unknown' };
  return {
    thread_spawn: {
      parent_thread_id: parent,
      depth: Math.max(0, Math.floor(spawn.number('depth') ?? 1)),
      agent_path: spawn.text('agent_path'),
      agent_nickname: spawn.text('agent_nickname'),
      agent_role: spawn.text('agent_role'),
    },
  };
}
