import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/json-value.ts';
import { emptyLayer } from '../../src/config/layers/layer.ts';
import {
  allowedPolicy,
  allowedReviewer,
  allowedSandboxMode,
  NO_REQUIREMENTS,
} from '../../src/config/requirements/requirements.ts';
import { asksAsMuch, permitsNoMore } from '../../src/config/strictness/asks-as-much.ts';
import {
  isReviewerAsStrict,
  isSandboxAsStrict,
} from '../../src/config/strictness/strictest-first.ts';
import { emptyTable, mergeTables } from '../../src/config/toml/config-table.ts';
import { withProjectSettings } from '../../src/config/with-project-settings.ts';
import { mayAsk } from '../../src/policy/approvals/may-ask.ts';
import { stricterApprovals } from '../../src/policy/approvals/stricter-approvals.ts';
import type { CommandVerdict } from '../../src/policy/command/command-verdict.ts';
import { judgeCommand } from '../../src/policy/command/judge-command.ts';
import { judgeMcpCall } from '../../src/policy/mcp/judge-mcp-call.ts';
import { judgeTarget } from '../../src/policy/network/judge-target.ts';
import type { NetworkTarget } from '../../src/policy/network/network-target.ts';
import { NO_LIMITS, networkPolicyOf } from '../../src/policy/network/read-network-table.ts';
import { type ParsedCommand, parseCommand } from '../../src/policy/parse/parse-command.ts';
import { hasBounds } from '../../src/policy/permissions/sandbox-bounds.ts';
import { SessionGrants } from '../../src/policy/permissions/session-grants.ts';
import type { CommandRules, PrefixRule } from '../../src/policy/rules/command-rules.ts';
import type {
  ApprovalsReviewer,
  AskForApproval,
  SandboxMode,
  SandboxPolicy,
} from '../../src/protocol/generated/types.ts';

const KINDS = [
  'sandbox_approval',
  'rules',
  'mcp_elicitations',
  'request_permissions',
  'skill_approval',
] as const;
const GRANULAR = Array.from({ length: 2 ** KINDS.length }, (_, bits): AskForApproval => {
  const flags = Object.fromEntries(
    KINDS.map((kind, index) => [kind, (bits >> index) % 2 === 1]),
  ) as Record<(typeof KINDS)[number], boolean>;
  return { granular: flags };
});
const POLICIES: AskForApproval[] = ['untrusted', 'on-failure', 'on-request', 'never', ...GRANULAR];
const PAIRS = POLICIES.flatMap((one) => POLICIES.map((other) => [one, other] as const));

const rule = (decision: PrefixRule['decision']): PrefixRule => ({
  pattern: [['touch']],
  decision,
  justification: null,
});
const RULES: CommandRules[] = [
  { rules: [], problems: [] },
  ...(['allow', 'prompt', 'forbidden'] as const).map((decision) => ({
    rules: [rule(decision)],
    problems: [],
  })),
  { rules: [], problems: [{ path: '/h/a.rules', line: 1, message: 'expected (' }] },
];
const SANDBOXES: SandboxPolicy[] = [
  { type: 'readOnly' },
  { type: 'workspaceWrite' },
  { type: 'dangerFullAccess' },
  { type: 'externalSandbox' },
];

/**
 * What happens with one action. `reads`: it runs, held to reading. `mayLeave`: it runs, and what
 * the sandbox stops is asked about.
 */
type Answer = 'reads' | 'runs' | 'mayLeave' | 'asked' | 'refused';

/** An answer to a question, and whether there is a sandbox. */
interface Answered {
  question: string;
  answer: Answer;
  isBounded: boolean;
}

/** The answers of the judges to all their questions under a policy. */
function answers(policy: AskForApproval): Answered[] {
  return SANDBOXES.flatMap((sandboxPolicy) => {
    const permissions: Answer = mayAsk(policy, 'request_permissions') ? 'asked' : 'refused';
    const network = [true, false].map(
      (hasProblems) => [['network', hasProblems], networkAnswer(policy, hasProblems)] as const,
    );
    const all = [
      ...commandAnswers(policy, sandboxPolicy),
      ...mcpAnswers(policy, sandboxPolicy),
      ...network,
      ['permissions', permissions] as const,
    ];
    const isBounded = hasBounds(sandboxPolicy);
    return all.map(([question, answer]) => ({
      question: JSON.stringify([sandboxPolicy, question]),
      answer,
      isBounded,
    }));
  });
}

