import type { ThreadSettings } from '../../store/thread-store.ts';

const SANDBOXES = ['readOnly', 'workspaceWrite', 'externalSandbox', 'dangerFullAccess'];
const APPROVALS = ['untrusted', 'on-request', 'on-failure'];

type Confinement = Pick<ThreadSettings, 'sandboxPolicy' | 'approvalPolicy' | 'approvalsReviewer'> &
  Pick<ThreadSettings, 'permissionProfile' | 'workspaceRoots'>;

/** The sandbox and the approvals of an agent: those of the thread that it works for, `own`, unless the agent's are stricter. */
export function confinedSettings(agent: ThreadSettings, own: ThreadSettings): Confinement {
  const { sandboxPolicy, permissionProfile = null, workspaceRoots = [], approvalPolicy, approvalsReviewer } = own;
  const isStricter = SANDBOXES.indexOf(agent.sandboxPolicy.type) < SANDBOXES.indexOf(sandboxPolicy.type);
  return {
    ...(isStricter
      ? {
          sandboxPolicy: agent.sandboxPolicy,
          permissionProfile: agent.permissionProfile ?? null,
          workspaceRoots: agent.workspaceRoots ?? [],
        }
      : { sandboxPolicy, permissionProfile, workspaceRoots }),
    approvalPolicy: asksMore(agent.approvalPolicy, approvalPolicy) ? agent.approvalPolicy : approvalPolicy,
    approvalsReviewer,
  };
}

/** Whether one policy asks about all that the other asks about. Only policies that are words can be compared. */
function asksMore(role: ThreadSettings['approvalPolicy'], own: ThreadSettings['approvalPolicy']): boolean {
  if (typeof role !== 'string' || typeof own !== 'string' || !APPROVALS.includes(role) || !APPROVALS.includes(own)) return false;
  return APPROVALS.indexOf(role) < APPROVALS.indexOf(own);
}
