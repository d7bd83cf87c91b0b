import type { AskForApproval, SandboxMode } from '../protocol/generated/types.ts';

/** The values of `sandbox_mode`. */
export const SANDBOX_MODES = ['read-only', 'workspace-write', 'danger-full-access'] as const satisfies readonly SandboxMode[];

/** The values of `approval_policy` that are strings. */
export const APPROVAL_POLICIES = ['untrusted', 'on-failure', 'on-request', 'never'] as const satisfies readonly AskForApproval[];