function commandAnswers(approvalPolicy: AskForApproval, sandboxPolicy: SandboxPolicy) {
  return [...commandQuestions(COMMANDS)].map(([command, rules, escalates, widens, skillFile]) => {
    const verdict = judgeCommand({
      request: { ...REQUEST, command, escalates, permissions: widens ? NETWORK_TOO : null },
      ...{
        staysInside: false,
        sandboxPolicy,
        approvalPolicy,
        rules,
        grants: new SessionGrants(),
        leaving: null,
        project: '/w',
      },
      ...{ trustsNames: () => true, hasFixedProgram: true, skillFile },
    });
    return [
      [COMMANDS.indexOf(command), RULES.indexOf(rules), escalates, widens, skillFile],
      answerOf(verdict),
    ] as const;
  });
}

function mcpAnswers(approvalPolicy: AskForApproval, sandboxPolicy: SandboxPolicy) {
  const questions = (['auto', 'prompt', 'writes', 'approve'] as const).flatMap((mode) =>
    [true, false].map((readOnlyHint) => ({
      mode,
      annotations: { readOnlyHint },
      isGranted: false,
    })),
  );
  return questions.map((question) => {
    const judged = judgeMcpCall(question, { approvalPolicy, sandboxPolicy });
    return [question, judged === 'run' ? 'runs' : judged === 'ask' ? 'asked' : 'refused'] as const;
  });
}

const NETWORK_TOO = { read: [], write: [], network: true };
const REQUEST = { cwd: '/w', identity: new Map(), justification: null, prefixRule: null };

function answerOf(verdict: CommandVerdict): Answer {
  if (verdict.verdict !== 'run') return verdict.verdict === 'ask' ? 'asked' : 'refused';
  if (verdict.askIfRefused) return 'mayLeave';
  return verdict.readOnly ? 'reads' : 'runs';
}

function* commandQuestions(commands: readonly ParsedCommand[]) {
  for (const command of commands)
    for (const rules of RULES)
      for (const [escalates, widens] of [
        [false, false],
        [true, false],
        [false, true],
      ] as const)
        for (const skillFile of [null, 'a file of a skill'])
          yield [command, rules, escalates, widens, skillFile] as const;
}

const HTTP: NetworkTarget = { protocol: 'http', host: 'a.example', port: 80 };

function networkAnswer(approvalPolicy: AskForApproval, hasProblems: boolean): Answer {
  const situation = {
    policy: networkPolicyOf(NO_LIMITS),
    approvalPolicy,
    rules: [],
    hasProblems,
    isGranted: false,
    method: 'GET',
  };
  const { verdict } = judgeTarget(HTTP, situation);
  return verdict === 'allow' ? 'runs' : verdict === 'ask' ? 'asked' : 'refused';
}

const COMMANDS = await Promise.all(
  ['ls', 'touch x', 'ls $(x)'].map((script) => parseCommand(['bash', '-lc', script])),
);
const ANSWERS = new Map(POLICIES.map((policy) => [policy, answers(policy)]));

/**
 * The questions that are answered under one policy in a way that the answer under another one does
 * not admit.
 */
function wrong(
  one: AskForApproval,
  other: AskForApproval,
  admits: Record<Answer, readonly Answer[]>,
  where = [true, false],
): string[] {
  const others = ANSWERS.get(other) ?? [];
  return (ANSWERS.get(one) ?? []).flatMap(({ question, answer, isBounded }, index) => {
    const limit = others[index]?.answer ?? 'refused';
    return !where.includes(isBounded) || admits[limit].includes(answer)
      ? []
      : [`${question}: ${answer} in place of ${limit}`];
  });
}

const ANY: readonly Answer[] = ['reads', 'runs', 'mayLeave', 'asked', 'refused'];
/**
 * Nothing that is asked about runs or is refused without a question, and nothing that is refused
 * runs.
 */
const ASKS_AS_MUCH = {
  reads: ANY,
  runs: ANY,
  mayLeave: ['reads', 'mayLeave', 'asked'],
  asked: ['asked'],
  refused: ['asked', 'refused'],
} as const;
/** Nothing that is refused can be approved, and nothing that is asked about runs. */
const PERMITS_NO_MORE = {
  reads: ANY,
  runs: ANY,
  mayLeave: ANY,
  asked: ['asked', 'refused'],
  refused: ['refused'],
} as const;

