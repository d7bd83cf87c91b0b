import type { Config } from '../../../config/config.ts';
import { isAllowed } from '../../../config/requirements/requirements.ts';
import type {
  ApprovalsReviewer,
  AskForApproval,
  SandboxMode,
  SandboxPolicy,
} from '../../../protocol/generated/types.ts';
import { refused } from '../../../protocol/rpc-error.ts';

interface RequestedSettings {
  approvalPolicy?: AskForApproval | null | undefined;
  approvalsReviewer?: ApprovalsReviewer | null | undefined;
  sandboxPolicy?: SandboxPolicy | null | undefined;
}

/** A setting that the administrator does not allow. */
export interface NotAllowed {
  setting: 'approvalPolicy' | 'approvalsReviewer' | 'sandboxPolicy';
  /** A part of a sentence, which names the value and those that are allowed. */
  problem: string;
}

/** Returns all of these settings that the administrator does not allow. */
export function notAllowed(
  config: Config,
  { approvalPolicy, approvalsReviewer, sandboxPolicy }: RequestedSettings,
): NotAllowed[] {
  const { approvalPolicies, reviewers, sandboxModes } = config.requirements;
  const mode = sandboxPolicy ? sandboxModeOf(sandboxPolicy) : null;
  const found: NotAllowed[] = [];
  const check = <T>(
    setting: NotAllowed['setting'],
    what: string,
    [value, allowed]: [T | null | undefined, readonly T[] | null],
  ) => {
    if (value && !isAllowed(value, allowed))
      found.push({ setting, problem: listed(what, value, allowed) });
  };
  check('approvalPolicy', 'approval policy', [approvalPolicy, approvalPolicies]);
  check('approvalsReviewer', 'reviewer', [approvalsReviewer, reviewers]);
  check('sandboxPolicy', 'sandbox', [mode, sandboxModes]);
  return found;
}

/**
 * Throws an RpcError that names the values and the file if the administrator does not allow one of
 * these settings.
 */
export function checkRequired(config: Config, settings: RequestedSettings): void {
  const problems = notAllowed(config, settings).map(({ problem }) => problem);
  if (problems.length > 0)
    throw refused(
      'not_allowed',
      `${problems.join('; ')} (${config.requirements.source.locate([]).path})`,
    );
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
