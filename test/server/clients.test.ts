import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { KeepAlive } from '../../src/base/keep-alive.ts';
import type { Answer } from '../../src/protocol/answer.ts';
import type {
  InitializeParams,
  ToolRequestUserInputParams,
  ToolRequestUserInputResponse,
} from '../../src/protocol/generated/types.ts';
import { Clients } from '../../src/server/clients.ts';
import { Connection } from '../../src/server/connection.ts';
import { streamTransport } from '../../src/transport/stream-transport.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RecordingLog } from '../support/recording-log.ts';
import { type Message, TestClient } from '../support/test-client.ts';

const THREAD = 'thread-1';
const never = new AbortController().signal;

/** Clients of a server that answers nothing but their handshakes. Each follows the thread. */
async function connectedClients(
  count: number,
  onInputEnd: (clients: Clients) => Promise<void> = async () => {},
): Promise<{
  clients: Clients;
  connected: TestClient[];
  join: () => Promise<TestClient>;
  log: RecordingLog;
}> {
  const log = new RecordingLog();
  const clients = new Clients({ clock: new FakeClock(), log });
  const connected: TestClient[] = [];
  let next = 0;
  const join = async () => {
    const client = new TestClient();
    client.read();
    const id = next++;
    const connection = new Connection(id, {
      transport: streamTransport({ input: client.input, output: client.output }),
      log: new RecordingLog(),
      clock: new FakeClock(),
      keepAlive: new KeepAlive(),
      tap: null,
      onShortRequest: () => {},
      onOverdue: () => {},
      warned: () => null,
      onInputEnd: () => onInputEnd(clients),
      onRequest: async (caller, _method, params) => caller.initialize(params as InitializeParams),
      onResponse: (from, answer) => clients.answer(answer, from.id).take(),
      onClosed: () => clients.remove(connection),
    });
    clients.add(connection);
    connection.listen();
    connected.push(client);
    await answered(client);
    clients.subscribe(THREAD, id);
    return client;
  };
  onTestFinished(async () => {
    await clients.close();
    expect(connected.flatMap(({ problems, waitingFor }) => [...problems, ...waitingFor])).toEqual(
      [],
    );
  });
  for (let index = 0; index < count; index++) await join();
  return { clients, connected, join, log };
}

const QUESTION: ToolRequestUserInputParams = {
  threadId: THREAD,
  turnId: 'turn-1',
  itemId: 'item-1',
  questions: [
    {
      id: 'q',
      header: 'Which',
      question: 'Which one?',
      isOther: false,
      isSecret: false,
      options: null,
    },
  ],
  isBlocking: true,
  autoResolutionMs: null,
};

function ask(
  clients: Clients,
  signal: AbortSignal = never,
): Promise<Answer<ToolRequestUserInputResponse>> {
  return clients.ask(
    { threadId: THREAD },
    { method: 'item/tool/requestUserInput', params: QUESTION },
    signal,
  );
}

function firstQuestion(client: TestClient): Promise<Message> {
  return client.first('the question', ({ method }) => method === 'item/tool/requestUserInput');
}

/** Resolves when the server has answered a request that comes behind everything else. */
async function answered(client: TestClient): Promise<void> {
  const id = `request ${client.messages.length}`;
  const answer = client.next(id, (message) => message.id === id);
  client.send(
    JSON.stringify({
      id,
      method: 'initialize',
      params: { clientInfo: { name: 'test', version: '1' } },
    }),
  );
  await answer;
}

const RESULT = { answers: { q: { answers: ['this one'] } } };

test('a question is shown to every client that follows the thread, under one id, and answered once', async () => {
  const { clients, connected } = await connectedClients(2);
  const answer = ask(clients);
  const [first, second] = connected as [TestClient, TestClient];
  const question = await firstQuestion(first);
  expect(question).toEqual({
    id: question.id,
    method: 'item/tool/requestUserInput',
    params: QUESTION,
  });
  expect(await firstQuestion(second)).toEqual(question);
  second.send(JSON.stringify({ id: question.id, result: RESULT }));
  first.send(JSON.stringify({ id: question.id, result: { answers: {} } }));
  expect(await answer).toEqual({ type: 'result', result: RESULT });
  for (const client of connected) {
    expect(await client.waitFor('serverRequest/resolved')).toEqual({
      threadId: THREAD,
      requestId: question.id,
    });
  }
  await answered(first);
  expect(first.notifications('serverRequest/resolved')).toHaveLength(1);
});

test('a question is not shown to those who follow another thread', async () => {
  const { clients, connected, join } = await connectedClients(1);
  const stranger = await join();
  clients.unsubscribe(THREAD, 1);
  const answer = ask(clients);
  const [client] = connected as [TestClient];
  const { id } = await firstQuestion(client);
  client.send(JSON.stringify({ id, result: RESULT }));
  await answer;
  await client.waitFor('serverRequest/resolved');
  expect(stranger.messages.filter(({ method }) => method !== undefined)).toEqual([]);
});

