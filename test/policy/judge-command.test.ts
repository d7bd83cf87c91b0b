import { describe, expect, test } from 'vitest';
import { commandKey } from '../../src/policy/command/command-key.ts';
import type { CommandRequest, CommandVerdict } from '../../src/policy/command/command-verdict.ts';
import { judgeCommand } from '../../src/policy/command/judge-command.ts';
import type { LeavingFacts } from '../../src/policy/outside/leaving-doubt.ts';
import { parseCommand } from '../../src/policy/parse/parse-command.ts';
import { SessionGrants } from '../../src/policy/permissions/session-grants.ts';
import type { CommandRules, PrefixRule } from '../../src/policy/rules/command-rules.ts';
import type { AskForApproval, SandboxPolicy } from '../../src/protocol/generated/types.ts';

/** The decision about a command, in a word. */
const WORDS = {
  run: 'runs in the sandbox',
  look: 'runs in the sandbox, held to reading',
  retry: 'runs in the sandbox, and outside is asked about when that stood in its way',
  free: 'runs without a sandbox',
  ask: 'asks, then runs in the sandbox',
  out: 'asks, then runs without a sandbox',
  no: 'is refused',
};
type Word = keyof typeof WORDS;

function wordFor(verdict: CommandVerdict): Word {
  if (verdict.verdict === 'refuse') return 'no';
  if (verdict.verdict === 'ask') return verdict.sandboxed ? 'ask' : 'out';
  if (!verdict.sandboxed) return 'free';
  return verdict.readOnly ? 'look' : verdict.askIfRefused ? 'retry' : 'run';
}

const granular = (answer: boolean): AskForApproval => ({
  granular: {
    sandbox_approval: answer,
    rules: answer,
    mcp_elicitations: answer,
    request_permissions: answer,
    skill_approval: answer,
  },
});
const POLICIES: Record<string, AskForApproval> = {
  untrusted: 'untrusted',
  'on-failure': 'on-failure',
  'on-request': 'on-request',
  never: 'never',
  'granular+': granular(true),
  'granular-': granular(false),
};
const BOUNDED: SandboxPolicy[] = [{ type: 'readOnly' }, { type: 'workspaceWrite' }];
const UNBOUNDED: SandboxPolicy[] = [{ type: 'dangerFullAccess' }, { type: 'externalSandbox' }];
/** Known to be harmless; harmless if limited to reading; not known; not parsed. */
const COMMANDS = ['ls', 'git status', 'touch x', 'ls $(x)'];
const rule = (decision: PrefixRule['decision']): PrefixRule => ({
  pattern: [['ls', 'git', 'touch']],
  decision,
  justification: null,
});
const RULES = {
  none: { rules: [], problems: [] },
  allow: { rules: [rule('allow')], problems: [] },
  prompt: { rules: [rule('allow'), rule('prompt')], problems: [] },
  forbidden: { rules: [rule('prompt'), rule('forbidden'), rule('allow')], problems: [] },
  unreadable: {
    rules: [rule('allow')],
    problems: [{ path: '/h/rules/a.rules', line: 3, message: 'expected (' }],
  },
} satisfies Record<string, CommandRules>;

