import fc from 'fast-check';
import { isReadable, isWritable } from '../../src/policy/permissions/is-writable.ts';
import { sandboxBounds } from '../../src/policy/permissions/sandbox-bounds.ts';
import type { ReadOnlyAccess, SandboxPolicy } from '../../src/protocol/generated/types.ts';

/** The folders that the policies name. */
export const FOLDERS = [
  '/project',
  '/project/a',
  '/project/a/b',
  '/other',
  '/other/c',
  '/tmp/x',
  '/temp',
];
const PATHS = [...FOLDERS, '/tmp', '/', '/usr/bin/x', '/otherwise'].map(
  (folder) => `${folder}/file`,
);
/** The workspace is `/project`. */
const folders = { cwd: '/project', workspaceRoots: [], tempDir: '/temp', home: '/home/heddle' };

const roots = fc.option(fc.uniqueArray(fc.constantFrom(...FOLDERS), { maxLength: 3 }));
const flag = fc.option(fc.boolean());
const access: fc.Arbitrary<ReadOnlyAccess | null> = fc.option(
  fc.oneof(
    fc.constant({ type: 'fullAccess' as const }),
    fc.record({
      type: fc.constant('restricted' as const),
      readableRoots: roots,
      includePlatformDefaults: flag,
    }),
  ),
);
/** Any sandbox policy. */
export const sandboxPolicies: fc.Arbitrary<SandboxPolicy> = fc.oneof(
  fc.constant({ type: 'dangerFullAccess' as const }),
  fc.record({ type: fc.constant('readOnly' as const), access, networkAccess: flag }),
  fc.record({
    type: fc.constant('externalSandbox' as const),
    networkAccess: fc.constantFrom('restricted' as const, 'enabled' as const),
  }),
  fc.record({
    type: fc.constant('workspaceWrite' as const),
    writableRoots: roots,
    readOnlyAccess: access,
    networkAccess: flag,
    excludeTmpdirEnvVar: flag,
    excludeSlashTmp: flag,
  }),
);

/** The paths that can be written, those that can be read, and whether the network can be used. */
export function allowedBy(of: SandboxPolicy, cwd = folders.cwd) {
  const bounds = sandboxBounds(of, { ...folders, cwd });
  const network =
    of.type === 'dangerFullAccess'
      ? true
      : of.type === 'externalSandbox'
        ? of.networkAccess === 'enabled'
        : of.networkAccess === true;
  return {
    written: PATHS.filter((path) => bounds === null || isWritable(path, bounds)),
    read: PATHS.filter((path) => bounds === null || isReadable(path, bounds)),
    network,
    isConfined: bounds !== null,
  };
}