test('a client that comes later is shown what is open, under the same id, and can answer', async () => {
  const { clients, connected, join } = await connectedClients(1);
  const answer = ask(clients);
  const question = await firstQuestion(connected[0] as TestClient);
  const late = await join();
  clients.replay(THREAD, 1);
  expect(await firstQuestion(late)).toEqual(question);
  late.send(JSON.stringify({ id: question.id, result: RESULT }));
  expect(await answer).toEqual({ type: 'result', result: RESULT });
});

test('what has been answered is not shown again', async () => {
  const { clients, connected, join } = await connectedClients(1);
  const answer = ask(clients);
  const [client] = connected as [TestClient];
  const { id } = await firstQuestion(client);
  client.send(JSON.stringify({ id, result: RESULT }));
  await answer;
  const late = await join();
  clients.replay(THREAD, 1);
  await answered(late);
  expect(late.messages.filter(({ method }) => method !== undefined)).toEqual([]);
});

test('two questions have two ids in the whole server', async () => {
  const { clients, connected } = await connectedClients(1);
  const answers = [ask(clients), ask(clients)];
  const [client] = connected as [TestClient];
  await client.count(3, () => false);
  const questions = client.messages.filter(({ method }) => method === 'item/tool/requestUserInput');
  expect(new Set(questions.map(({ id }) => id)).size).toBe(2);
  for (const { id } of questions.toReversed())
    client.send(JSON.stringify({ id, result: { answers: { q: { answers: [String(id)] } } } }));
  expect(await Promise.all(answers)).toEqual(
    questions.map(({ id }) => ({
      type: 'result',
      result: { answers: { q: { answers: [String(id)] } } },
    })),
  );
});

test('an error of an observer does not settle a question that another client can answer', async () => {
  const { clients, connected } = await connectedClients(2);
  const [observer, person] = connected as [TestClient, TestClient];
  const answer = ask(clients);
  const { id } = await firstQuestion(observer);
  await firstQuestion(person);
  observer.send(JSON.stringify({ id, error: { code: -32601, message: 'method not found' } }));
  await answered(observer);
  expect(person.notifications('serverRequest/resolved')).toEqual([]);
  person.send(JSON.stringify({ id, result: RESULT }));
  expect(await answer).toEqual({ type: 'result', result: RESULT });
});

test('an error settles a question once the other clients are gone', async () => {
  const { clients, connected } = await connectedClients(2);
  const [left, last] = connected as [TestClient, TestClient];
  const answer = ask(clients);
  const { id } = await firstQuestion(last);
  left.input.end();
  last.send(JSON.stringify({ id, error: { code: -32601, message: 'method not found' } }));
  expect(await answer).toEqual({ type: 'error', message: 'method not found' });
});

test.each(['before', 'after'])(
  'a client that leaves the thread %s an error of the last other one is not waited for',
  async (order) => {
    const { clients, connected } = await connectedClients(2);
    const [observer, left] = connected as [TestClient, TestClient];
    const answer = ask(clients);
    const { id } = await firstQuestion(observer);
    await firstQuestion(left);
    if (order === 'before') clients.unsubscribe(THREAD, 1);
    observer.send(JSON.stringify({ id, error: { code: -32601, message: 'method not found' } }));
    await answered(observer);
    if (order === 'after') clients.unsubscribe(THREAD, 1);
    expect(await answer).toEqual({ type: 'error', message: 'method not found' });
  },
);

test('a client that has left the thread can still answer', async () => {
  const { clients, connected } = await connectedClients(2);
  const [, left] = connected as [TestClient, TestClient];
  const answer = ask(clients);
  const { id } = await firstQuestion(left);
  clients.unsubscribe(THREAD, 1);
  left.send(JSON.stringify({ id, result: RESULT }));
  expect(await answer).toEqual({ type: 'result', result: RESULT });
});

test('an error settles a question when the other client has closed its side, though a client that was not asked stays', async () => {
  let close = () => {};
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  onTestFinished(() => close());
  const drained = async (clients: Clients) => {
    clients.drain();
    await closed;
  };
  const { clients, connected } = await connectedClients(3, drained);
  clients.unsubscribe(THREAD, 2);
  const [observer, person] = connected as [TestClient, TestClient];
  const answer = ask(clients);
  const { id } = await firstQuestion(observer);
  observer.send(JSON.stringify({ id, error: { code: -32601, message: 'method not found' } }));
  await answered(observer);
  person.input.end();
  expect(await answer).toEqual({ type: 'error', message: 'method not found' });
});

const REPLIES = {
  result: (index: number) => [{ result: { answers: { q: { answers: [String(index)] } } } }],
  error: (index: number) => [{ error: { code: 0, message: String(index) } }],
  malformed: () => [{ result: 5 }],
  silent: () => [],
};

