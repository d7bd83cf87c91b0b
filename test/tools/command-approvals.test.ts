import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type {
  CommandExecutionApprovalDecision,
  CommandExecutionRequestApprovalParams,
} from '../../src/protocol/generated/types.ts';
import type { Message } from '../support/test-client.ts';
import type { TestServer } from '../support/test-server.ts';
import {
  commandServer,
  completed,
  done,
  FREE_CONFIG,
  modelOutput,
  runs,
  says,
  THREAD,
  writes,
} from './command-server.ts';

/**
 * A configuration in which every command that is not known to be harmless needs approval, and runs
 * without a sandbox.
 */
const ASKING = FREE_CONFIG.replace('"never"', '"untrusted"');

/** Starts a turn and returns the first request for approval. */
async function question(
  server: TestServer,
  nth = 1,
): Promise<{ id: Message['id']; params: CommandExecutionRequestApprovalParams }> {
  if (nth === 1) await server.client.request('turn/start', { threadId: THREAD, input: [] });
  const asked = () =>
    server.client.messages.filter(
      ({ method }) => method === 'item/commandExecution/requestApproval',
    );
  await server.client.first(`question ${nth}`, () => asked().length >= nth);
  const message = asked()[nth - 1];
  return { id: message?.id, params: message?.params as CommandExecutionRequestApprovalParams };
}

function answerWith(
  server: TestServer,
  id: Message['id'],
  decision: CommandExecutionApprovalDecision,
): void {
  server.client.send(JSON.stringify({ id, result: { decision } }));
}

test('a command that needs approval: item/started, the request, the answer, item/completed', async () => {
  const server = await commandServer([runs('touch x'), done], { config: ASKING });
  const { id, params } = await question(server);
  expect(params).toEqual({
    additionalPermissions: null,
    environmentId: 'local',
    threadId: THREAD,
    turnId: expect.any(String),
    itemId: 'call_1',
    approvalId: null,
    kind: 'command',
    startedAtMs: expect.any(Number),
    reason: null,
    command: "/bin/sh -lc 'touch x'",
    cwd: server.cwd,
    commandActions: [{ type: 'unknown', command: 'touch x' }],
    networkApprovalContext: null,
    proposedExecpolicyAmendment: ['touch', 'x'],
    proposedNetworkPolicyAmendments: null,
    availableDecisions: [
      'accept',
      'acceptForSession',
      { acceptWithExecpolicyAmendment: { execpolicy_amendment: ['touch', 'x'] } },
      'decline',
      'cancel',
    ],
  });
  expect(existsSync(join(server.cwd, 'x'))).toBe(false);
  answerWith(server, id, 'accept');
  expect((await server.client.waitFor('turn/completed')).turn.status).toBe('completed');
  expect(completed(server)).toMatchObject([
    { status: 'completed', exitCode: 0, aggregatedOutput: null },
  ]);
  expect(existsSync(join(server.cwd, 'x'))).toBe(true);
  const order = server.client.messages.map(({ method }) => method ?? '');
  const from = order.lastIndexOf(
    'item/started',
    order.indexOf('item/commandExecution/requestApproval'),
  );
  expect(order.slice(from - 1, from + 4)).toEqual([
    'thread/status/changed',
    'item/started',
    'item/commandExecution/requestApproval',
    'serverRequest/resolved',
    'thread/status/changed',
  ]);
  expect(order.filter((method) => method === 'item/started')).toHaveLength(2);
});

