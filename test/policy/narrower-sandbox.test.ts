import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stricterApprovals } from '../../src/policy/approvals/stricter-approvals.ts';
import { narrowerSandbox } from '../../src/policy/permissions/narrower-sandbox.ts';
import type { AskForApproval } from '../../src/protocol/generated/types.ts';
import { allowedBy, sandboxPolicies } from './sandbox-policies.ts';

test('the narrower of two sandboxes allows nothing that one of them does not allow', () => {
  fc.assert(
    fc.property(sandboxPolicies, sandboxPolicies, (one, other) => {
      const both = allowedBy(narrowerSandbox(one, other, ['/project']));
      for (const each of [allowedBy(one), allowedBy(other)]) {
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
    fc.property(sandboxPolicies, sandboxPolicies, (one, other) => {
      const both = narrowerSandbox(narrowerSandbox(one, other, ['/project']), other, ['/project']);
      expect(narrowerSandbox(both, other, ['/project'])).toEqual(both);
      expect(narrowerSandbox(one, one, ['/project'])).toEqual(one);
    }),
    { numRuns: 2_000 },
  );
});

const granular = (
  kinds: Partial<
    Record<'sandbox_approval' | 'rules' | 'mcp_elicitations' | 'skill_approval', boolean>
  >,
): AskForApproval => ({
  granular: {
    sandbox_approval: false,
    rules: false,
    mcp_elicitations: false,
    request_permissions: false,
    skill_approval: false,
    ...kinds,
  },
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
