import { isDeepStrictEqual } from 'node:util';
import { withWorkspaceRoots } from '../../policy/permissions/complete-sandbox-policy.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { ThreadSettings } from '../../store/thread-record.ts';

/** The announcement that a thread's next turn has other settings; empty if they are the same. */
export function settingsChange(
  threadId: string,
  before: ThreadSettings,
  now: ThreadSettings,
): Announcement[] {
  return before === now || isDeepStrictEqual(before, now)
    ? []
    : [settingsAnnouncement(threadId, now)];
}

/** The announcement of the settings that a thread's next turn will have. */
export function settingsAnnouncement(
  threadId: string,
  now: ThreadSettings,
): Announcement & { method: 'thread/settings/updated' } {
  const threadSettings = {
    cwd: now.cwd,
    approvalPolicy: now.approvalPolicy,
    approvalsReviewer: now.approvalsReviewer,
    sandboxPolicy: withWorkspaceRoots(now.sandboxPolicy, now.workspaceRoots ?? []),
    activePermissionProfile: now.permissionProfile ?? null,
    model: now.model,
    modelProvider: now.modelProvider,
    serviceTier: now.serviceTier,
    effort: now.effort,
    summary: now.summary,
    personality: now.personality,
    collaborationMode: now.collaborationMode,
    multiAgentMode: now.multiAgentMode ?? ('explicitRequestOnly' as const),
    disabledPluginIds: [],
    environments: now.withoutProject ? [] : null,
  };
  return { method: 'thread/settings/updated', params: { threadId, threadSettings } };
}
