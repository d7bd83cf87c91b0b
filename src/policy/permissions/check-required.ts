import type { Config } from '../../config/config.ts';
import { isAllowed } from '../../config/requirements/requirements.ts';
import type { ApprovalsReviewer, AskForApproval, SandboxMode, SandboxPolicy } from '../../protocol/generated/types.ts';
import { refused } from '../../protocol/rpc-error.ts';

interface RequestedSettings {
  approvalPolicy?: AskForApproval | null | undefined;
  approvalsReviewer?: ApprovalsReviewer | null | undefined;
  sandboxPolicy?: SandboxPolicy | null | undefined;
}

/** Returns what the administrator does not allow in these settings, as a part of a sentence, or null. */
export function notAllowed(config: Config, { approvalPolicy, approvalsReviewer, sandboxPolicy }: RequestedSettings): string | null {
  const { approvalPolicies, reviewers, sandboxModes } = config.requirements;
  if (approvalPolicy && !isAllowed(approvalPolicy, approvalPolicies)) return listed('approval policy', approvalPolicy, approvalPolicies);
  if (approvalsReviewer && !isAllowed(approvalsReviewer, reviewers)) return listed('reviewer', approvalsReviewer, reviewers);
  const mode = sandboxPolicy ? sandboxModeOf(sandboxPolicy) : null;
  return mode !== null && !isAllowed(mode, sandboxModes) ? listed('sandbox', mode, sandboxModes) : null;
}

/** Throws an RpcError that names the value and the file if the administrator does not allow one of these settings. */
export function checkRequired(config: Config, settings: RequestedSettings): void {
  const problem = notAllowed(config, settings);
  if (problem !== null) throw refused('not_allowed', `${problem} (${config.requirements.source.locate([]).path})`);
}

function listed(what: string, value: unknown, allowed: readonly unknown[] | null): string {
  const choices = (allowed ?? []).map((one) => JSON.stringify(one)).join(', ');
  return `the ${what} ${JSON.stringify(value)} is not allowed on this machine: expected one of ${choices}`;
}

/** The mode that a policy belongs to. An external sandbox has no bounds of heddle. */
export function sandboxModeOf({ type }: SandboxPolicy): SandboxMode {
  switch (type) {
    case 'readOnly':
      return 'read-only';
    case 'workspaceWrite':
      return 'workspace-write';
    case 'dangerFullAccess':
    case 'externalSandbox':
      return 'danger-full-access';
    default:
      return type satisfies never;
  }
}
