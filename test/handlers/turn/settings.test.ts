import { expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { Gate } from '../../support/gate.ts';
import { text } from '../../support/test-client.ts';
import { functionCall, message, response, TestModel } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';

/** A thread whose turn calls a tool once the gate is open. */
async function running() {
  const gate = new Gate();
  const plan = { plan: [{ step: 'one', status: 'pending' }] };
  const server = await startServer({
    model: new TestModel(
      response([gate], functionCall('update_plan', plan)),
      response(message('done')),
      response(message('second')),
    ),
  });
  await server.client.request('thread/start', {});
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('go'),
  });
  await server.model.asked(1);
  const update = (params: object) =>
    server.client.call('turn/settings/update', { threadId: idOf(1), turnId: turn.id, ...params });
  return { ...server, gate, turnId: turn.id, update };
}

test('turn/settings/update changes the later requests of the running turn, and no other turn', async () => {
  const { client, model, gate, turnId, update } = await running();
  const changes = {
    model: 'other',
    effort: 'high',
    summary: 'concise',
    serviceTier: 'flex',
    approvalsReviewer: 'auto_review',
  };
  expect(await update(changes)).toEqual({ status: 'applied' });
  expect(await update({ effort: 'low', environments: [] })).toEqual({ status: 'applied' });
  expect(await update({})).toEqual({ status: 'applied' });
  gate.open();
  expect((await client.turnCompleted(turnId)).status).toBe('completed');
  await client.turn(idOf(1), 'two');
  const plain = { model: 'test-model', effort: null, summary: null, serviceTier: null };
  expect(
    model.requests.map((asked) => ({
      model: asked.model,
      effort: asked.effort,
      summary: asked.summary,
      serviceTier: asked.serviceTier,
    })),
  ).toEqual([
    plain,
    { model: 'other', effort: 'low', summary: 'concise', serviceTier: 'flex' },
    plain,
  ]);
  expect(client.notifications('thread/settings/updated')).toEqual([]);
  const { model: kept, approvalsReviewer } = await client.request('thread/resume', {
    threadId: idOf(1),
    excludeTurns: true,
  });
  expect([kept, approvalsReviewer]).toEqual(['test-model', 'user']);
});

test('the target is unavailable if another turn runs, and that turn is not changed', async () => {
  const { client, model, gate, turnId, update } = await running();
  expect(await update({ turnId: 'another', model: 'other' })).toEqual({
    status: 'targetUnavailable',
  });
  gate.open();
  await client.turnCompleted(turnId);
  expect(await update({ model: 'other' })).toEqual({ status: 'targetUnavailable' });
  await client.turn(idOf(1), 'two');
  expect(model.requests.map((asked) => asked.model)).toEqual([
    'test-model',
    'test-model',
    'test-model',
  ]);
});

test('unknown threads, bad values and environments are refused', async () => {
  const { client, gate, turnId } = await running();
  const refused = (params: object) =>
    client.refusal('turn/settings/update', { threadId: idOf(1), turnId, ...params });
  expect([
    await refused({ threadId: idOf(9) }),
    await refused({ turnId: null }),
    await refused({ summary: 'nope' }),
    await refused({ environments: [{ environmentId: 'local', cwd: '/' }] }),
  ]).toEqual([
    {
      code: -32600,
      message: `thread not found: ${idOf(9)}`,
      data: { code: 'thread_not_found', threadId: idOf(9) },
    },
    {
      code: -32600,
      message: 'params.turnId: null is not a string',
      data: { code: 'invalid_params' },
    },
    {
      code: -32600,
      message: 'params.summary: "nope" is none of "auto", "concise", "detailed", "none"',
      data: { code: 'invalid_params' },
    },
    {
      code: -32600,
      message: 'turn/settings/update.environments is not supported by this server',
      data: { code: 'not_supported' },
    },
  ]);
  gate.open();
  await client.turnCompleted(turnId);
});
