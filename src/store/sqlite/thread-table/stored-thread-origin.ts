import type { GitInfo, SessionSource } from '../../../protocol/generated/types.ts';
import type { ThreadRecord } from '../../thread-record.ts';

/** The fields of a thread's record that never change. */
export type StoredThreadOrigin = Pick<
  ThreadRecord,
  | 'sessionId'
  | 'ephemeral'
  | 'forkedFromId'
  | 'source'
  | 'threadSource'
  | 'originator'
  | 'cliVersion'
> &
  Partial<Pick<ThreadRecord, 'spawnTurnId' | 'clientTools'>>;

export function originOf(record: ThreadRecord): StoredThreadOrigin {
  const {
    sessionId,
    ephemeral,
    forkedFromId,
    source,
    threadSource,
    originator,
    cliVersion,
    spawnTurnId,
    clientTools,
  } = record;
  const origin = {
    sessionId,
    ephemeral,
    forkedFromId,
    source,
    threadSource,
    originator,
    cliVersion,
  };
  return {
    ...origin,
    ...(spawnTurnId !== null && { spawnTurnId }),
    ...(clientTools !== null && { clientTools }),
  };
}

const SUB_AGENT_KINDS: Record<string, string> = {
  review: 'subAgentReview',
  compact: 'subAgentCompact',
  thread_spawn: 'subAgentThreadSpawn',
};

/** The kind of a thread's source, as lists filter by it. */
export function sourceKind(source: SessionSource): string {
  if (typeof source === 'string') return source;
  if ('custom' in source) return 'custom';
  const subAgent = source.subAgent;
  const kind = typeof subAgent === 'string' ? subAgent : (Object.keys(subAgent)[0] ?? '');
  return SUB_AGENT_KINDS[kind] ?? 'subAgentOther';
}

/** The git information with changed fields; null without any. */
export function withGitFields(before: GitInfo | null, fields: Partial<GitInfo>): GitInfo | null {
  const gitInfo: GitInfo = { sha: null, branch: null, originUrl: null, ...before, ...fields };
  return Object.values(gitInfo).every((value) => value === null) ? null : gitInfo;
}