describe('an answer', () => {
  test('decline: the item is declined, the model is told, and the turn continues', async () => {
    const server = await commandServer([runs('touch x'), done], { config: ASKING });
    answerWith(server, (await question(server)).id, 'decline');
    expect((await server.client.waitFor('turn/completed')).turn.status).toBe('completed');
    expect(completed(server)).toMatchObject([
      { status: 'declined', exitCode: null, aggregatedOutput: null, durationMs: null },
    ]);
    expect(modelOutput(server)).toBe('The user declined this command, so it was not run.');
    expect(existsSync(join(server.cwd, 'x'))).toBe(false);
  });

  test('cancel: the item is declined, and the turn is interrupted', async () => {
    const server = await commandServer([runs('touch x')], { config: ASKING });
    answerWith(server, (await question(server)).id, 'cancel');
    expect((await server.client.waitFor('turn/completed')).turn.status).toBe('interrupted');
    expect(completed(server)).toMatchObject([{ status: 'declined' }]);
    expect(server.model.requests).toHaveLength(1);
  });

  test('acceptForSession: the same command needs no approval again, another one does', async () => {
    const server = await commandServer(
      [runs('touch x'), runs('touch x', {}, 'b'), runs('touch y', {}, 'c'), done],
      { config: ASKING },
    );
    answerWith(server, (await question(server)).id, 'acceptForSession');
    const second = await question(server, 2);
    expect(second.params.itemId).toBe('c');
    answerWith(server, second.id, 'accept');
    await server.client.waitFor('turn/completed');
    expect(completed(server).map(({ id, status }) => [id, status])).toEqual([
      ['call_1', 'completed'],
      ['b', 'completed'],
      ['c', 'completed'],
    ]);
  });

  test('acceptWithExecpolicyAmendment: the command is allowed from then on', async () => {
    const server = await commandServer([runs('touch x'), runs('touch x', {}, 'b'), done], {
      config: ASKING,
    });
    const { id, params } = await question(server);
    answerWith(server, id, {
      acceptWithExecpolicyAmendment: {
        execpolicy_amendment: params.proposedExecpolicyAmendment ?? [],
      },
    });
    await server.client.waitFor('turn/completed');
    expect(completed(server)).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
    expect(readFileSync(join(server.home, 'rules', 'default.rules'), 'utf8')).toBe(
      'prefix_rule(pattern=["touch", "x"], decision="allow")\n',
    );
  });

  test('an empty amendment allows only this command, and clients get a warning', async () => {
    const server = await commandServer([runs('touch x'), done], { config: ASKING });
    answerWith(server, (await question(server)).id, {
      acceptWithExecpolicyAmendment: { execpolicy_amendment: [] },
    });
    await server.client.waitFor('turn/completed');
    expect(completed(server)).toMatchObject([{ status: 'completed' }]);
    expect(existsSync(join(server.home, 'rules'))).toBe(false);
    expect(server.client.notifications('warning')).toHaveLength(1);
  });

  test('an amendment that cannot be stored: the command runs, and clients get a warning', async () => {
    const server = await commandServer([runs('touch x'), done], {
      config: ASKING,
      files: { 'home/rules': 'no folder' },
    });
    answerWith(server, (await question(server)).id, {
      acceptWithExecpolicyAmendment: { execpolicy_amendment: ['touch'] },
    });
    await server.client.waitFor('turn/completed');
    expect(completed(server)).toMatchObject([{ status: 'completed' }]);
    expect(server.client.notifications('warning')).toMatchObject([
      { message: expect.stringMatching(/^The rule could not be stored/) },
    ]);
  });

  test('a denied host or an error: the command does not run', async () => {
    const server = await commandServer([runs('touch x'), runs('touch y', {}, 'b'), done], {
      config: ASKING,
    });
    const deny = { host: 'example.org', action: 'deny' as const };
    answerWith(server, (await question(server)).id, {
      applyNetworkPolicyAmendment: { network_policy_amendment: deny },
    });
    const { id } = await question(server, 2);
    server.client.send(JSON.stringify({ id, error: { code: -32601, message: 'none' } }));
    await server.client.waitFor('turn/completed');
    expect(completed(server)).toMatchObject([{ status: 'declined' }, { status: 'declined' }]);
  });

  test('none before the turn is interrupted: the item is declined, and the command never runs', async () => {
    const server = await commandServer([runs('touch x')], { config: ASKING });
    const { id, params } = await question(server);
    await server.client.request('turn/interrupt', { threadId: THREAD, turnId: params.turnId });
    await server.client.waitFor('turn/completed');
    answerWith(server, id, 'accept');
    expect(completed(server)).toMatchObject([{ status: 'declined' }]);
    await server.client.request('thread/read', { threadId: THREAD });
    expect(existsSync(join(server.cwd, 'x'))).toBe(false);
  });
});

test('a command that a rule forbids is refused under any policy, without an item', async () => {
  const files = {
    'home/rules/mine.rules':
      'prefix_rule(pattern=["touch"], decision="forbidden", justification="Not here.")\n',
  };
  const server = await commandServer([runs('touch x'), done], { files });
  await server.client.turn(THREAD, 'go');
  expect(modelOutput(server)).toContain('Not here.');
  expect(completed(server)).toEqual([]);
  expect(existsSync(join(server.cwd, 'x'))).toBe(false);
});

test('a command that a rule forbids cannot be written to a running shell', async () => {
  const rules =
    'prefix_rule(pattern=["touch"], decision="forbidden")\nprefix_rule(pattern=["exec", "sh"], decision="allow")\n';
  const files = { 'home/rules/mine.rules': rules };
  const responses = [
    runs('echo up; exec sh', { tty: true }),
    writes('touch x\r'),
    writes('exit\n', {}, 'call_3'),
    done,
  ];
  const server = await commandServer(responses, { files });
  const turn = server.client.turn(THREAD, 'go');
  await says(server, 'up');
  await server.clock.timerOf(10_000);
  server.clock.advance(10_000);
  expect(await turn).toMatchObject({ status: 'completed' });
  expect(modelOutput(server, 'call_2')).toBe(
    'Rejected: a rule forbids `touch`. Do not try to achieve the same in another way.',
  );
  expect(
    server.client
      .notifications('item/commandExecution/terminalInteraction')
      .map(({ stdin }) => stdin),
  ).toEqual(['exit\n']);
  expect(existsSync(join(server.cwd, 'x'))).toBe(false);
});
