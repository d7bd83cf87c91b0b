import { isAbsolute } from 'node:path';
import type { SandboxPolicy } from '../../protocol/generated/types.ts';

/**
 * Fills in the defaults of the fields that a policy leaves out. Fields that a client set stay
 * unchanged.
 */
export function completeSandboxPolicy(policy: SandboxPolicy): SandboxPolicy {
  switch (policy.type) {
    case 'dangerFullAccess':
      return policy;
    case 'readOnly':
      return { ...policy, networkAccess: policy.networkAccess ?? false };
    case 'externalSandbox':
      return { ...policy, networkAccess: policy.networkAccess ?? 'restricted' };
    case 'workspaceWrite':
      return {
        ...policy,
        writableRoots: policy.writableRoots ?? [],
        networkAccess: policy.networkAccess ?? false,
        excludeTmpdirEnvVar: policy.excludeTmpdirEnvVar ?? false,
        excludeSlashTmp: policy.excludeSlashTmp ?? false,
      };
    default:
      return policy satisfies never;
  }
}

/**
 * Returns a policy as clients see it: the further folders of the workspace are among the writable
 * roots.
 */
export function withWorkspaceRoots(policy: SandboxPolicy, roots: readonly string[]): SandboxPolicy {
  if (policy.type !== 'workspaceWrite' || roots.length === 0) return policy;
  return { ...policy, writableRoots: [...new Set([...(policy.writableRoots ?? []), ...roots])] };
}

/** Returns the read-only form of a policy: the same read access, no write access and no network. */
export function readingOnly(policy: SandboxPolicy): SandboxPolicy {
  const access =
    policy.type === 'readOnly'
      ? policy.access
      : policy.type === 'workspaceWrite'
        ? policy.readOnlyAccess
        : undefined;
  return { type: 'readOnly', networkAccess: false, ...(access === undefined ? {} : { access }) };
}

/**
 * Returns the first path of a policy that is not absolute, and the name of its field. Returns null
 * if all are absolute.
 */
export function relativePathIn(policy: SandboxPolicy): { field: string; path: string } | null {
  const lists: [string, readonly string[]][] = [];
  if (policy.type === 'workspaceWrite')
    lists.push(
      ['writableRoots', policy.writableRoots ?? []],
      ['readOnlyAccess.readableRoots', readableRoots(policy.readOnlyAccess)],
    );
  if (policy.type === 'readOnly')
    lists.push(['access.readableRoots', readableRoots(policy.access)]);
  for (const [name, paths] of lists) {
    const index = paths.findIndex((path) => !isAbsolute(path));
    if (index !== -1) return { field: `${name}[${index}]`, path: paths[index] ?? '' };
  }
  return null;
}

function readableRoots(
  access: { type: string; readableRoots?: readonly string[] | null } | null | undefined,
): readonly string[] {
  return access?.readableRoots ?? [];
}
