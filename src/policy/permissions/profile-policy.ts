import { sep } from 'node:path';
import type { ReadOnlyAccess, SandboxPolicy } from '../../protocol/generated/types.ts';
import type { Access, ProfileTable } from './profile-table.ts';

/** The sandbox policy that means the same as a permission profile, or why there is none. */
export function profilePolicy({ filesystem, workspaceRoots, network }: ProfileTable): SandboxPolicy | { problem: string } {
  const problem = unkeepable(filesystem);
  if (problem !== null) return { problem };
  if (filesystem.get(':root') === 'write')
    return network ? { type: 'dangerFullAccess' } : { ...workspaceWrite(filesystem, network), writableRoots: ['/'] };
  const workspace = filesystem.get(':workspace_roots') ?? filesystem.get(':root');
  if (workspace === undefined || workspace === 'deny') return { problem: 'it does not let commands read the workspace they run in' };
  const access = readAccess(filesystem, workspaceRoots);
  if (workspace === 'write') {
    const policy = workspaceWrite(filesystem, network);
    return {
      ...policy,
      writableRoots: [...policy.writableRoots, ...workspaceRoots],
      ...(access === null ? {} : { readOnlyAccess: access }),
    };
  }
  const writable = places(filesystem, 'write')[0];
  if (writable !== undefined) return { problem: `it lets commands write \`${writable}\`, and not the workspace they run in` };
  return { type: 'readOnly', networkAccess: network, ...(access === null ? {} : { access }) };
}

function workspaceWrite(filesystem: ReadonlyMap<string, Access>, networkAccess: boolean) {
  return {
    type: 'workspaceWrite' as const,
    writableRoots: places(filesystem, 'write').filter(isPath),
    networkAccess,
    excludeTmpdirEnvVar: filesystem.get(':tmpdir') !== 'write',
    excludeSlashTmp: filesystem.get(':slash_tmp') !== 'write',
  };
}

/** Null: everything can be read. */
function readAccess(filesystem: ReadonlyMap<string, Access>, workspaceRoots: readonly string[]): ReadOnlyAccess | null {
  if (filesystem.get(':root') === 'read') return null;
  const tmp = filesystem.get(':slash_tmp') === 'read' ? ['/tmp'] : [];
  return {
    type: 'restricted',
    readableRoots: [...[...places(filesystem, 'read'), ...places(filesystem, 'write')].filter(isPath), ...tmp, ...workspaceRoots],
    includePlatformDefaults: filesystem.get(':minimal') === 'read' || filesystem.get(':minimal') === 'write',
  };
}

/** What of a profile no policy says; null when there is nothing. */
function unkeepable(filesystem: ReadonlyMap<string, Access>): string | null {
  for (const [place, access] of filesystem) {
    if (/[*?[]/.test(place)) return `it names files by a pattern: \`${place}\``;
    if (access === 'deny' && place !== ':root') return `it denies \`${place}\`, and only what is allowed can be said`;
    if (place.startsWith(':') && place.includes(sep)) return `it treats \`${place}\` apart from the workspace`;
    if (place === ':tmpdir' && access === 'read') return 'it lets commands read, and not write, what $TMPDIR names';
    if (access === 'read' && isPath(place) && places(filesystem, 'write').some((root) => isPath(root) && place.startsWith(`${root}${sep}`)))
      return `it lets commands read, and not write, \`${place}\`, which lies in what they can write`;
  }
  return null;
}

function places(filesystem: ReadonlyMap<string, Access>, wanted: Access): string[] {
  return [...filesystem].filter(([place, access]) => access === wanted && place !== ':root').map(([place]) => place);
}

function isPath(place: string): boolean {
  return !place.startsWith(':');
}
