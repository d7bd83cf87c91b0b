import type { SandboxMode, SandboxPolicy } from '../protocol/generated/types.ts';

const MODES: ReadonlyMap<string, SandboxMode> = new Map([
  [':read-only', 'read-only'],
  [':workspace', 'workspace-write'],
  [':danger-full-access', 'danger-full-access'],
]);

/** The ids of the permission profiles that there are. */
export const PERMISSION_PROFILES: readonly string[] = [...MODES.keys()];

/** The sandbox mode that a permission profile stands for; null for an id that there is none of. */
export function profileMode(id: string): SandboxMode | null {
  return MODES.get(id) ?? null;
}

/** The sandbox policy of a mode, with nothing added to it. */
export function plainPolicy(mode: SandboxMode): SandboxPolicy {
  switch (mode) {
    case 'read-only':
      return { type: 'readOnly' };
    case 'workspace-write':
      return { type: 'workspaceWrite' };
    case 'danger-full-access':
      return { type: 'dangerFullAccess' };
    default:
      return mode satisfies never;
  }
}
