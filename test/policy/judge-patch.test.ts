import { describe, expect, test } from 'vitest';
import {
  grantedPaths,
  judgePatch,
  type TouchedFile,
} from '../../src/policy/permissions/judge-patch.ts';
import { SessionGrants } from '../../src/policy/permissions/session-grants.ts';
import type { AskForApproval } from '../../src/protocol/generated/types.ts';

const ROOTS = { writableRoots: ['/ws', '/tmp'], home: '/home/me/.heddle' };

function file(path: string, others: Partial<TouchedFile> = {}): TouchedFile {
  return { path, real: path, shared: null, ...others };
}

const protectedAs = (path: string) =>
  path === '/ws/include.config' ? 'is protected by the sandbox' : null;

function granular(sandbox_approval: boolean): AskForApproval {
  return {
    granular: {
      sandbox_approval,
      rules: true,
      mcp_elicitations: true,
      request_permissions: true,
      skill_approval: true,
    },
  };
}

async function judged(
  files: TouchedFile[],
  approvalPolicy: AskForApproval,
  { bounded = true, grants = new SessionGrants() } = {},
) {
  const bounds = bounded ? { named: ROOTS, real: ROOTS, protectedAs } : null;
  return (await judgePatch({ files, bounds, approvalPolicy, grants })).verdict;
}

const OUTCOMES: [AskForApproval, { inside: string; outside: string }][] = [
  ['untrusted', { inside: 'ask', outside: 'ask' }],
  ['on-request', { inside: 'write', outside: 'ask' }],
  ['on-failure', { inside: 'write', outside: 'ask' }],
  ['never', { inside: 'write', outside: 'refuse' }],
  [granular(true), { inside: 'write', outside: 'ask' }],
  [granular(false), { inside: 'write', outside: 'refuse' }],
];

describe.each(OUTCOMES)('under %j', (policy, { inside, outside }) => {
  test.each([
    ['a file in a writable root', file('/ws/a/b'), inside],
    ['a name outside that leads inside', file('/link/b', { real: '/ws/b' }), inside],
    ['a name like a root', file('/ws2/b'), outside],
    ['a file outside', file('/etc/passwd'), outside],
    ['a name inside that leads outside', file('/ws/link', { real: '/etc/passwd' }), outside],
    ['a protected folder', file('/ws/.git/hooks/pre-commit'), outside],
    ['a file that the sandbox protects', file('/ws/include.config'), outside],
    [
      'a link to a file that the sandbox protects',
      file('/ws/x', { real: '/ws/include.config' }),
      outside,
    ],
    ['a protected name itself', file('/ws/.codex'), outside],
    ['a protected folder further down', file('/ws/sub/.agents/x'), outside],
    ['a protected name in upper case', file('/ws/.GIT/config'), outside],
    [
      'a name inside that leads to a protected folder',
      file('/ws/a', { real: '/ws/.git/config' }),
      outside,
    ],
    ['a protected name that leads elsewhere', file('/ws/.git/x', { real: '/tmp/x' }), outside],
    ["heddle's home", file('/home/me/.heddle/config.toml'), outside],
    ['a file with further names', file('/ws/a', { shared: '1:2' }), outside],
  ])('%s', async (_name, touched, expected) => {
    expect(await judged([touched], policy)).toBe(expected);
    expect(await judged([file('/ws/fine'), touched], policy)).toBe(expected);
  });

  test('without bounds, a patch needs approval only under untrusted', async () => {
    const expected = policy === 'untrusted' ? 'ask' : 'write';
    expect(await judged([file('/etc/passwd', { shared: '1:2' })], policy, { bounded: false })).toBe(
      expected,
    );
  });

  test('a patch that was allowed for the session is written, if its path and its real path are covered', async () => {
    const grants = new SessionGrants();
    grants.allowFiles(grantedPaths([file('/ws/link', { real: '/etc/passwd' })]));
    expect(await judged([file('/ws/link', { real: '/etc/passwd' })], policy, { grants })).toBe(
      'write',
    );
    expect(await judged([file('/ws/link', { real: '/etc/shadow' })], policy, { grants })).toBe(
      outside,
    );
    expect(
      await judged([file('/ws/link', { real: '/etc/passwd' }), file('/etc/x')], policy, { grants }),
    ).toBe(outside);
  });

  test('a patch that was allowed for the session covers a file with further names only if it is the same file', async () => {
    const grants = new SessionGrants();
    grants.allowFiles(grantedPaths([file('/ws/a')]));
    expect(await judged([file('/ws/a', { shared: '1:2' })], policy, { grants })).toBe(outside);
    grants.allowFiles(grantedPaths([file('/ws/a', { shared: '1:2' })]));
    expect(await judged([file('/ws/a', { shared: '1:2' })], policy, { grants })).toBe('write');
    expect(await judged([file('/ws/a', { shared: '1:3' })], policy, { grants })).toBe(outside);
    expect(await judged([file('/ws/a')], policy, { grants })).toBe('write');
  });
});

test('in a read-only sandbox every file is outside the writable folders', async () => {
  const bounds = { writableRoots: [], home: '/home/me/.heddle' };
  const situation = {
    files: [file('/ws/a')],
    bounds: { named: bounds, real: bounds, protectedAs },
    grants: new SessionGrants(),
  };
  expect(await judgePatch({ ...situation, approvalPolicy: 'on-request' })).toEqual({
    verdict: 'ask',
    reason: '/ws/a is outside the folders that can be written in the sandbox.',
  });
  expect((await judgePatch({ ...situation, approvalPolicy: 'never' })).verdict).toBe('refuse');
});

test('a home below a writable root is protected; a workspace inside the home is usable', async () => {
  const verdict = async (path: string, writableRoots: string[]) => {
    const bounds = { writableRoots, home: '/ws/home' };
    const judgement = await judgePatch({
      files: [file(path)],
      bounds: { named: bounds, real: bounds, protectedAs },
      approvalPolicy: 'never',
      grants: new SessionGrants(),
    });
    return judgement.verdict;
  };
  expect(await verdict('/ws/home/auth.json', ['/ws'])).toBe('refuse');
  expect(await verdict('/ws/home/auth.json', ['/ws/home'])).toBe('refuse');
  expect(await verdict('/ws/home/auth.json', ['/ws/home/job'])).toBe('refuse');
  expect(await verdict('/ws/home/job/a', ['/ws/home/job'])).toBe('write');
});
