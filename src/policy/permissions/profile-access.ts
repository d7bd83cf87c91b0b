import { sep } from 'node:path';
import type { HiddenPattern } from '../../config/inherited-limits.ts';
import type { ReadOnlyAccess, SandboxPolicy } from '../../protocol/generated/types.ts';
import { setsNetwork } from '../network/read-network-table.ts';
import { hiddenPath, patternsFrom, problemOfPattern } from './hidden-files.ts';
import type { FileAccess, ProfileTable } from './profile-table.ts';

/** What a permission profile results in. */
export interface ProfileAccess {
  policy: SandboxPolicy;
  /** The files that are hidden in the sandbox of the policy. */
  hidden: readonly HiddenPattern[];
}

/**
 * Returns the sandbox that is equivalent to a permission profile, or the reason why there is none.
 */
export function profileAccess(table: ProfileTable): ProfileAccess | { problem: string } {
  const denied = keysWith(table.filesystem, 'deny');
  const problem = unenforceable(table.filesystem, denied);
  if (problem !== null) return { problem };
  // The folders that the profile adds to the workspace are known only here.
  const hidden = table.workspaceRoots.reduce(patternsFrom, [
    ...table.hidden,
    ...denied.map(hiddenPath),
  ]);
  for (const pattern of hidden) {
    const why = problemOfPattern(pattern);
    if (why !== null) return { problem: `\`${pattern.path}\`: ${why}` };
  }
  const policy = profilePolicy(table, hidden.length > 0);
  return 'problem' in policy ? policy : { policy, hidden };
}

function profilePolicy(
  { filesystem, workspaceRoots, network: { enabled: network, limits } }: ProfileTable,
  hides: boolean,
): SandboxPolicy | { problem: string } {
  if (filesystem.get(':root') === 'write')
    // Limits of the network need a sandbox, and so do hidden files.
    return network && !hides && !setsNetwork(limits)
      ? { type: 'dangerFullAccess' }
      : { ...workspaceWrite(filesystem, network), writableRoots: ['/'] };
  const workspace = filesystem.get(':workspace_roots') ?? filesystem.get(':root');
  if (workspace === undefined || workspace === 'deny')
    return { problem: 'it does not allow commands to read the workspace' };
  const access = readAccess(filesystem, workspaceRoots);
  if (workspace === 'write') {
    const policy = workspaceWrite(filesystem, network);
    return {
      ...policy,
      writableRoots: [...policy.writableRoots, ...workspaceRoots],
      ...(access === null ? {} : { readOnlyAccess: access }),
    };
  }
  const writable = keysWith(filesystem, 'write')[0];
  if (writable !== undefined)
    return { problem: `it allows commands to write \`${writable}\` but not the workspace` };
  return { type: 'readOnly', networkAccess: network, ...(access === null ? {} : { access }) };
}

/** Names of places that cannot be denied, and paths below them. */
const WITHOUT_PATH = /^\/$|^:(?!root$|workspace_roots\/)/;

function workspaceWrite(filesystem: ReadonlyMap<string, FileAccess>, networkAccess: boolean) {
  return {
    type: 'workspaceWrite' as const,
    writableRoots: keysWith(filesystem, 'write').filter(isPath),
    networkAccess,
    excludeTmpdirEnvVar: filesystem.get(':tmpdir') !== 'write',
    excludeSlashTmp: filesystem.get(':slash_tmp') !== 'write',
  };
}

/** Returns null if everything can be read. */
function readAccess(
  filesystem: ReadonlyMap<string, FileAccess>,
  workspaceRoots: readonly string[],
): ReadOnlyAccess | null {
  if (filesystem.get(':root') === 'read') return null;
  const tmp = filesystem.get(':slash_tmp') === 'read' ? ['/tmp'] : [];
  return {
    type: 'restricted',
    readableRoots: [
      ...[...keysWith(filesystem, 'read'), ...keysWith(filesystem, 'write')].filter(isPath),
      ...tmp,
      ...workspaceRoots,
    ],
    includePlatformDefaults:
      filesystem.get(':minimal') === 'read' || filesystem.get(':minimal') === 'write',
  };
}

/**
 * Returns the first entry that no sandbox policy can express, as a reason. Returns null if there is
 * none.
 */
function unenforceable(
  filesystem: ReadonlyMap<string, FileAccess>,
  denied: readonly string[],
): string | null {
  const name = denied.find((key) => WITHOUT_PATH.test(key));
  if (name !== undefined) return `it denies \`${name}\``;
  for (const [key, access] of filesystem) {
    if (access === 'deny') continue;
    const above = denied.find((folder) => key.startsWith(`${folder}${sep}`));
    if (above !== undefined) return `it denies \`${above}\` but not \`${key}\`, which is inside it`;
    if (key.startsWith(':') && key.includes(sep))
      return `it sets the access to \`${key}\` separately`;
    if (key === ':tmpdir' && access === 'read')
      return 'it allows commands to read but not to write the folder that $TMPDIR names';
    if (
      access === 'read' &&
      isPath(key) &&
      keysWith(filesystem, 'write').some((root) => isPath(root) && key.startsWith(`${root}${sep}`))
    )
      return `it allows commands to read but not to write \`${key}\`, which is inside a folder that they can write`;
  }
  return null;
}

function keysWith(filesystem: ReadonlyMap<string, FileAccess>, wanted: FileAccess): string[] {
  return [...filesystem]
    .filter(([key, access]) => access === wanted && key !== ':root')
    .map(([key]) => key);
}

function isPath(key: string): boolean {
  return !key.startsWith(':');
}
