import type { GitInfo, ThreadMetadataGitInfoUpdateParams, ThreadMetadataUpdateParams } from '../../../protocol/generated/types.ts';
import { emptyMetadataField, emptyMetadataUpdate, projectNotFound } from '../../../protocol/rpc-error.ts';
import { type MethodTable, perThread } from '../../method.ts';
import type { ThreadDeps } from '../../thread-deps.ts';
import { updateThreadRecord } from '../../update-thread-record.ts';

const GIT_FIELDS = ['sha', 'branch', 'originUrl'] as const;

export function metadataMethods(deps: ThreadDeps) {
  return {
    'thread/metadata/update': {
      queue: perThread,
      async handle(params) {
        check(params);
        const { threadId, gitInfo, daybreakEnabled } = params;
        const record = await updateThreadRecord(deps, threadId, (before) => ({
          ...(gitInfo ? { gitInfo: patched(before.gitInfo, gitInfo) } : {}),
          ...(typeof daybreakEnabled === 'boolean' ? { daybreakEnabled } : {}),
        }));
        return { thread: deps.threads.view(record) };
      },
    },
  } satisfies Partial<MethodTable>;
}

/** Throws if the params change nothing, or if a change is impossible. There are no projects, so a thread cannot enter one. */
function check({ gitInfo, projectId, daybreakEnabled }: ThreadMetadataUpdateParams): void {
  const changesAnything = [gitInfo, projectId, daybreakEnabled].some((value) => value !== null && value !== undefined);
  if (!changesAnything) throw emptyMetadataUpdate('thread metadata update');
  if (projectId) throw projectNotFound(projectId);
  if (!gitInfo) return;
  if (GIT_FIELDS.every((field) => gitInfo[field] === undefined)) throw emptyMetadataUpdate('gitInfo');
  for (const field of GIT_FIELDS) if (gitInfo[field]?.trim() === '') throw emptyMetadataField(`gitInfo.${field}`);
}

/** Returns null if no field is left. */
function patched(before: GitInfo | null, patch: ThreadMetadataGitInfoUpdateParams): GitInfo | null {
  const field = (name: keyof GitInfo) => (patch[name] === undefined ? (before?.[name] ?? null) : (patch[name]?.trim() ?? null));
  const gitInfo = { sha: field('sha'), branch: field('branch'), originUrl: field('originUrl') };
  return Object.values(gitInfo).every((value) => value === null) ? null : gitInfo;
}