test('for all pairs of approval policies: the stricter one asks about everything that the other one asks about, and lets nothing else run', () => {
  for (const [one, other] of PAIRS.filter((pair) => asksAsMuch(...pair))) {
    expect(wrong(one, other, ASKS_AS_MUCH), JSON.stringify([one, other])).toEqual([]);
  }
});

test.each([true, false])(
  'for all pairs of approval policies: an agent may do no more than its thread (in a sandbox: %j)',
  (isBounded) => {
    for (const [agents, threads] of PAIRS) {
      const policy = stricterApprovals(agents, threads, isBounded);
      expect([agents, threads]).toContain(policy);
      expect(
        wrong(policy, threads, PERMITS_NO_MORE, [isBounded]),
        JSON.stringify([agents, threads]),
      ).toEqual([]);
      expect(permitsNoMore(policy, threads, isBounded)).toBe(true);
    }
  },
);

test('for all pairs of approval policies: a project never asks less than the user, and what the user refuses does not run', () => {
  const layer = emptyLayer('/p/.codex/config.toml', {
    type: 'project',
    dotCodexFolder: '/p/.codex',
  });
  const table = (policy: AskForApproval): JsonObject =>
    Object.assign(emptyTable(), { approval_policy: policy });
  for (const [projects, users] of PAIRS) {
    const { config, ignoredKeys } = withProjectSettings(
      { ...layer, config: table(projects) },
      table(users),
    );
    const merged: unknown = JSON.parse(
      JSON.stringify(mergeTables(table(users), config).approval_policy),
    );
    const result = POLICIES.find((policy) => isDeepStrictEqual(policy, merged));
    expect(result).toEqual(ignoredKeys.length > 0 ? users : projects);
    expect(
      wrong(result ?? 'never', users, ASKS_AS_MUCH),
      JSON.stringify([projects, users]),
    ).toEqual([]);
  }
});

test('an order is an order: every value is as strict as itself, and three in a row are in order', () => {
  const orders: ((one: AskForApproval, other: AskForApproval) => boolean)[] = [
    asksAsMuch,
    (one, other) => permitsNoMore(one, other, true),
    (one, other) => permitsNoMore(one, other, false),
  ];
  for (const isAsStrict of orders) {
    for (const policy of POLICIES) expect(isAsStrict(policy, policy)).toBe(true);
    for (const [one, other] of PAIRS.filter((pair) => isAsStrict(...pair)))
      for (const third of POLICIES)
        expect(isAsStrict(other, third) && !isAsStrict(one, third)).toBe(false);
  }
});

/**
 * Checks the value that counts in place of one that is not allowed, for all lists of up to three
 * allowed values.
 */
function checkRequired<T>(
  values: readonly T[],
  isAsStrict: (one: T, other: T) => boolean,
  required: (value: T, allowed: readonly T[]) => T,
): void {
  const lists = values.flatMap((a) => [
    [a],
    ...values.flatMap((b) => [[a, b], ...values.slice(-4).map((c) => [a, b, c])]),
  ]);
  for (const allowed of lists) {
    for (const value of values) {
      const counts = required(value, allowed);
      const isFine =
        allowed.includes(counts) &&
        (allowed.some((one) => isAsStrict(one, value)) ? isAsStrict(counts, value) : true);
      const isLoosest = allowed.some((one) => isAsStrict(one, counts) && !isAsStrict(counts, one));
      if (!isFine || (isLoosest && !isAsStrict(counts, value)))
        expect.fail(JSON.stringify({ value, allowed, counts }));
      if (allowed.includes(value)) expect(counts).toEqual(value);
    }
  }
}

test('a requirement never loosens a setting if an allowed value is as strict, and otherwise the strictest allowed one counts', () => {
  const policies = POLICIES.filter((_, index) => index < 4 || index % 5 === 0);
  checkRequired(policies, asksAsMuch, (value, approvalPolicies) =>
    allowedPolicy(value, { ...NO_REQUIREMENTS, approvalPolicies }),
  );
  const modes: SandboxMode[] = ['read-only', 'workspace-write', 'danger-full-access'];
  checkRequired(modes, isSandboxAsStrict, (value, sandboxModes) =>
    allowedSandboxMode(value, { ...NO_REQUIREMENTS, sandboxModes }),
  );
  const reviewers: ApprovalsReviewer[] = ['user', 'auto_review', 'guardian_subagent'];
  checkRequired(reviewers, isReviewerAsStrict, (value, all) =>
    allowedReviewer(value, { ...NO_REQUIREMENTS, reviewers: all }),
  );
});
