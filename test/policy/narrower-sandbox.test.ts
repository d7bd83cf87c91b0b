import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isReadable, isWritable } from '../../src/policy/permissions/is-writable.ts';
import { narrowerSandbox } from '../../src/policy/permissions/narrower-sandbox.ts';
import { sandboxBounds } from '../../src/policy/permissions/sandbox-bounds.ts';
import { stricterApprovals } from '../../src/policy/permissions/stricter-approvals.ts';
import type { AskForApproval, ReadOnlyAccess, SandboxPolicy } from '../../src/protocol/generated/types.ts';

const FOLDERS = ['/project', '/project/a', '/project/a/b', '/other', '/other/c', '/tmp/x', '/temp'];
const PATHS = [...FOLDERS, '/tmp', '/', '/usr/bin/x', '/otherwise'].map((folder) => `${folder}/file`);
const folders = { cwd: '/project', workspaceRoots: [], tempDir: '/temp', home: '/home/heddle' };

const roots = fc.option(fc.uniqueArray(fc.constantFrom(...FOLDERS), { maxLength: 3 }));
const flag = fc.option(fc.boolean());
const access: fc.Arbitrary<ReadOnlyAccess | null> = fc.option(
  fc.oneof(
    fc.constant({ type: 'fullAccess' as const }),
    fc.record({ type: fc.constant('restricted' as const), readableRoots: roots, includePlatformDefaults: flag }),
  ),
);
const policy: fc.Arbitrary<SandboxPolicy> = fc.oneof(
  fc.constant({ type: 'dangerFullAccess' as const }),
  fc.record({ type: fc.constant('readOnly' as const), access, networkAccess: flag }),
  fc.record({ type: fc.constant('externalSandbox' as const), networkAccess: fc.constantFrom('restricted' as const, 'enabled' as const) }),
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
function allowed(of: SandboxPolicy) {
  const bounds = sandboxBounds(of, folders);
  const network =
    of.type === 'dangerFullAccess' ? true : of.type === 'externalSandbox' ? of.networkAccess === 'enabled' : of.networkAccess === true;
  return {
    written: PATHS.filter((path) => bounds === null || isWritable(path, bounds)),
    read: PATHS.filter((path) => bounds === null || isReadable(path, bounds)),
    network,
    isConfined: bounds !== null,
  };
}

test('the narrower of two sandboxes allows nothing that one of them does not allow', () => {
  fc.assert(
    fc.property(policy, policy, (one, other) => {
      const both = allowed(narrowerSandbox(one, other, ['/project']));
      for (const each of [allowed(one), allowed(other)]) {
        expect(each.written).toEqual(expect.arrayContaining(both.written));
        expect(each.read).toEqual(expect.arrayContaining(both.read));
        expect(both.network && !each.network).toBe(false);
        expect(each.isConfined && !both.isConfined).toBe(false);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('a sandbox that is narrower already stays as it is, but for defaults that are written out', () => {
  fc.assert(
    fc.property(policy, policy, (one, other) => {
      const both = narrowerSandbox(narrowerSandbox(one, other, ['/project']), other, ['/project']);
      expect(narrowerSandbox(both, other, ['/project'])).toEqual(both);
      expect(narrowerSandbox(one, one, ['/project'])).toEqual(one);
    }),
    { numRuns: 2_000 },
  );
});

const granular = (
  kinds: Partial<Record<'sandbox_approval' | 'rules' | 'mcp_elicitations' | 'skill_approval', boolean>>,
): AskForApproval => ({
  granular: { sandbox_approval: false, rules: false, mcp_elicitations: false, request_permissions: false, skill_approval: false, ...kinds },
});

test.each<[wanted: AskForApproval, limit: AskForApproval, which: 'wanted' | 'limit']>([
  ['untrusted', 'on-request', 'wanted'],
  ['on-request', 'untrusted', 'limit'],
  ['never', 'on-request', 'wanted'],
  ['never', 'untrusted', 'limit'],
  ['on-request', 'never', 'limit'],
  [granular({ rules: true }), 'on-request', 'wanted'],
  ['on-request', granular({ rules: true }), 'limit'],
  [granular({ rules: true }), granular({ rules: true, sandbox_approval: true }), 'wanted'],
  [granular({ mcp_elicitations: true }), granular({ rules: true }), 'limit'],
  [granular({ skill_approval: true }), granular({}), 'wanted'],
  [granular({}), granular({ skill_approval: true }), 'limit'],
  ['never', granular({ skill_approval: true }), 'limit'],
])('approvals %j within %j: the %s', (wanted, limit, which) => {
  expect(stricterApprovals(wanted, limit)).toEqual(which === 'wanted' ? wanted : limit);
});