// For each of the commands:  in the sandbox       | asking to leave it   | where there is no
// sandbox
const TABLE: Record<keyof typeof RULES, Record<string, string>> = {
  none: {
    untrusted: /*         */ 'look look ask ask     | out out out out      | free out out out',
    'on-failure': /*      */ 'retry retry retry retry | out out out out    | free free free free',
    'on-request': /*      */ 'run run run run       | out out out out      | free free free free',
    never: /*             */ 'run run run run       | no no no no          | free free free free',
    'granular+': /*       */ 'run run run run       | out out out out      | free free free free',
    'granular-': /*       */ 'run run run run       | no no no no          | free free free free',
  },
  allow: {
    untrusted: /*         */ 'run run run ask       | free look free out   | free free free out',
    'on-failure': /*      */ 'run run run retry     | free look free out   | free free free free',
    'on-request': /*      */ 'run run run run       | free look free out   | free free free free',
    never: /*             */ 'run run run run       | free look free no    | free free free free',
    'granular+': /*       */ 'run run run run       | free look free out   | free free free free',
    'granular-': /*       */ 'run run run run       | free look free no    | free free free free',
  },
  prompt: {
    untrusted: /*         */ 'ask ask ask ask       | out out out out      | out out out out',
    'on-failure': /*      */ 'ask ask ask ask       | out out out out      | out out out out',
    'on-request': /*      */ 'ask ask ask ask       | out out out out      | out out out out',
    never: /*             */ 'no no no no           | no no no no          | no no no no',
    'granular+': /*       */ 'ask ask ask ask       | out out out out      | out out out out',
    'granular-': /*       */ 'no no no no           | no no no no          | no no no no',
  },
  forbidden: Object.fromEntries(
    Object.keys(POLICIES).map((policy) => [policy, 'no no no no | no no no no | no no no no']),
  ),
  unreadable: {
    untrusted: /*         */ 'ask ask ask ask       | out out out out      | out out out out',
    'on-failure': /*      */ 'ask ask ask ask       | out out out out      | out out out out',
    'on-request': /*      */ 'ask ask ask ask       | out out out out      | out out out out',
    never: /*             */ 'no no no no           | no no no no          | no no no no',
    'granular+': /*       */ 'ask ask ask ask       | out out out out      | out out out out',
    'granular-': /*       */ 'no no no no           | no no no no          | no no no no',
  },
};

interface Asked extends Partial<Omit<CommandRequest, 'command'>> {
  sandboxPolicy?: SandboxPolicy;
  staysInside?: boolean;
  approvalPolicy?: AskForApproval;
  rules?: CommandRules;
  grants?: SessionGrants;
  trustsNames?: boolean;
  hasFixedProgram?: boolean;
  skillFile?: string | null;
  project?: string;
  leaving?: LeavingFacts | null;
}

/** Commands cannot change any file that these commands name. */
const LEAVING: LeavingFacts = {
  roots: [],
  realPaths: new Map([['/w', '/w']]),
  repositories: new Map(),
  hasUnreadSettings: false,
  variable: null,
};

async function judge(script: string, asked: Asked = {}): Promise<CommandVerdict> {
  const {
    sandboxPolicy = { type: 'workspaceWrite' },
    staysInside = false,
    approvalPolicy = 'untrusted',
    rules = RULES.none,
    grants = new SessionGrants(),
    trustsNames = true,
    hasFixedProgram = true,
    skillFile = null,
    project = '/w',
    leaving = LEAVING,
    ...request
  } = asked;
  const command = await parseCommand(['bash', '-lc', script]);
  const defaults = {
    cwd: '/w',
    identity: new Map(),
    escalates: false,
    permissions: null,
    justification: null,
    prefixRule: null,
  };
  return judgeCommand({
    request: { ...defaults, ...request, command },
    sandboxPolicy,
    staysInside,
    approvalPolicy,
    rules,
    grants,
    trustsNames: () => trustsNames,
    hasFixedProgram,
    skillFile,
    project,
    leaving,
  });
}

const WRITES_OPT = { read: [], write: ['/opt'], network: false };
const INSIDE: Record<string, string> = { out: 'ask', free: 'run' };
const judgeAll = (asked: Asked) =>
  Promise.all(COMMANDS.map(async (script) => wordFor(await judge(script, asked))));
const rows = (Object.keys(RULES) as (keyof typeof RULES)[]).flatMap((kind) =>
  Object.entries(TABLE[kind]).map(([policy, row]) => ({ kind, policy, row })),
);

