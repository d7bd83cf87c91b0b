import { isDeepStrictEqual } from 'node:util';
import { isWithin } from '../../base/paths/is-within.ts';
import { narrowerSandbox } from '../../policy/permissions/narrower-sandbox.ts';
import { isProtectedName } from '../../policy/permissions/sandbox-bounds.ts';
import { stricterApprovals } from '../../policy/permissions/stricter-approvals.ts';
import type { SandboxPolicy } from '../../protocol/generated/types.ts';
import type { ThreadSettings } from '../../store/thread-store.ts';

type Confinement = Pick<ThreadSettings, 'cwd' | 'sandboxPolicy' | 'approvalPolicy' | 'approvalsReviewer'> &
  Pick<ThreadSettings, 'permissionProfile' | 'workspaceRoots'>;

/** The sandbox and the approvals of an agent: what both its own settings and `own`, those of the thread that it works for, allow. */
export function confinedSettings(agent: ThreadSettings, own: ThreadSettings): Confinement {
  const { permissionProfile = null, workspaceRoots = [] } = own;
  const sandboxPolicy = narrowerSandbox(agent.sandboxPolicy, own.sandboxPolicy, [own.cwd, ...workspaceRoots]);
  // A profile also decides about unix sockets and hosts, so the agent's sandbox keeps that of the thread.
  const keepsProfile = sandboxPolicy.type === own.sandboxPolicy.type;
  return {
    cwd: mayWorkIn(agent.cwd, own) ? agent.cwd : own.cwd,
    sandboxPolicy: keepsProfile || permissionProfile === null ? sandboxPolicy : withoutNetwork(sandboxPolicy),
    permissionProfile: keepsProfile ? permissionProfile : null,
    workspaceRoots,
    approvalPolicy: stricterApprovals(agent.approvalPolicy, own.approvalPolicy),
    approvalsReviewer: own.approvalsReviewer,
  };
}

/** The settings of an agent with this confinement: the same object if they have it already. */
export function confined(agent: ThreadSettings, own: ThreadSettings): ThreadSettings {
  const settings = { ...agent, ...confinedSettings(agent, own) };
  return isDeepStrictEqual(settings, agent) ? agent : settings;
}

/** Whether commands of the thread may do in this folder what a sandbox allows in its working directory. */
function mayWorkIn(folder: string, { cwd, workspaceRoots = [], sandboxPolicy }: ThreadSettings): boolean {
  const workspace = [cwd, ...workspaceRoots];
  switch (sandboxPolicy.type) {
    case 'dangerFullAccess':
    case 'externalSandbox':
      return true;
    case 'readOnly': {
      const { access } = sandboxPolicy;
      return access?.type !== 'restricted' || liesIn(folder, [...workspace, ...(access.readableRoots ?? [])]);
    }
    case 'workspaceWrite':
      return liesIn(folder, [...workspace, ...(sandboxPolicy.writableRoots ?? [])]);
    default:
      return sandboxPolicy satisfies never;
  }
}

/** Whether the folder is in one of the others, and not in a protected part of it. */
function liesIn(folder: string, roots: readonly string[]): boolean {
  return roots.some((root) => isWithin(folder, root) && !folder.slice(root.length).split('/').some(isProtectedName));
}

function withoutNetwork(policy: SandboxPolicy): SandboxPolicy {
  return policy.type === 'readOnly' || policy.type === 'workspaceWrite' ? { ...policy, networkAccess: false } : policy;
}
