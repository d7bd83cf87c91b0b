import { resolve } from 'node:path';
import { noRolloutFound } from '../protocol/errors/thread-errors.ts';
import type { ConversationSummary } from '../protocol/generated/types.ts';
import { invalidParams } from '../protocol/rpc-error.ts';
import type { ThreadRecord } from '../store/thread-record.ts';
import { type MethodTable, unqueued } from './requested/method.ts';
import { threadAt } from './thread-loading/thread-at.ts';
import type { ThreadServices } from './thread-loading/thread-services.ts';

export function getConversationSummaryMethods(deps: ThreadServices & { home: string }) {
  return {
    getConversationSummary: {
      order: unqueued,
      async handle({ rolloutPath, conversationId }, { caller }) {
        if (rolloutPath)
          return {
            summary: summaryOf(await threadAt(deps, resolve(deps.home, rolloutPath), caller)),
          };
        if (!conversationId)
          throw invalidParams('params.rolloutPath or params.conversationId must be given');
        return { summary: summaryOf(await deps.threads.record(conversationId, noRolloutFound)) };
      },
    },
  } satisfies Partial<MethodTable>;
}

/**
 * Throws for a thread that has no rollout: one that is ephemeral, or of which nothing has been
 * said.
 */
function summaryOf(record: ThreadRecord): ConversationSummary {
  const { id, path, gitInfo, settings } = record;
  if (path === null || !record.listed) throw noRolloutFound(id);
  return {
    conversationId: id,
    path,
    preview: record.preview,
    timestamp: new Date(record.createdAtMs).toISOString(),
    updatedAt: new Date(record.updatedAtMs).toISOString(),
    modelProvider: settings.modelProvider,
    cwd: settings.cwd,
    cliVersion: record.cliVersion,
    source: record.source,
    gitInfo: gitInfo && { sha: gitInfo.sha, branch: gitInfo.branch, origin_url: gitInfo.originUrl },
  };
}
