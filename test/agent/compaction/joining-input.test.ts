import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TurnStartParams } from '../../../src/protocol/generated/types.ts';
import { idOf } from '../../support/counting-ids.ts';
import { Gate } from '../../support/gate.ts';
import { text } from '../../support/test-client.ts';
import { failed, message, response, type Step } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';

const threadId = idOf(1);
const schema = { type: 'object', properties: {}, additionalProperties: false };
const plan: TurnStartParams['collaborationMode'] = {
  mode: 'plan',
  settings: { model: 'm', reasoning_effort: null, developer_instructions: null },
};

/** A thread whose compaction waits for its summary, with the id of its turn. */
async function compacting(answer: readonly Step[] = response(message('SUMMARY'))) {
  const server = await startServer();
  const { client, model } = server;
  await client.request('thread/start', {});
  model.push(response(message('first')));
  await client.turn(threadId, 'one');
  const gate = new Gate();
  model.push([gate, ...answer], response(message('second')), response(message('second')));
  await client.request('thread/compact/start', { threadId });
  await model.asked(2);
  const turnId = client.notifications('turn/started').at(-1)?.turn.id ?? '';
  const finish = async () => {
    gate.open();
    await client.turnCompleted(turnId);
    const request = model.requests.at(-1);
    if (request === undefined) throw new Error('the model was not asked');
    return request;
  };
  return { server, client, turnId, finish };
}

test('input that joins a compaction is answered in its mode, which the model is told, and with its schema and tier', async () => {
  const { client, finish } = await compacting();
  await client.request('turn/start', {
    threadId,
    input: text('plan it'),
    collaborationMode: plan,
    outputSchema: schema,
    serviceTierForTurn: 'flex',
  });
  const request = await finish();
  expect(request).toMatchObject({ outputSchema: schema, serviceTier: 'flex' });
  expect(JSON.stringify(request.input).match(/Plan mode/gi) ?? []).not.toEqual([]);
});

test('input that joins a compaction which then fails is answered in its mode all the same', async () => {
  const { client, finish } = await compacting([failed('no summary', 'serverOverloaded')]);
  await client.request('turn/start', { threadId, input: text('plan it'), collaborationMode: plan });
  const { input } = await finish();
  expect(JSON.stringify(input)).toMatch(/Plan mode/i);
  expect(JSON.stringify(input)).toContain('first');
});

test('turn/settings/update during a compaction counts for the input that joins it, before or after', async () => {
  for (const isBefore of [true, false]) {
    const { client, turnId, finish } = await compacting();
    const update = () =>
      client.request('turn/settings/update', { threadId, turnId, effort: 'high' });
    if (isBefore) await update();
    await client.request('turn/start', { threadId, input: text('go on'), model: 'other' });
    if (!isBefore) await update();
    expect(await finish()).toMatchObject({ effort: 'high', model: 'other' });
  }
});

test('input that joins a turn during its user command is answered with its own settings too', async () => {
  const server = await startServer();
  const { client, model } = server;
  await client.request('thread/start', { sandbox: 'danger-full-access', approvalPolicy: 'never' });
  model.push(response(message('first')), response(message('first')));
  await client.request('thread/shellCommand', {
    threadId,
    command: 'until [ -e go ]; do sleep 0.02; done',
  });
  const { turn } = await client.request('turn/start', {
    threadId,
    input: text('one'),
    model: 'other',
    outputSchema: schema,
  });
  const end = client.turnCompleted(turn.id);
  writeFileSync(join(server.cwd, 'go'), '');
  await end;
  expect(client.notifications('turn/completed')).toHaveLength(1);
  expect(model.requests.at(-1)).toMatchObject({ model: 'other', outputSchema: schema });
});