describe('a command that may run a file of a skill', () => {
  const kinds = (skill_approval: boolean, others: boolean): AskForApproval => ({
    granular: {
      sandbox_approval: others,
      rules: others,
      mcp_elicitations: others,
      request_permissions: others,
      skill_approval,
    },
  });
  const skillFile = '/s/go.sh, which belongs to a skill';

  test.each<[string, Asked, Word]>([
    ['is asked about', { approvalPolicy: kinds(true, false) }, 'ask'],
    ['is like others if its kind is false', { approvalPolicy: kinds(false, true) }, 'run'],
    [
      'is refused beyond the sandbox if that is',
      { approvalPolicy: kinds(true, false), escalates: true },
      'no',
    ],
    [
      'is asked about once beyond the sandbox',
      { approvalPolicy: kinds(true, true), escalates: true },
      'out',
    ],
    [
      'is asked about without a sandbox',
      { approvalPolicy: kinds(true, false), sandboxPolicy: { type: 'dangerFullAccess' } },
      'out',
    ],
    [
      'runs if a rule allows it',
      { approvalPolicy: kinds(false, false), rules: RULES.allow },
      'run',
    ],
    ['is like others under a named policy', { approvalPolicy: 'on-request' }, 'run'],
    ['is like others under never', { approvalPolicy: 'never' }, 'run'],
  ])('%s', async (_case, asked, word) => {
    expect(wordFor(await judge('touch x', { skillFile, ...asked }))).toBe(word);
  });
});

describe.each(rows)('rules: $kind, policy $policy', ({ kind, policy, row }) => {
  const [inside, outside, unbounded] = row.split('|').map((words) => words.trim().split(/\s+/));
  const asked = { rules: RULES[kind], approvalPolicy: POLICIES[policy] ?? 'never' };

  test.each(BOUNDED)('$type', async (sandboxPolicy) => {
    expect(await judgeAll({ ...asked, sandboxPolicy })).toEqual(inside);
    expect(await judgeAll({ ...asked, sandboxPolicy, escalates: true })).toEqual(outside);
    // A request for more permissions needs approval like a request to leave, but the command runs
    // inside.
    expect(await judgeAll({ ...asked, sandboxPolicy, permissions: WRITES_OPT })).toEqual(
      outside?.map((word) => INSIDE[word] ?? word),
    );
  });

  test.each(UNBOUNDED)('$type, where there is nothing to leave', async (sandboxPolicy) => {
    expect(await judgeAll({ ...asked, sandboxPolicy })).toEqual(unbounded);
    expect(await judgeAll({ ...asked, sandboxPolicy, escalates: true })).toEqual(unbounded);
    expect(await judgeAll({ ...asked, sandboxPolicy, permissions: WRITES_OPT })).toEqual(unbounded);
  });

  test('a session grant replaces approval, but forbidden stays forbidden', async () => {
    const granted = (sandboxed: boolean) => {
      const grants = new SessionGrants();
      for (const script of COMMANDS)
        grants.allowCommand(commandKey({ argv: ['bash', '-lc', script], cwd: '/w', sandboxed }));
      return grants;
    };
    const all = (word: Word) => COMMANDS.map(() => (kind === 'forbidden' ? 'no' : word));
    expect(await judgeAll({ ...asked, grants: granted(true) })).toEqual(all('run'));
    expect(await judgeAll({ ...asked, grants: granted(false), escalates: true })).toEqual(
      all('free'),
    );
    expect(
      await judgeAll({
        ...asked,
        grants: granted(false),
        sandboxPolicy: { type: 'dangerFullAccess' },
      }),
    ).toEqual(all('free'));
    // A grant to run in the sandbox is not a grant to leave it.
    expect(await judgeAll({ ...asked, grants: granted(true), escalates: true })).toEqual(outside);
    expect(await judgeAll({ ...asked, grants: granted(true), cwd: '/other' })).toEqual(inside);
  });
});

test('on-failure: a command that may leave the sandbox for the session leaves at once', async () => {
  const grants = new SessionGrants();
  grants.allowCommand(
    commandKey({ argv: ['bash', '-lc', 'touch x'], cwd: '/w', sandboxed: false }),
  );
  expect(wordFor(await judge('touch x', { approvalPolicy: 'on-failure', grants }))).toBe('free');
  expect(wordFor(await judge('touch y', { approvalPolicy: 'on-failure', grants }))).toBe('retry');
});

