import { expect, test } from 'vitest';
import { answer, callThenEnd, PLAN_MODE, QUESTIONS, question } from '../support/asking.ts';
import { idOf } from '../support/counting-ids.ts';
import { agentItem, brief } from '../support/expected.ts';
import { Gate } from '../support/gate.ts';
import { type TestClient, text } from '../support/test-client.ts';
import { functionCall, message, messageBegun, response, TestModel } from '../support/test-model.ts';
import { readTurns } from '../support/thread-with.ts';
import { type ListeningServer, listeningServer } from './listening-server.ts';

const threadId = idOf(1);
const ASKED = 'item/tool/requestUserInput';
const ANSWER = { answers: { q: { answers: ['A'] } } };

/** The methods of the notifications that have come about turns and items. */
function heardOfTurns({ messages }: TestClient, from = 0): (string | undefined)[] {
  return messages
    .slice(from)
    .flatMap(({ id, method }) =>
      id === undefined && /^(?:turn|item)\//.test(method ?? '') ? [method] : [],
    );
}

async function withClients(
  count: number,
  ...responses: ConstructorParameters<typeof TestModel>
): Promise<{ server: ListeningServer; clients: TestClient[] }> {
  const server = await listeningServer({ model: new TestModel(...responses) });
  const clients = [];
  for (let index = 0; index < count; index++) clients.push(await server.join());
  return { server, clients };
}

test('a turn is shown to all who follow its thread, from when they do, and to nobody else', async () => {
  const gate = new Gate();
  const { clients } = await withClients(
    3,
    response(messageBegun('par'), [gate], message('partial').slice(2)),
  );
  const [starter, follower, stranger] = clients as [TestClient, TestClient, TestClient];
  await starter.request('thread/start', {});
  const { turn } = await starter.request('turn/start', { threadId, input: text('hi') });
  await starter.waitFor('item/agentMessage/delta');
  const { thread } = await follower.request('thread/resume', { threadId });
  expect(thread.turns.map(({ items }) => brief(items))).toEqual([['user: hi', 'agent: par']]);
  const [before, heard] = [starter.messages.length, follower.messages.length];
  gate.open();
  for (const client of [starter, follower])
    expect(await client.turnCompleted(turn.id)).toMatchObject({ items: [agentItem('partial')] });
  expect(heardOfTurns(follower, heard)).toEqual(heardOfTurns(starter, before));
  expect(heardOfTurns(follower, heard)).toContain('item/completed');
  await stranger.request('thread/loaded/list', {});
  expect(heardOfTurns(stranger)).toEqual([]);
});

test('a turn goes on when those who followed it have left', async () => {
  const gate = new Gate();
  const { server, clients } = await withClients(
    2,
    response(messageBegun('par'), [gate], message('partial').slice(2)),
  );
  const [starter, other] = clients as [TestClient, TestClient];
  await starter.request('thread/start', {});
  const { turn } = await starter.request('turn/start', { threadId, input: text('hi') });
  await starter.waitFor('item/agentMessage/delta');
  await starter.close();
  await other.request('thread/resume', { threadId });
  gate.open();
  await other.turnCompleted(turn.id);
  expect(server.log.warnings()).toEqual([]);
  const turns = await readTurns(server.client, threadId);
  expect(turns.map(({ items }) => brief(items))).toEqual([['user: hi', 'agent: partial']]);
});

async function asking(count: number) {
  const { server, clients } = await withClients(
    count,
    ...callThenEnd('request_user_input', QUESTIONS),
  );
  const [asker] = clients as [TestClient];
  await asker.request('thread/start', {});
  for (const client of clients.slice(1)) await client.request('thread/resume', { threadId });
  const { turn } = await asker.request('turn/start', { threadId, input: text('hi'), ...PLAN_MODE });
  return { server, clients, turnId: turn.id };
}

