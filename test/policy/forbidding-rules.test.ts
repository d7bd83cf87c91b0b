import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CommandVerdict } from '../../src/policy/command/command-verdict.ts';
import { judgeCommand } from '../../src/policy/command/judge-command.ts';
import { parseCommand } from '../../src/policy/parse/parse-command.ts';
import { SessionGrants } from '../../src/policy/permissions/session-grants.ts';
import type { PrefixRule } from '../../src/policy/rules/command-rules.ts';
import type { AskForApproval } from '../../src/protocol/generated/types.ts';
import {
  ENCODED,
  FORBIDDEN_COMMANDS,
  OPTION_RUNNERS,
  QUOTINGS,
  WORD_RUNNERS,
} from './disguises.ts';

const rule = (decision: PrefixRule['decision'], ...words: string[]): PrefixRule => ({
  pattern: words.map((word) => [word]),
  decision,
  justification: null,
});
const FENCE = FORBIDDEN_COMMANDS.map((command) =>
  rule('forbidden', ...command.split(' ').slice(0, command.startsWith('git') ? 2 : 1)),
);

interface Asked {
  rules?: readonly PrefixRule[];
  approvalPolicy?: AskForApproval;
  trustsNames?: boolean;
  escalates?: boolean;
}

async function judge(script: string, asked: Asked = {}): Promise<CommandVerdict> {
  const {
    rules = FENCE,
    approvalPolicy = 'on-request',
    trustsNames = true,
    escalates = false,
  } = asked;
  const command = await parseCommand(['bash', '-lc', script]);
  return judgeCommand({
    request: {
      command,
      cwd: '/w',
      identity: new Map(),
      escalates,
      permissions: null,
      justification: null,
      prefixRule: null,
    },
    sandboxPolicy: { type: 'workspaceWrite' },
    staysInside: false,
    approvalPolicy,
    rules: { rules, problems: [] },
    grants: new SessionGrants(),
    trustsNames: () => trustsNames,
    hasFixedProgram: true,
    skillFile: null,
    leaving: null,
    project: '/w',
  });
}

const fill = (template: string, command: string) => template.replaceAll('@', command);
const DISGUISES = [
  ...new Set([
    ...FORBIDDEN_COMMANDS.flatMap((command) =>
      [...WORD_RUNNERS, ...OPTION_RUNNERS].map((one) => fill(one, command)),
    ),
    ...ENCODED,
  ]),
];

describe('with a rule that forbids, a command that may run it unseen is refused or asked about', () => {
  test('there are many disguises', () => {
    expect(DISGUISES.length).toBeGreaterThan(400);
  });

  test.each(DISGUISES)('%s', async (script) => {
    expect((await judge(script)).verdict).toMatch(/^(?:ask|refuse)$/);
    expect((await judge(script, { approvalPolicy: 'never' })).verdict).toBe('refuse');
  });

  test('any runners around any spelling, in any place of a line', async () => {
    const piece = fc.record({
      command: fc.constantFrom(...FORBIDDEN_COMMANDS),
      quoting: fc.constantFrom(...QUOTINGS),
      runners: fc.array(fc.constantFrom(...WORD_RUNNERS.filter((one) => !one.includes("'"))), {
        maxLength: 3,
      }),
      place: fc.constantFrom(
        '@',
        'ls; @',
        '@ | cat',
        'true && @',
        'if true; then @; fi',
        'echo $(@)',
        '{ @; }',
        '(@) > f',
        '@ &',
        '! @',
      ),
    });
    await fc.assert(
      fc.asyncProperty(piece, async ({ command, quoting, runners, place }) => {
        const inner = runners.reduce((text, runner) => fill(runner, text), quoting(command));
        expect((await judge(fill(place, inner))).verdict).not.toBe('run');
      }),
      { seed: 1, numRuns: 500 },
    );
  });

  test('the question names the rule, and proposes a rule that settles it', async () => {
    expect(await judge('npm test')).toEqual({
      verdict: 'ask',
      reason: 'A rule forbids `rm`, and heddle cannot tell whether this command runs it.',
      sandboxed: true,
      key: expect.any(String),
      proposedAmendment: ['npm', 'test'],
    });
    expect(await judge('npm test', { approvalPolicy: 'never' })).toEqual({
      verdict: 'refuse',
      reason:
        'Rejected: A rule forbids `rm`, and heddle cannot tell whether this command runs it. Nobody can be asked: the approval policy ' +
        'is "never".',
    });
    expect(await judge('npm test', { escalates: true })).toMatchObject({
      reason: expect.stringMatching(/cannot tell.* The command asks to run outside the sandbox\.$/),
      proposedAmendment: ['npm', 'test'],
    });
  });

  test('a program that a rule allows is not asked about, in any line that heddle can follow', async () => {
    const rules = [
      ...FENCE,
      { ...rule('allow', 'npm', 'test'), exact: true, within: true, projects: ['/w'] },
    ];
    for (const script of [
      'npm test',
      'npm test && mkdir a',
      'npm test 2>&1 | tail -5',
      'npm test > log.txt',
    ])
      expect(await judge(script, { rules })).toMatchObject({ verdict: 'run', sandboxed: true });
    for (const script of [
      'npm test x',
      'npm test | sh',
      'npm test; npx a',
      'A=1 npm test',
      'npm test $X',
    ])
      expect(await judge(script, { rules })).toMatchObject({ verdict: 'ask' });
    expect(await judge('npm test; rm x', { rules })).toMatchObject({ verdict: 'refuse' });
  });

  test('if names may mean other programs, no program is known', async () => {
    expect(await judge('mkdir a', { trustsNames: false })).toMatchObject({
      verdict: 'ask',
      reason: expect.stringContaining('Names of programs may mean files that commands can write.'),
    });
  });
});

