import { expect, test } from 'vitest';
import { type ApprovalKind, mayAsk } from '../../src/policy/approvals/may-ask.ts';
import type { AskForApproval } from '../../src/protocol/generated/types.ts';

const KINDS: ApprovalKind[] = [
  'sandbox_approval',
  'rules',
  'mcp_elicitations',
  'request_permissions',
  'skill_approval',
];
const none = { sandbox_approval: false, rules: false, mcp_elicitations: false };

test.each<[policy: AskForApproval, asked: ApprovalKind[]]>([
  ['untrusted', KINDS],
  ['on-failure', KINDS],
  ['on-request', KINDS],
  ['never', []],
  [{ granular: none }, []],
  ...KINDS.map((kind): [AskForApproval, ApprovalKind[]] => [
    { granular: { ...none, [kind]: true } },
    [kind],
  ]),
])('%j asks about %j only', (policy, asked) => {
  expect(KINDS.filter((kind) => mayAsk(policy, kind))).toEqual(asked);
});