test('however clients answer, the first result counts, and without one the last refusal', async () => {
  const reply = fc.constantFrom(...(Object.keys(REPLIES) as (keyof typeof REPLIES)[]));
  await fc.assert(
    fc.asyncProperty(fc.array(reply, { minLength: 1, maxLength: 5 }), async (replies) => {
      const { clients, connected } = await connectedClients(replies.length);
      const answer = ask(clients);
      for (const [index, kind] of replies.entries()) {
        const client = connected[index] as TestClient;
        const { id } = await firstQuestion(client);
        for (const sent of REPLIES[kind](index)) client.send(JSON.stringify({ id, ...sent }));
        await answered(client);
      }
      const first = replies.indexOf('result');
      if (first !== -1)
        expect(await answer).toEqual({
          type: 'result',
          result: { answers: { q: { answers: [String(first)] } } },
        });
      else if (!replies.includes('silent')) expect(await answer).toMatchObject({ type: 'error' });
      else expect(connected[0]?.notifications('serverRequest/resolved')).toEqual([]);
    }),
    { numRuns: 40 },
  );
});

test('an error of the only client is an answer', async () => {
  const { clients, connected } = await connectedClients(1);
  const answer = ask(clients);
  const [client] = connected as [TestClient];
  const { id } = await firstQuestion(client);
  client.send(JSON.stringify({ id, error: { code: -32000, message: 'not now' } }));
  expect(await answer).toEqual({ type: 'error', message: 'not now' });
});

test('an abort resolves the question, and tells those who saw it', async () => {
  const { clients, connected } = await connectedClients(1);
  const abort = new AbortController();
  const answer = ask(clients, abort.signal);
  const [client] = connected as [TestClient];
  const { id } = await firstQuestion(client);
  abort.abort();
  expect(await answer).toEqual({ type: 'aborted' });
  expect(await client.waitFor('serverRequest/resolved')).toEqual({
    threadId: THREAD,
    requestId: id,
  });
  client.send(JSON.stringify({ id, result: RESULT }));
  await answered(client);
  expect(client.notifications('serverRequest/resolved')).toHaveLength(1);
});

test('with a signal that has aborted nobody is asked', async () => {
  const { clients, connected } = await connectedClients(1);
  expect(await ask(clients, AbortSignal.abort())).toEqual({ type: 'aborted' });
  const [client] = connected as [TestClient];
  await answered(client);
  expect(client.messages.filter(({ method }) => method !== undefined)).toEqual([]);
});

test('answers to nothing, twice, late or malformed are ignored', async () => {
  const { clients, connected } = await connectedClients(1);
  const [client] = connected as [TestClient];
  for (const id of [999, '0', null, -1, 1.5, {}])
    client.send(JSON.stringify({ id, result: RESULT }));
  const answer = ask(clients);
  const { id } = await firstQuestion(client);
  client.send(JSON.stringify({ id: String(id), result: { answers: {} } }));
  client.send(JSON.stringify({ id }));
  expect(await answer).toMatchObject({ type: expect.stringMatching(/^(result|error)$/) });
});

test('a question that nobody can see waits for somebody to come', async () => {
  const { clients, join } = await connectedClients(0);
  const answer = ask(clients);
  const client = await join();
  clients.replay(THREAD, 0);
  const { id } = await firstQuestion(client);
  client.send(JSON.stringify({ id, result: RESULT }));
  expect(await answer).toEqual({ type: 'result', result: RESULT });
});

test.each<[string, unknown]>([
  ['no object', 5],
  ['nothing', undefined],
  ['an object without what is wanted', {}],
  ['a text for a list', { answers: { q: { answers: 'this one' } } }],
])('an answer that is %s counts as an error, and is logged', async (_, result) => {
  const { clients, connected, log } = await connectedClients(1);
  const answer = ask(clients);
  const [client] = connected as [TestClient];
  const { id } = await firstQuestion(client);
  client.send(JSON.stringify({ id, result }));
  expect(await answer).toEqual({
    type: 'error',
    message: expect.stringMatching(/^the answer is malformed: /),
  });
  expect(log.warnings()).toEqual(["a client's answer is malformed and counts as a refusal"]);
});

test('who has not been asked cannot answer', async () => {
  const { clients, connected, join } = await connectedClients(1);
  const stranger = await join();
  clients.unsubscribe(THREAD, 1);
  const answer = ask(clients);
  const [client] = connected as [TestClient];
  const { id } = await firstQuestion(client);
  stranger.send(JSON.stringify({ id, result: { answers: {} } }));
  await answered(stranger);
  client.send(JSON.stringify({ id, result: RESULT }));
  expect(await answer).toEqual({ type: 'result', result: RESULT });
});

test('when nobody will come any more, what is open and what is asked later is not waited for; not before', async () => {
  const { clients, connected } = await connectedClients(1);
  const [client] = connected as [TestClient];
  const first = ask(clients);
  clients.drain();
  const { id } = await firstQuestion(client);
  client.send(JSON.stringify({ id, result: RESULT }));
  expect(await first).toEqual({ type: 'result', result: RESULT });
  const second = ask(clients);
  client.input.end();
  const refused = { type: 'clientGone' };
  expect(await second).toEqual(refused);
  expect(await ask(clients)).toEqual(refused);
});