test('a question is shown to all followers under one id; the first answer counts, and the others see it resolved', async () => {
  const { server, clients, turnId } = await asking(3);
  const shown = await Promise.all(clients.map((client) => question(client, ASKED)));
  expect(new Set(shown.map(({ id }) => id)).size).toBe(1);
  const asked = { id: shown[0]?.id ?? -1 };
  const [, , last] = clients as [TestClient, TestClient, TestClient];
  answer(last, asked, ANSWER);
  for (const client of clients) {
    await client.turnCompleted(turnId);
    expect(client.notifications('serverRequest/resolved')).toEqual([
      { threadId, requestId: asked.id },
    ]);
  }
  // A late answer changes nothing.
  answer(clients[0] as TestClient, asked, { answers: { q: { answers: ['B'] } } });
  await (clients[0] as TestClient).request('thread/loaded/list', {});
  const output = server.model.request(2).input.find(({ type }) => type === 'function_call_output');
  expect(output).toMatchObject({ output: JSON.stringify(ANSWER) });
});

test('a question outlives the one who was asked: who resumes the thread gets it with its id, and answers it', async () => {
  const { server, clients, turnId } = await asking(1);
  const [asker] = clients as [TestClient];
  const asked = await question(asker, ASKED);
  await asker.close();
  const { thread } = await server.client.request('thread/read', { threadId });
  expect(thread.status).toEqual({ type: 'active', activeFlags: ['waitingOnUserInput'] });
  const next = await server.join();
  await next.request('thread/resume', { threadId });
  expect(await question(next, ASKED)).toEqual(asked);
  answer(next, asked, ANSWER);
  expect((await next.turnCompleted(turnId)).status).toBe('completed');
});

test('each connection has its own handshake, request ids and opt-outs', async () => {
  const { server, clients } = await withClients(1, response(message('hello')));
  const [client] = clients as [TestClient];
  const plain = await server.connect({ handshake: false });
  expect((await plain.refusal('thread/loaded/list', {})).message).toBe('Not initialized');
  await plain.initialize({ experimentalApi: false, optOutNotificationMethods: ['thread/started'] });
  const answers = [client, plain].map((one) => {
    one.send(JSON.stringify({ id: 'same', method: 'thread/loaded/list', params: {} }));
    return one.first('its answer', ({ id }) => id === 'same');
  });
  expect(await Promise.all(answers)).toEqual(
    answers.map(() => ({ id: 'same', result: { data: [], nextCursor: null } })),
  );
  await client.request('thread/start', {});
  await plain.request('thread/loaded/list', {});
  expect(plain.notifications('thread/started')).toEqual([]);
});

test('a goal is worked on with no client connected', async () => {
  const gate = new Gate();
  const { server, clients } = await withClients(
    1,
    response(message('one'), [gate], functionCall('update_plan', { plan: [] })),
    response(message('two')),
    response(functionCall('update_goal', { status: 'complete' })),
    response(message('three')),
  );
  const [client] = clients as [TestClient];
  await client.request('thread/start', {});
  await client.request('thread/goal/set', { threadId, objective: 'all green' });
  await gate.reached;
  await client.close();
  await server.client.close();
  gate.open();
  await server.model.asked(4);
  const next = await server.join();
  const { thread } = await next.request('thread/resume', { threadId });
  if (thread.status.type === 'active') await next.waitFor('turn/completed');
  expect(server.log.warnings()).toEqual([]);
  const { goal } = await next.request('thread/goal/get', { threadId });
  expect(goal?.status).toBe('complete');
  const turns = await readTurns(next, threadId);
  expect(turns.map(({ status }) => status)).toEqual(turns.map(() => 'completed'));
  expect(turns.length).toBeGreaterThan(1);
});

test('a server that ends with its clients does not go on towards a goal without one', async () => {
  const gate = new Gate();
  const server = await listeningServer({
    outlivesClients: false,
    model: new TestModel(response(message('one'), [gate])),
  });
  const client = await server.join();
  await client.request('thread/start', {});
  await client.request('thread/goal/set', { threadId, objective: 'all green' });
  await gate.reached;
  await client.close();
  gate.open();
  await server.client.request('thread/read', { threadId });
  await server.close();
  expect(server.model.requests).toHaveLength(1);
});
