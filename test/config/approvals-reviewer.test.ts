import { expect, test } from 'vitest';
import { load } from './load.ts';

const GUARDIAN = 'features.guardian_approval = true\n';

// The deprecated switch sets the reviewer of its own scope (the base or the profile), unless that
// scope names one.
test.each([
  ['nothing', '', [], 'user'],
  ['false', 'features.guardian_approval = false\n', [], 'user'],
  ['no boolean', 'features.guardian_approval = "true"\n', [], 'user'],
  ['smart_approvals only tells clients', 'features.smart_approvals = true\n', [], 'user'],
  ['base', GUARDIAN, [], 'guardian_subagent'],
  ['base, which names a reviewer', `approvals_reviewer = "user"\n${GUARDIAN}`, [], 'user'],
  ['base, another name', `approvals_reviewer = "auto_review"\n${GUARDIAN}`, [], 'auto_review'],
  ['base, turned off with -c', GUARDIAN, ['features.guardian_approval=false'], 'user'],
  ['base, -c names a reviewer', GUARDIAN, ['approvals_reviewer=user'], 'user'],
  [
    '-c, the file names a reviewer',
    'approvals_reviewer = "user"\n',
    ['features.guardian_approval=true'],
    'user',
  ],
  [
    'base, the profile names a reviewer',
    `profile = "p"\n${GUARDIAN}[profiles.p]\napprovals_reviewer = "user"\n`,
    [],
    'user',
  ],
  [
    '-c, the profile names a reviewer',
    'profile = "p"\n[profiles.p]\napprovals_reviewer = "user"\n',
    ['features.guardian_approval=true'],
    'user',
  ],
  [
    'profile',
    'profile = "p"\n[profiles.p.features]\nguardian_approval = true\n',
    [],
    'guardian_subagent',
  ],
  [
    'profile, which names a reviewer',
    `profile = "p"\n[profiles.p]\napprovals_reviewer = "user"\n${GUARDIAN}`,
    [],
    'user',
  ],
  [
    'profile, the base names a reviewer',
    `approvals_reviewer = "user"\nprofile = "p"\n[profiles.p]\n${GUARDIAN}`,
    [],
    'guardian_subagent',
  ],
  [
    'profile, -c names a reviewer',
    `profile = "p"\n[profiles.p]\n${GUARDIAN}`,
    ['approvals_reviewer=user'],
    'user',
  ],
  ['a profile that is not chosen', `[profiles.p]\n${GUARDIAN}`, [], 'user'],
] as const)('guardian_approval: %s', async (_, text, overrides, reviewer) => {
  expect((await load(text, { overrides })).get('approvals_reviewer')).toBe(reviewer);
});
