import { expect, test } from 'vitest';
import type { CollaborationMode, TurnStartParams } from '../../src/protocol/generated/types.ts';
import { answer, callThenEnd, QUESTIONS, question } from '../support/asking.ts';
import { idOf } from '../support/counting-ids.ts';
import { text } from '../support/test-client.ts';
import { message, response, TestModel } from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';

function mode(
  kind: CollaborationMode['mode'],
  settings: Partial<CollaborationMode['settings']> = {},
): Partial<TurnStartParams> {
  const all = {
    model: 'test-model',
    reasoning_effort: null,
    developer_instructions: null,
    ...settings,
  };
  return { collaborationMode: { mode: kind, settings: all } };
}

async function startedWith(count: number): Promise<TestServer> {
  const model = new TestModel(...Array.from({ length: count }, () => response(message('ok'))));
  const server = await startServer({ model });
  await server.client.request('thread/start', {});
  return server;
}

/** The texts of the developer messages in a request. */
function developerTexts({ model }: TestServer, request: number): string {
  const texts = model.request(request).input.flatMap((item) => {
    if (item.type !== 'message' || item.role !== 'developer') return [];
    return item.content.map((part) => ('text' in part ? part.text : ''));
  });
  return texts.join('\n');
}

/** The output of the last call for the model. */
function output({ model }: TestServer): string {
  const item = model.requests.at(-1)?.input.findLast(({ type }) => type === 'function_call_output');
  return item?.type === 'function_call_output' ? JSON.stringify(item.output) : '';
}

test('the collaboration modes `plan` and `default` change what the model is told, and null means the built-in text', async () => {
  const server = await startedWith(3);
  await server.client.turn(idOf(1), 'a', mode('plan'));
  expect(developerTexts(server, 1)).toContain('Plan mode');
  await server.client.turn(idOf(1), 'b', mode('plan', { developer_instructions: 'OWN PLANNING' }));
  expect(developerTexts(server, 2)).toContain('OWN PLANNING');
  await server.client.turn(idOf(1), 'c', mode('default'));
  expect(developerTexts(server, 3)).toContain(
    'The collaboration mode has changed back to the default',
  );
});

test('one override leaves plan mode, for later turns and after a restart', async () => {
  const server = await startedWith(3);
  await server.client.turn(
    idOf(1),
    'a',
    mode('plan', { model: 'planner', reasoning_effort: 'high' }),
  );
  await server.client.turn(idOf(1), 'b', mode('default'));
  const { client, model } = await server.restart();
  const resumed = await client.request('thread/resume', { threadId: idOf(1) });
  expect(resumed.collaborationMode).toMatchObject(mode('default').collaborationMode ?? {});
  await client.turn(idOf(1), 'c');
  expect(client.notifications('thread/settings/updated')).toEqual([]);
  expect(model.requests.map(({ model: name, effort }) => [name, effort])).toEqual([
    ['planner', 'high'],
    ['test-model', null],
    ['test-model', null],
  ]);
});

test('a plan mode that is kept over a restart is shown to the client that resumes or forks the thread', async () => {
  const server = await startedWith(1);
  await server.client.turn(idOf(1), 'a', mode('plan'));
  const { client } = await server.restart();
  const resumed = await client.request('thread/resume', { threadId: idOf(1) });
  expect(resumed.collaborationMode?.mode).toBe('plan');
  const shown = await client.waitFor('thread/settings/updated');
  expect(shown).toMatchObject({
    threadId: idOf(1),
    threadSettings: { collaborationMode: { mode: 'plan' } },
  });
  const { thread } = await client.request('thread/fork', { threadId: idOf(1) });
  await client.waitFor('thread/settings/updated', ({ threadId }) => threadId === thread.id);
});

test('a client that does not know collaboration modes resumes the thread in the default mode, and the model is told', async () => {
  const server = await startedWith(2);
  await server.client.turn(idOf(1), 'a', mode('plan'));
  const restarted = await server.restart({ capabilities: null });
  await restarted.client.request('thread/resume', { threadId: idOf(1) });
  await restarted.client.turn(idOf(1), 'b');
  expect(developerTexts(restarted, 2)).toContain(
    'The collaboration mode has changed back to the default',
  );
});

test('update_plan is refused in plan mode', async () => {
  const plan = { plan: [{ step: 'one', status: 'pending' }] };
  const server = await startServer({ model: new TestModel(...callThenEnd('update_plan', plan)) });
  await server.client.request('thread/start', {});
  await server.client.turn(idOf(1), 'go', mode('plan'));
  expect(output(server)).toContain('update_plan is unavailable in plan mode');
  expect(server.client.notifications('turn/plan/updated')).toEqual([]);
});

test('`[features] default_mode_request_user_input` lets the model ask the user outside plan mode', async () => {
  const model = new TestModel(...callThenEnd('request_user_input', QUESTIONS));
  const overrides = ['features.default_mode_request_user_input=true'];
  const server = await startServer({ model, overrides });
  await server.client.request('thread/start', {});
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('go'),
  });
  answer(server.client, await question(server.client, 'item/tool/requestUserInput'), {
    answers: { q: { answers: ['A'] } },
  });
  await server.client.turnCompleted(turn.id);
  expect(output(server)).toContain('[\\"A\\"]');
  const tool = model
    .request(1)
    .tools.find((spec) => 'name' in spec && spec.name === 'request_user_input');
  expect(JSON.stringify(tool)).not.toContain('Available only in plan mode');
});

test('plan_mode_reasoning_effort is the effort of plan mode, unless the client names one, and only there', async () => {
  const model = new TestModel(...Array.from({ length: 6 }, () => response(message('ok'))));
  const { client } = await startServer({
    model,
    overrides: ['plan_mode_reasoning_effort="xhigh"', 'model_reasoning_effort="low"'],
  });
  const threadId = idOf(1);
  await client.request('thread/start', {});
  const without = {
    collaborationMode: { mode: 'plan' as const, settings: { model: 'test-model' } },
  };
  await client.turn(threadId, 'a');
  await client.turn(threadId, 'b', without);
  await client.turn(threadId, 'c');
  await client.turn(threadId, 'd', {
    collaborationMode: { mode: 'default', settings: { model: 'test-model' } },
  });
  await client.turn(threadId, 'e', mode('plan', { reasoning_effort: 'medium' }));
  await client.turn(threadId, 'f');
  expect(model.requests.map(({ effort }) => effort)).toEqual([
    'low',
    'xhigh',
    'xhigh',
    'low',
    'medium',
    'medium',
  ]);
});
