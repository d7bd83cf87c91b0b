import {
  emptyMetadataField,
  emptyMetadataUpdate,
  projectNotFound,
} from '../../../protocol/errors/thread-errors.ts';
import type {
  GitInfo,
  ThreadMetadataGitInfoUpdateParams,
  ThreadMetadataUpdateParams,
} from '../../../protocol/generated/types.ts';
import { type MethodTable, perThread } from '../../requested/method.ts';
import { updateThreadRecord } from '../../thread-changes/update-thread-record.ts';
import type { ThreadServices } from '../../thread-loading/thread-services.ts';

const GIT_FIELDS = ['sha', 'branch', 'originUrl'] as const;

export function metadataMethods(deps: ThreadServices) {
  return {
    'thread/metadata/update': {
      order: perThread,
      async handle(params) {
        check(params);
        const { threadId, gitInfo, daybreakEnabled } = params;
        const record = await updateThreadRecord(deps, threadId, {
          ...(gitInfo ? { gitFields: changedFields(gitInfo) } : {}),
          ...(typeof daybreakEnabled === 'boolean' ? { daybreakEnabled } : {}),
        });
        return { thread: deps.threads.view(record) };
      },
    },
  } satisfies Partial<MethodTable>;
}

/**
 * Throws if the params change nothing, or if a change is impossible. There are no projects, so a
 * thread cannot enter one.
 */
function check({ gitInfo, projectId, daybreakEnabled }: ThreadMetadataUpdateParams): void {
  const changesAnything = [gitInfo, projectId, daybreakEnabled].some(
    (value) => value !== null && value !== undefined,
  );
  if (!changesAnything) throw emptyMetadataUpdate('thread metadata update');
  if (projectId) throw projectNotFound(projectId);
  if (!gitInfo) return;
  if (GIT_FIELDS.every((field) => gitInfo[field] === undefined))
    throw emptyMetadataUpdate('gitInfo');
  for (const field of GIT_FIELDS)
    if (gitInfo[field]?.trim() === '') throw emptyMetadataField(`gitInfo.${field}`);
}

/** The fields that a client names, trimmed. Null removes one. */
function changedFields(patch: ThreadMetadataGitInfoUpdateParams): Partial<GitInfo> {
  const named = GIT_FIELDS.filter((field) => patch[field] !== undefined);
  return Object.fromEntries(named.map((field) => [field, patch[field]?.trim() ?? null]));
}
