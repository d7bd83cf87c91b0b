import { expect, test } from 'vitest';
import { answer, callThenEnd, PLAN_MODE, QUESTIONS, question } from '../support/asking.ts';
import { idOf } from '../support/counting-ids.ts';
import { taken } from '../support/settled.ts';
import { type TestClient, text } from '../support/test-client.ts';
import { functionCall, message, response, TestModel } from '../support/test-model.ts';
import { startServer, type TestServer, type TestServerOptions } from '../support/test-server.ts';
import { modelOutput } from '../tools/command-server.ts';

const METHOD = 'item/tool/requestUserInput';
const ANSWER = { answers: { q: { answers: ['A'] } } };
const TIMEOUT_MS = 60_000;

type Asking = TestServer & { turnId: string };

async function asking(options: TestServerOptions = {}, thread: object = {}): Promise<Asking> {
  const server = await startServer({
    ...options,
    model: new TestModel(...callThenEnd('request_user_input', QUESTIONS)),
  });
  await server.client.request('thread/start', thread);
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('go'),
    ...PLAN_MODE,
  });
  return { ...server, turnId: turn.id };
}

function resolved(client: TestClient) {
  return client.notifications('serverRequest/resolved');
}

async function resumed(server: TestServer): Promise<TestClient> {
  const client = await server.connect();
  await client.request('thread/resume', { threadId: idOf(1) });
  return client;
}

test('a client that resumes the thread gets the open request with its id, and both clients see it resolved', async () => {
  const server = await asking();
  const asked = await question(server.client, METHOD);
  const other = await resumed(server);
  expect(await question(other, METHOD)).toEqual(asked);
  answer(other, asked, ANSWER);
  await server.client.turnCompleted(server.turnId);
  await other.turnCompleted(server.turnId);
  for (const client of [server.client, other])
    expect(resolved(client)).toEqual([{ threadId: idOf(1), requestId: asked.id }]);
  expect(modelOutput(server)).toBe(JSON.stringify(ANSWER));
});

test('a request whose client has disconnected waits for the next client that resumes the thread', async () => {
  const server = await asking();
  const asked = await question(server.client, METHOD);
  await server.client.close();
  const other = await server.connect();
  expect((await other.request('thread/read', { threadId: idOf(1) })).thread.status).toEqual({
    type: 'active',
    activeFlags: ['waitingOnUserInput'],
  });
  await other.request('thread/resume', { threadId: idOf(1) });
  expect(await question(other, METHOD)).toEqual(asked);
  answer(other, asked, ANSWER);
  await other.turnCompleted(server.turnId);
  expect(modelOutput(server)).toBe(JSON.stringify(ANSWER));
});

test('a request also waits after its client unsubscribes, and a client that was not asked cannot answer it', async () => {
  const server = await asking();
  const { client } = server;
  const asked = await question(client, METHOD);
  const stranger = await server.connect();
  answer(stranger, asked, ANSWER);
  await taken(stranger);
  expect(resolved(client)).toEqual([]);
  await client.request('thread/unsubscribe', { threadId: idOf(1) });
  await client.request('thread/resume', { threadId: idOf(1) });
  expect(await question(client, METHOD, 2)).toEqual(asked);
  answer(client, asked, ANSWER);
  await client.turnCompleted(server.turnId);
});

test('if two clients answer at the same time, one answer counts', async () => {
  const server = await asking();
  const asked = await question(server.client, METHOD);
  const other = await resumed(server);
  await question(other, METHOD);
  answer(server.client, asked, { answers: { q: { answers: ['first'] } } });
  answer(other, asked, { answers: { q: { answers: ['second'] } } });
  await other.turnCompleted(server.turnId);
  expect(JSON.parse(modelOutput(server))).toEqual({
    answers: { q: { answers: [expect.stringMatching(/^(first|second)$/)] } },
  });
  expect(resolved(other)).toHaveLength(1);
});

test('an interrupt resolves open requests before the turn ends; a later answer is ignored', async () => {
  const server = await asking();
  const { client, turnId } = server;
  const asked = await question(client, METHOD);
  await client.request('turn/interrupt', { threadId: idOf(1), turnId });
  expect((await client.turnCompleted(turnId)).status).toBe('interrupted');
  const methods = client.messages.map(({ method }) => method);
  expect(methods.indexOf('serverRequest/resolved')).toBeLessThan(methods.indexOf('turn/completed'));
  answer(client, asked, ANSWER);
  expect((await client.request('thread/read', { threadId: idOf(1) })).thread.status).toEqual({
    type: 'idle',
  });
  expect(server.model.requests).toHaveLength(1);
});

