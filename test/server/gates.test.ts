import { describe, expect, test } from 'vitest';
import { methods } from '../../src/protocol/generated/methods.ts';
import { idOf } from '../support/counting-ids.ts';
import { needsExperimentalApi } from '../support/expected.ts';
import { text } from '../support/test-client.ts';
import { startServer } from '../support/test-server.ts';

describe('without the experimental API', () => {
  test('every experimental method is refused by its name', async () => {
    const { client } = await startServer({ capabilities: { experimentalApi: false } });
    const experimental = Object.keys(methods).filter(
      (method) => methods[method]?.stability === 'experimental',
    );
    expect(experimental).toContain('collaborationMode/list');
    for (const method of experimental)
      expect([method, await client.refusal(method, {})]).toEqual([
        method,
        needsExperimentalApi(method),
      ]);
  });

  test('fields are refused by their names, also without capabilities', async () => {
    const { client } = await startServer({ capabilities: null });
    const { thread } = await client.request('thread/start', {});
    const { id: threadId } = thread;
    const mode = {
      mode: 'plan',
      settings: { model: 'm', reasoning_effort: null, developer_instructions: null },
    };
    const granular = { sandbox_approval: true, rules: true, mcp_elicitations: true };
    expect([
      await client.refusal('thread/start', { dynamicTools: [] }),
      await client.refusal('thread/start', { approvalPolicy: { granular } }),
      await client.refusal('thread/resume', { threadId, history: [] }),
      await client.refusal('thread/resume', { threadId, path: '/x' }),
      await client.refusal('thread/resume', { threadId, initialTurnsPage: {} }),
      await client.refusal('thread/fork', { threadId, path: '/x' }),
      await client.refusal('thread/fork', { threadId, beforeTurnId: idOf(2) }),
      await client.refusal('turn/start', { threadId, input: text('x'), collaborationMode: mode }),
      await client.refusal('turn/start', {
        threadId,
        input: text('x'),
        approvalPolicy: { granular },
      }),
      await client.refusal('turn/start', { threadId, input: text('x'), additionalContext: {} }),
      await client.refusal('thread/metadata/update', { threadId: idOf(1), daybreakEnabled: true }),
      await client.refusal('thread/metadata/update', { threadId: idOf(1), projectId: '' }),
    ]).toEqual(
      [
        'thread/start.dynamicTools',
        'askForApproval.granular',
        'thread/resume.history',
        'thread/resume.path',
        'thread/resume.initialTurnsPage',
        'thread/fork.path',
        'thread/fork.beforeTurnId',
        'turn/start.collaborationMode',
        'askForApproval.granular',
        'turn/start.additionalContext',
        'thread/metadata/update.daybreakEnabled',
        'thread/metadata/update.projectId',
      ].map(needsExperimentalApi),
    );
    expect(client.notifications('turn/started')).toEqual([]);
  });

  test('fields that are null pass', async () => {
    const { client } = await startServer({ capabilities: null });
    await client.request('thread/start', { dynamicTools: null, historyMode: null });
  });

  test('invalid params are reported first', async () => {
    const { client } = await startServer({ capabilities: null });
    expect(await client.refusal('thread/start', { dynamicTools: 'x' })).toMatchObject({
      data: { code: 'invalid_params' },
    });
  });
});

test('unknown methods are refused by their names', async () => {
  const { client } = await startServer();
  for (const method of [
    'no/such/method',
    '',
    'constructor',
    '__proto__',
    'toString',
    'x'.repeat(99),
  ]) {
    expect(await client.refusal(method, {})).toEqual({
      code: -32600,
      message: `unknown method: ${method}`,
      data: { code: 'unknown_method' },
    });
  }
});

test.each([
  ['thread/strat', 'did you mean thread/start?'],
  ['Thread/Start', 'did you mean thread/start?'],
  ['turn_interrupt', 'did you mean turn/interrupt?'],
  ['rollout/compres', null],
  ['initialized', 'this is a notification: send it without an id'],
])('the error about the unknown method %s names what was meant', async (method, hint) => {
  const { client } = await startServer();
  const { message } = await client.refusal(method, {});
  expect(message).toBe(`unknown method: ${method}${hint === null ? '' : `: ${hint}`}`);
});

test('methods of the protocol that are not served are refused by their names, whatever their params', async () => {
  const { client } = await startServer();
  const left = Object.keys(methods).filter((method) => methods[method]?.served === false);
  expect(left).toContain('rollout/compress');
  for (const method of left) {
    expect(await client.refusal(method, { x: 1 })).toEqual({
      code: -32600,
      message: `${method} is not supported by this server`,
      data: { code: 'not_supported' },
    });
  }
});

test('params that are missing, null or not an object are refused', async () => {
  const { client } = await startServer();
  const refused = async (params: unknown) => client.refusal('thread/loaded/list', params);
  const invalid = (message: string) => ({
    code: -32600,
    message,
    data: { code: 'invalid_params' },
  });
  expect([
    await refused(undefined),
    await refused(null),
    await refused([]),
    await refused([{}]),
    await refused(5),
    await refused('x'),
  ]).toEqual([
    invalid('params is missing: an object is expected'),
    invalid('params: null is not an object'),
    invalid('params: an array is not an object'),
    invalid('params: an array is not an object'),
    invalid('params: 5 is not an object'),
    invalid('params: "x" is not an object'),
  ]);
});

test('unknown params and unknown members are ignored', async () => {
  const { client } = await startServer();
  client.send(
    JSON.stringify({
      jsonrpc: '2.0',
      id: 'x',
      method: 'thread/loaded/list',
      params: { future: { x: 1 } },
      future: [1],
    }),
  );
  expect(await client.first('x', ({ id }) => id === 'x')).toEqual({
    id: 'x',
    result: { data: [], nextCursor: null },
  });
});

test('an internal failure is -32603 with its message, and logged; the server goes on', async () => {
  const { client, log } = await startServer({
    wrapStore: (store) => {
      store.listThreads = () => Promise.reject(new TypeError('a bug'));
      return store;
    },
  });
  expect(await client.refusal('thread/list', {})).toEqual({
    code: -32603,
    message: 'a bug',
    data: { code: 'internal_error' },
  });
  expect(log.takeErrors()).toEqual(['a handler failed']);
  await client.request('thread/loaded/list', {});
});
