import { isDeepStrictEqual } from 'node:util';
import { narrowerSandbox } from '../../policy/permissions/narrower-sandbox.ts';
import { stricterApprovals } from '../../policy/permissions/stricter-approvals.ts';
import type { ThreadSettings } from '../../store/thread-store.ts';

type Confinement = Pick<ThreadSettings, 'sandboxPolicy' | 'approvalPolicy' | 'approvalsReviewer'> &
  Pick<ThreadSettings, 'permissionProfile' | 'workspaceRoots'>;

/** The sandbox and the approvals of an agent: what both its own settings and `own`, those of the thread that it works for, allow. */
export function confinedSettings(agent: ThreadSettings, own: ThreadSettings): Confinement {
  const { permissionProfile = null, workspaceRoots = [] } = own;
  const sandboxPolicy = narrowerSandbox(agent.sandboxPolicy, own.sandboxPolicy, [own.cwd, ...workspaceRoots]);
  return {
    sandboxPolicy,
    // A profile also decides about unix sockets and hosts, so the agent keeps that of the thread. A built-in one only names a sandbox.
    permissionProfile: sandboxPolicy.type !== own.sandboxPolicy.type && permissionProfile?.id.startsWith(':') ? null : permissionProfile,
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
