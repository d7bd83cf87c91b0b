// @module-tag slow
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { tempFolder } from '../config/temp-folder.ts';
import { ApprovalSession, confinedConfig, OUTSIDE } from './approval-session.ts';

const FOR_SESSION = { decision: 'acceptForSession' } as const;
const RULES = 'prefix_rule(pattern=["git", ["add", "commit"]])\nprefix_rule(pattern=["touch"])\n';
const FILES = {
  'work/package.json': '{ "name": "sums", "scripts": { "test": "node test.mjs" } }\n',
  'work/src/sum.mjs': 'export const sum = (a, b) => a - b;\n',
  'work/test.mjs':
    "import { sum } from './src/sum.mjs';\nprocess.exitCode = sum(1, 2) === 3 ? 0 : 1;\n",
};

function edit(from: string, to: string): string {
  return `*** Begin Patch\n*** Update File: src/sum.mjs\n@@\n-${from}\n+${to}\n*** End Patch\n`;
}

/** Removals without force, whose names only the shell knows. */
const REMOVALS = [
  'tmp=$(mktemp -p .); rm "$tmp"',
  'touch a.o && rm *.o',
  'rm ~/none',
  'rm -r {a,b}.txt',
  'ls none | xargs rm',
];

/**
 * Twenty ordinary calls: looks around, edits, tests, commits with approval, and the same again.
 * Where commands may change files without a question, also removals. Returns the number of
 * questions.
 */
async function everydaySession(approvalPolicy: string, rules: string): Promise<number> {
  const folder = tempFolder();
  const session = await ApprovalSession.start({
    folder,
    config: confinedConfig(approvalPolicy),
    files: { ...FILES, 'home/rules/mine.rules': rules },
  });
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: session.server.cwd, stdio: 'ignore' });
  git('init', '--initial-branch=main');
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@example.org');
  git('remote', 'add', 'origin', 'https://example.org/sums.git');
  await session.run('ls -la');
  await session.run('cat package.json src/sum.mjs');
  await session.run('git status');
  expect((await session.run('npm test')).item?.exitCode).not.toBe(0);
  await session.patch(
    edit('export const sum = (a, b) => a - b;', 'export const sum = (a, b) => a + b;'),
  );
  expect((await session.run('npm test', OUTSIDE, FOR_SESSION)).item?.exitCode).toBe(0);
  await session.run('git diff');
  await session.run('touch notes.md');
  await session.run('git add src/sum.mjs notes.md', OUTSIDE, FOR_SESSION);
  await session.run('git add -A && git commit -m "Add instead of subtract"', OUTSIDE);
  await session.run('git log --oneline');
  await session.run("grep -rn 'sum' src | head -n 5");
  await session.patch(
    edit(
      'export const sum = (a, b) => a + b;',
      'export const sum = (...all) => all.reduce((a, b) => a + b, 0);',
    ),
  );
  expect((await session.run('npm test', OUTSIDE, FOR_SESSION)).item?.exitCode).toBe(0);
  await session.run('touch notes.md');
  await session.run('git add src/sum.mjs notes.md', OUTSIDE, FOR_SESSION);
  await session.run('git commit -m "Add any number of numbers"', OUTSIDE);
  await session.run('git status --short');
  await session.run('wc -l src/sum.mjs');
  if (approvalPolicy !== 'untrusted') for (const removal of REMOVALS) await session.run(removal);
  const log = await session.run('git log --oneline | cat');
  expect(log.output).toMatch(/Add any number of numbers\n.*Add instead of subtract/);
  return session.questions;
}

// The ceilings are the numbers of questions before approvals were bound to files and before allowed
// commands were checked.
test.each<[string, string, number]>([
  ['on-request', '', 4],
  ['on-request', RULES, 1],
  ['untrusted', '', 9],
  ['untrusted', RULES, 4],
])(
  'an everyday session asks no more often than it did: %s, rules %j',
  async (approvalPolicy, rules, ceiling) => {
    expect(await everydaySession(approvalPolicy, rules)).toBeLessThanOrEqual(ceiling);
  },
);