test.each(['thread/archive', 'thread/delete'])('%s resolves open requests', async (method) => {
  const server = await asking();
  const asked = await question(server.client, METHOD);
  await server.client.call(method, { threadId: idOf(1) });
  expect(await server.client.waitFor('serverRequest/resolved')).toEqual({
    threadId: idOf(1),
    requestId: asked.id,
  });
  expect((await server.client.turnCompleted(server.turnId)).status).toBe('interrupted');
});

test('an ephemeral thread can ask like any other', async () => {
  const server = await asking({}, { ephemeral: true });
  const asked = await question(server.client, METHOD);
  answer(server.client, asked, ANSWER);
  expect((await server.client.turnCompleted(server.turnId)).status).toBe('completed');
});

test('when the server ends, the turn is interrupted, and its request is not sent again', async () => {
  const server = await asking();
  await question(server.client, METHOD);
  const { client } = await server.restart();
  const { thread } = await client.request('thread/resume', { threadId: idOf(1) });
  expect(thread.turns.map(({ status }) => status)).toEqual(['interrupted']);
  await taken(client);
  expect(client.messages.filter(({ method }) => method === METHOD)).toEqual([]);
});

test('with approval_timeout_ms, a question is not waited for longer, and the model is told', async () => {
  const server = await asking({ overrides: [`approval_timeout_ms=${TIMEOUT_MS}`] });
  const { client, clock, turnId } = server;
  const asked = await question(client, METHOD);
  expect(asked.params.autoResolutionMs).toBe(TIMEOUT_MS);
  clock.advance(TIMEOUT_MS - 1);
  const other = await resumed(server);
  expect(await question(other, METHOD)).toEqual(asked);
  clock.advance(1);
  expect((await client.turnCompleted(turnId)).status).toBe('completed');
  expect(resolved(client)).toEqual([{ threadId: idOf(1), requestId: asked.id }]);
  expect(JSON.parse(modelOutput(server))).toEqual({
    answers: {},
    note: `Nobody answered within ${TIMEOUT_MS / 1000} seconds.`,
  });
  expect(clock.timers).not.toContain(TIMEOUT_MS);
});

test('an answer in time stops the timer', async () => {
  const server = await asking({ overrides: [`approval_timeout_ms=${TIMEOUT_MS}`] });
  answer(server.client, await question(server.client, METHOD), ANSWER);
  await server.client.turnCompleted(server.turnId);
  expect(server.clock.timers).not.toContain(TIMEOUT_MS);
  expect(modelOutput(server)).toBe(JSON.stringify(ANSWER));
});

test('an invalid approval_timeout_ms is refused at thread/start', async () => {
  const { client } = await startServer({ overrides: ['approval_timeout_ms=0'] });
  const { data, message } = await client.refusal('thread/start', {});
  expect([data.code, message]).toEqual([
    'config_invalid',
    expect.stringMatching(/approval_timeout_ms.*expected a whole number, 1 or more/),
  ]);
});

test('two open requests are answered separately, and the thread waits until both are answered', async () => {
  const two = ['a', 'b'].map((id) => ({ ...QUESTIONS.questions[0], id }));
  const model = new TestModel(
    response(
      ...two.map((one) =>
        functionCall('request_user_input', { questions: [one] }, { callId: one.id }),
      ),
    ),
    response(message('done')),
  );
  const { client } = await startServer({ model });
  await client.request('thread/start', {});
  const { turn } = await client.request('turn/start', {
    threadId: idOf(1),
    input: text('go'),
    ...PLAN_MODE,
  });
  const [first, second] = [await question(client, METHOD, 1), await question(client, METHOD, 2)];
  expect(first.id).not.toBe(second.id);
  for (const asked of [second, first])
    answer(client, asked, {
      answers: { [asked.params.itemId]: { answers: [asked.params.itemId] } },
    });
  await client.turnCompleted(turn.id);
  expect(
    model
      .request(2)
      .input.flatMap((item) => (item.type === 'function_call_output' ? [item.output] : [])),
  ).toEqual(['a', 'b'].map((id) => JSON.stringify({ answers: { [id]: { answers: [id] } } })));
  const flags = client
    .notifications('thread/status/changed')
    .map(({ status }) => ('activeFlags' in status ? status.activeFlags : []));
  expect(flags).toEqual([[], ['waitingOnUserInput'], [], []]);
});
