import { isDeepStrictEqual } from 'node:util';
import { isWithin } from '../../base/paths/is-within.ts';
import { AGENT_PLAN_MODE, isAgentPlanMode } from '../../instructions/collaboration-mode-text.ts';
import { narrowerSandbox } from '../../policy/permissions/narrower-sandbox.ts';
import { isProtectedName } from '../../policy/permissions/sandbox-bounds.ts';
import { stricterApprovals } from '../../policy/permissions/stricter-approvals.ts';
import type { CollaborationMode, SandboxPolicy } from '../../protocol/generated/types.ts';
import type { ThreadSettings } from '../../store/thread-store.ts';

type Confinement = Pick<ThreadSettings, 'sandboxPolicy' | 'approvalPolicy' | 'approvalsReviewer'> &
  Pick<ThreadSettings, 'cwd' | 'collaborationMode' | 'permissionProfile' | 'workspaceRoots'>;

/**
 * The sandbox and the approvals of an agent: what both its own settings and `own`, those of the thread that it works for, allow. It works
 * in its own folder, unless the sandbox would then allow more than that of the thread does. It is in plan mode while the thread is.
 */
export function confinedSettings(agent: ThreadSettings, own: ThreadSettings): Confinement {
  const { permissionProfile = null, workspaceRoots = [] } = own;
  const sandboxPolicy = narrowerSandbox(agent.sandboxPolicy, own.sandboxPolicy, [own.cwd, ...workspaceRoots]);
  return {
    sandboxPolicy,
    cwd: mayWorkIn(agent.cwd, { sandboxPolicy, own }) ? agent.cwd : own.cwd,
    // A profile also decides about unix sockets and hosts, so the agent keeps that of the thread. A built-in one only names a sandbox.
    permissionProfile: sandboxPolicy.type !== own.sandboxPolicy.type && permissionProfile?.id.startsWith(':') ? null : permissionProfile,
    workspaceRoots,
    approvalPolicy: stricterApprovals(agent.approvalPolicy, own.approvalPolicy),
    approvalsReviewer: own.approvalsReviewer,
    collaborationMode: confinedMode(agent.collaborationMode, own.collaborationMode),
  };
}

/** The settings of an agent with this confinement: the same object if they have it already. */
export function confined(agent: ThreadSettings, own: ThreadSettings): ThreadSettings {
  const settings = { ...agent, ...confinedSettings(agent, own) };
  return isDeepStrictEqual(settings, agent) ? agent : settings;
}

function confinedMode(agent: CollaborationMode, own: CollaborationMode): CollaborationMode {
  const withInstructions = (mode: CollaborationMode['mode'], instructions: string | null): CollaborationMode => ({
    mode,
    settings: { ...agent.settings, developer_instructions: instructions },
  });
  if (own.mode === 'plan' && agent.mode !== 'plan') return withInstructions('plan', AGENT_PLAN_MODE);
  return own.mode !== 'plan' && isAgentPlanMode(agent) ? withInstructions('default', null) : agent;
}

/** Whether a process in this folder may do no more than one of the thread: a sandbox opens the folder that it works in. */
function mayWorkIn(cwd: string, { sandboxPolicy: policy, own }: { sandboxPolicy: SandboxPolicy; own: ThreadSettings }): boolean {
  const workspace = [own.cwd, ...(own.workspaceRoots ?? [])];
  const writable = writableRoots(own.sandboxPolicy);
  const readable = readableRoots(own.sandboxPolicy);
  const isWritable = policy.type !== 'workspaceWrite' || isInside(cwd, writable, workspace);
  return isWritable && (readableRoots(policy) === null || isInside(cwd, readable, workspace));
}

/** Whether the folder is in one of the roots, and not in a protected part of it. Null: every folder is. */
function isInside(folder: string, roots: readonly string[] | null, workspace: readonly string[]): boolean {
  const isOpen = (root: string) => isWithin(folder, root) && !folder.slice(root.length).split('/').some(isProtectedName);
  return roots === null || [...workspace, ...roots].some(isOpen);
}

/** The folders beside the workspace that can be written. Null: all. */
function writableRoots(policy: SandboxPolicy): readonly string[] | null {
  if (policy.type === 'readOnly') return [];
  return policy.type === 'workspaceWrite' ? (policy.writableRoots ?? []) : null;
}

/** The folders beside the workspace that can be read. Null: all. */
function readableRoots(policy: SandboxPolicy): readonly string[] | null {
  if (policy.type === 'dangerFullAccess' || policy.type === 'externalSandbox') return null;
  const access = policy.type === 'readOnly' ? policy.access : policy.readOnlyAccess;
  return access?.type === 'restricted' ? (access.readableRoots ?? []) : null;
}
