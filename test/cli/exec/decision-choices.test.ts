import { expect, test } from 'vitest';
import {
  decisionChoices,
  decisionFor,
  PLAIN_DECISIONS,
} from '../../../src/cli/exec/asking/decision-choices.ts';
import type { CommandExecutionApprovalDecision } from '../../../src/protocol/generated/types.ts';
import { acceptWords } from '../../tools/questions.ts';

const host = (action: 'allow' | 'deny') => ({
  applyNetworkPolicyAmendment: { network_policy_amendment: { host: 'x.example', action } },
});

test('each decision that is offered has a key of its own, in the order in which it is offered', () => {
  const offered: CommandExecutionApprovalDecision[] = [
    'accept',
    acceptWords('npm', 'te\x1bst'),
    'acceptForSession',
    host('allow'),
    host('deny'),
    'decline',
    'cancel',
  ];
  expect(decisionChoices(offered).map(({ key, label }) => [key, label])).toEqual([
    ['y', 'yes'],
    ['a', 'yes, and from now on in this project commands that begin with: npm te\\x1bst'],
    ['s', 'yes, and the same again in this session without asking'],
    ['4', 'yes, and this host from now on: x.example'],
    ['x', 'no, and never this host: x.example'],
    ['n', 'no; the agent goes on'],
    ['c', 'no, and end the turn'],
  ]);
  expect(decisionChoices(offered).map(({ value }) => value)).toEqual(offered);
});

test.each([
  ['accept', PLAIN_DECISIONS, 'accept'],
  ['acceptForSession', PLAIN_DECISIONS, 'acceptForSession'],
  ['acceptForSession', ['accept', 'decline', 'cancel'], 'accept'],
  ['acceptForSession', ['decline'], 'decline'],
  ['accept', ['acceptForSession', acceptWords('ls'), 'decline'], 'decline'],
  ['cancel', ['accept', 'decline'], 'decline'],
  ['cancel', PLAIN_DECISIONS, 'cancel'],
  ['decline', PLAIN_DECISIONS, 'decline'],
] as const)(
  '--approve %s of %j is %j: it never allows more than is asked for and offered',
  (approve, offered, decision) => {
    expect(
      decisionFor(approve, decisionChoices<CommandExecutionApprovalDecision>([...offered])),
    ).toBe(decision);
  },
);