test('granting the key of a question prevents the same question', async () => {
  const grants = new SessionGrants();
  const asked = await judge('touch x', { grants, escalates: true });
  if (asked.verdict !== 'ask' || asked.key === null) throw new Error('it was not asked');
  grants.allowCommand(asked.key);
  expect(wordFor(await judge('touch x', { grants, escalates: true }))).toBe('free');
  expect(wordFor(await judge('touch x', { grants }))).toBe('ask');
});

test('a command that was accepted for the session with its own permissions is accepted only with those', async () => {
  const grants = new SessionGrants();
  const asked = await judge('touch x', { grants, permissions: WRITES_OPT });
  expect(asked).toMatchObject({
    verdict: 'ask',
    sandboxed: true,
    reason: 'The command asks for more than the sandbox allows.',
  });
  if (asked.verdict !== 'ask' || asked.key === null) throw new Error('it was not asked');
  grants.allowCommand(asked.key);
  expect(wordFor(await judge('touch x', { grants, permissions: WRITES_OPT }))).toBe('run');
  expect(
    wordFor(await judge('touch x', { grants, permissions: { ...WRITES_OPT, network: true } })),
  ).toBe('ask');
  expect(wordFor(await judge('touch x', { grants }))).toBe('ask');
  expect(wordFor(await judge('touch x', { grants, escalates: true }))).toBe('out');
});

test('if names may mean other programs, they count only within the sandbox', async () => {
  const asked: Asked = { rules: RULES.allow, trustsNames: false };
  expect(await judgeAll(asked)).toEqual(['run', 'run', 'run', 'ask']);
  expect(await judgeAll({ ...asked, escalates: true })).toEqual(['out', 'out', 'out', 'out']);
  expect(await judgeAll({ ...asked, permissions: WRITES_OPT })).toEqual([
    'ask',
    'ask',
    'ask',
    'ask',
  ]);
  expect(await judgeAll({ ...asked, approvalPolicy: 'never', escalates: true })).toEqual([
    'no',
    'no',
    'no',
    'no',
  ]);
  expect(await judgeAll({ ...asked, sandboxPolicy: { type: 'dangerFullAccess' } })).toEqual([
    'out',
    'out',
    'out',
    'out',
  ]);
  expect(await judgeAll({ trustsNames: false })).toEqual(['look', 'look', 'ask', 'ask']);
});

test('granular: approval for rules does not include leaving the sandbox', async () => {
  const approvalPolicy: AskForApproval = {
    granular: { sandbox_approval: false, rules: true, mcp_elicitations: false },
  };
  expect(wordFor(await judge('ls', { approvalPolicy, rules: RULES.prompt }))).toBe('ask');
  expect(wordFor(await judge('ls', { approvalPolicy, rules: RULES.prompt, escalates: true }))).toBe(
    'no',
  );
});

