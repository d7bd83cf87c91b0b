import { isDeepStrictEqual } from 'node:util';
import { isWithin } from '../../base/paths/is-within.ts';
import type { ReadOnlyAccess, SandboxPolicy } from '../../protocol/generated/types.ts';

type Confining = Extract<SandboxPolicy, { type: 'readOnly' | 'workspaceWrite' }>;

/**
 * Returns the policy that allows what both policies allow, and nothing else. `workspace`: the
 * folders that both can write without naming.
 */
export function narrowerSandbox(
  one: SandboxPolicy,
  other: SandboxPolicy,
  workspace: readonly string[],
): SandboxPolicy {
  if (one.type === 'dangerFullAccess' || isDeepStrictEqual(one, other)) return other;
  if (other.type === 'dangerFullAccess') return one;
  if (one.type === 'externalSandbox')
    return other.type === 'externalSandbox' ? bothExternal(one, other) : withoutNetwork(other, one);
  if (other.type === 'externalSandbox') return withoutNetwork(one, other);
  return bothConfining(one, other, workspace);
}

type External = Extract<SandboxPolicy, { type: 'externalSandbox' }>;

function bothExternal(one: External, other: External): External {
  return one.networkAccess === 'enabled' ? other : one;
}

/** The confining policy, without the network if the client's own sandbox has none. */
function withoutNetwork(policy: Confining, { networkAccess }: External): Confining {
  return networkAccess === 'enabled' ? policy : { ...policy, networkAccess: false };
}

function bothConfining(one: Confining, other: Confining, workspace: readonly string[]): Confining {
  const access = narrowerAccess(readAccess(one), readAccess(other));
  const networkAccess = one.networkAccess === true && other.networkAccess === true;
  if (one.type === 'readOnly' || other.type === 'readOnly')
    return { type: 'readOnly', networkAccess, ...(access && { access }) };
  const roots = (policy: Extract<Confining, { type: 'workspaceWrite' }>) => [
    ...(policy.writableRoots ?? []),
    ...workspace,
  ];
  const shared = sharedRoots(roots(one), roots(other));
  return {
    type: 'workspaceWrite',
    networkAccess,
    writableRoots: shared.filter((root) => !workspace.some((folder) => isWithin(root, folder))),
    excludeTmpdirEnvVar: one.excludeTmpdirEnvVar === true || other.excludeTmpdirEnvVar === true,
    excludeSlashTmp: one.excludeSlashTmp === true || other.excludeSlashTmp === true,
    ...(access && { readOnlyAccess: access }),
  };
}

function readAccess(policy: Confining): ReadOnlyAccess | null {
  return (policy.type === 'readOnly' ? policy.access : policy.readOnlyAccess) ?? null;
}

/** Null: everything can be read. */
function narrowerAccess(
  one: ReadOnlyAccess | null,
  other: ReadOnlyAccess | null,
): ReadOnlyAccess | null {
  if (one?.type !== 'restricted') return other;
  if (other?.type !== 'restricted') return one;
  return {
    type: 'restricted',
    readableRoots: sharedRoots(one.readableRoots ?? [], other.readableRoots ?? []),
    includePlatformDefaults:
      one.includePlatformDefaults !== false && other.includePlatformDefaults !== false,
  };
}

/** The folders that lie below a root of both lists. */
function sharedRoots(one: readonly string[], other: readonly string[]): string[] {
  const below = (roots: readonly string[], outer: readonly string[]) =>
    roots.filter((root) => outer.some((each) => isWithin(root, each)));
  return [...new Set([...below(one, other), ...below(other, one)])];
}
