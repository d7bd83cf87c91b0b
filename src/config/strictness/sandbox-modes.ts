import type { SandboxMode } from '../../protocol/generated/types.ts';

/** The values of `sandbox_mode`, the strictest first. */
export const SANDBOX_MODES = [
  'read-only',
  'workspace-write',
  'danger-full-access',
] as const satisfies readonly SandboxMode[];