describe('messages for people and models', () => {
  test("the reason for leaving the sandbox is the model's justification, else a default", async () => {
    expect(
      await judge('touch x', { escalates: true, justification: 'must write next door' }),
    ).toMatchObject({
      reason: 'must write next door',
    });
    expect(await judge('touch x', { escalates: true })).toMatchObject({
      reason: 'The command asks to run outside the sandbox.',
    });
    expect(await judge('touch x')).toMatchObject({ reason: null });
  });

  test('the message names the rule and its justification', async () => {
    const push: PrefixRule = {
      pattern: [['git'], ['push', 'send-pack']],
      decision: 'forbidden',
      justification: 'a person does that',
    };
    expect(await judge('git push', { rules: { rules: [push], problems: [] } })).toEqual({
      verdict: 'refuse',
      reason:
        'Rejected: a rule forbids `git push|send-pack` (a person does that). Do not try to achieve the same in another way.',
    });
    expect(await judge('$X push', { rules: { rules: [push], problems: [] } })).toMatchObject({
      verdict: 'ask',
      reason:
        'A rule forbids `git push|send-pack` (a person does that), and this command may run that.',
    });
  });

  test('the message names an unreadable rules file and the line', async () => {
    expect(await judge('ls', { rules: RULES.unreadable })).toMatchObject({
      reason: 'A rule that may forbid this command cannot be read: /h/rules/a.rules:3: expected (.',
    });
    expect(await judge('ls', { rules: RULES.unreadable, approvalPolicy: 'never' })).toMatchObject({
      verdict: 'refuse',
      reason: expect.stringContaining('never'),
    });
  });

  test('never and granular say why they refuse', async () => {
    expect(await judge('touch x', { approvalPolicy: 'never', escalates: true })).toMatchObject({
      reason: expect.stringMatching(/never/),
    });
    expect(
      await judge('touch x', { approvalPolicy: granular(false), escalates: true }),
    ).toMatchObject({
      reason: expect.stringMatching(/^Rejected: the approval policy does not allow/),
    });
  });
});

describe('the proposed amendment', () => {
  test.each<[string, string[] | null, string[] | null]>([
    ['touch x.txt', null, ['touch', 'x.txt']],
    ['touch x.txt', ['touch'], ['touch', 'x.txt']],
    ['cat x.txt y', ['cat'], ['cat']],
    ['cat x.txt y', ['cat', 'y'], ['cat', 'x.txt', 'y']],
    ['cat x.txt y', [''], ['cat', 'x.txt', 'y']],
    ['touch ""', null, null],
    ['touch x.txt', ['rm'], ['touch', 'x.txt']],
    ['touch x.txt', ['touch', 'x.txt', 'y'], ['touch', 'x.txt']],
    ['touch x.txt', [], ['touch', 'x.txt']],
    ['git push origin', ['git', 'push'], ['git', 'push', 'origin']],
    ['git push origin', ['git'], ['git', 'push', 'origin']],
    ['git -c a=b push', ['git', '-c'], null],
    ['npm test', ['npm'], ['npm', 'test']],
    ['python x.py', ['python'], null],
    ['tsx x.ts', null, null],
    ['awk 1 f', null, null],
    ['vim x', null, null],
    ['sed s/a/b/ f', null, null],
    ['make', null, ['make']],
    ['python3.12 -c pass', null, null],
    ['python', null, null],
    ['bash', null, null],
    ["bash -c 'touch x'", null, null],
    ['env touch x', ['env'], null],
    ['sudo touch x', ['sudo', 'touch'], null],
    ['xargs touch', null, null],
    ['rm -rf x', null, null],
    ['find . -newer x -name y', null, null],
    ['touch x && touch y', ['touch'], null],
    ['touch $X', ['touch'], null],
    ['touch x > y', ['touch'], null],
  ])('%s (the model proposes %j)', async (script, prefixRule, proposedAmendment) => {
    expect(await judge(script, { prefixRule, escalates: true })).toMatchObject({
      verdict: 'ask',
      proposedAmendment,
    });
  });
});

test.each(['on-request', 'on-failure', 'untrusted', 'never'] as const)(
  'what must stay in the sandbox never leaves it, whoever would allow it: %s',
  async (approvalPolicy) => {
    for (const rules of [RULES.none, ...Object.values(RULES)]) {
      for (const script of ['ls', 'rm -rf x', 'npm test', 'git status']) {
        const asked = { approvalPolicy, rules, staysInside: true };
        expect(await judge(script, { ...asked, escalates: true })).toMatchObject({
          verdict: 'refuse',
        });
        const inside = await judge(script, asked);
        if (inside.verdict !== 'refuse') expect(inside.sandboxed).toBe(true);
        if (inside.verdict === 'run') expect(inside.askIfRefused).toBe(false);
      }
    }
  },
);
