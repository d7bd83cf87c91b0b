import type { LoadedThread } from '../../agent/threads/loaded-thread.ts';
import { workspaceRoots } from '../../agent/threads/thread-view.ts';
import { withWorkspaceRoots } from '../../policy/permissions/complete-sandbox-policy.ts';
import type { ThreadStartResponse } from '../../protocol/generated/types.ts';

/** The settings that the thread's next turn will use. */
export function settingsAnswer({
  settings,
  configuration,
}: LoadedThread): Omit<ThreadStartResponse, 'thread'> {
  return {
    model: settings.model,
    modelProvider: settings.modelProvider,
    serviceTier: settings.serviceTier,
    disabledPluginIds: [],
    cwd: settings.cwd,
    instructionSources: configuration.instructions.sources,
    approvalPolicy: settings.approvalPolicy,
    approvalsReviewer: settings.approvalsReviewer,
    sandbox: withWorkspaceRoots(settings.sandboxPolicy, settings.workspaceRoots ?? []),
    activePermissionProfile: settings.permissionProfile ?? null,
    runtimeWorkspaceRoots: workspaceRoots(settings),
    reasoningEffort: settings.effort,
    multiAgentMode: settings.multiAgentMode ?? 'explicitRequestOnly',
  };
}