/** Commands of an ordinary session. */
const ORDINARY = [
  'npm test',
  'npm run build -- --watch=false',
  'npx tsc --noEmit',
  'node x.js',
  'python3 -m pytest -x',
  'python3 x.py | head',
  'make -j4',
  'cargo build --release',
  'go test ./...',
  'bash run.sh',
  './run.sh a b',
  'git add -A && git commit -m x',
  'git push',
  'git -C sub log',
  'sed -i s/a/b/ f',
  'awk 1 f',
  'tar xzf a.tgz',
  'rm -r build',
  'env A=1 npm test',
  'A=1 npm test',
  'timeout 60 npm test',
  'x=$(cat f); echo "$x"',
  'cat > f <<E\na\nE',
  'for f in *.ts; do npx eslint "$f"; done',
];

describe('without a rule that forbids, an ordinary command is not asked about', () => {
  test.each(ORDINARY)('%s', async (script) => {
    const others = [rule('prompt', 'shutdown'), rule('allow', 'ls')];
    expect(await judge(script, { rules: [] })).toMatchObject({ verdict: 'run' });
    expect(await judge(script, { rules: others, approvalPolicy: 'never' })).toMatchObject({
      verdict: 'run',
    });
    expect(await judge(script, { rules: others, trustsNames: false })).toMatchObject({
      verdict: 'run',
    });
  });
});

describe('with a rule that forbids, a command is not asked about if its programs start no others', () => {
  test.each([
    'ls -la *.txt',
    'cat a b > c',
    'echo "$HOME" >> f',
    'mkdir -p a/b && cp -r x a/b && touch a/b/c',
    'mv a b; chmod +x b',
    'grep -rn "a b" src/*.ts | sort | uniq -c | head -5',
    'rg -n foo src',
    'find . -name x -delete',
    'sed -n 1,5p f',
    "sed -i 's/a b/c\\/d/g' f",
    "sed -E -i.bak 's|a|b|' f g",
    'for f in a b; do cat "$f"; done',
    'if [ -f x ]; then cat x; else echo none; fi',
    'while true; do sleep 1; done',
    'printf "%s\\n" a b | tee f',
    "cat > f <<'E'\na $(b)\nnpx c\nE",
    'cat <<E | wc -l\n$HOME\nE',
    'comm <(sort a) <(sort b)',
    'wc -l $(find . -name x)',
    'git status',
    'git diff --stat | cat',
    'cd src && pwd',
    'set -euo pipefail; ls',
    'touch {a,b}.txt',
    'sha256sum f; date; seq 3',
    '(cd a && ls) 2>/dev/null',
    'command -v node',
    'jq .a f.json',
  ])('%s', async (script) => {
    expect(await judge(script)).toMatchObject({ verdict: 'run' });
    expect(await judge(script, { approvalPolicy: 'never' })).toMatchObject({ verdict: 'run' });
  });
});

test('a here-document that a shell may end earlier is not followed', async () => {
  expect(await judge("cat <<'E'\na\n E\nb\nE")).toMatchObject({ verdict: 'ask' });
});
