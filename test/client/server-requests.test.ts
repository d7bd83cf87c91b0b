import { expect, test } from 'vitest';
import { FakeServer, THREAD } from './fake-server.ts';

const METHOD = 'item/commandExecution/requestApproval';

function question(id: unknown, command = 'make') {
  return {
    id,
    method: METHOD,
    params: { threadId: THREAD, turnId: 'turn-1', itemId: 'item-1', command },
  };
}

/** A promise that the test settles. */
function later() {
  let resolve = (_decision: { decision: 'accept' }) => {};
  const promise = new Promise<{ decision: 'accept' }>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

test.each(['7', '"seven"', '0', '-1', '9007199254740993', '9223372036854775807'])(
  'a request is answered under its id, as it is: %s',
  async (id) => {
    const server = new FakeServer();
    const asked: unknown[] = [];
    server.client.handle(METHOD, ({ command }) => {
      asked.push(command);
      return { decision: 'accept' };
    });
    server.write(`${JSON.stringify(question(0)).replace('"id":0', `"id":${id}`)}\n`);
    await server.message(0);
    expect(server.lines).toEqual([`{"id":${id},"result":{"decision":"accept"}}`]);
    expect(asked).toEqual(['make']);
  },
);

test('a request without a handler is refused', async () => {
  const server = new FakeServer();
  server.send(question(1), { id: 2, method: 'some/method' });
  await server.message(1);
  expect(server.messages).toEqual([
    { id: 1, error: { code: -32601, message: `${METHOD} is not supported by this client` } },
    { id: 2, error: { code: -32601, message: 'some/method is not supported by this client' } },
  ]);
});

test('with the option leave, a request without a handler is left open for other clients', async () => {
  const server = new FakeServer({ unhandledRequests: 'leave' });
  server.send(question(1));
  await server.settled();
  expect(server.messages.map(({ method }) => method)).toEqual([]);
});

test.each<[string, () => unknown, unknown]>([
  [
    'throws',
    () => Promise.reject(new Error('the window was closed')),
    { error: { code: -32603, message: 'the window was closed' } },
  ],
  ['throws no error', () => Promise.reject('gone'), { error: { code: -32603, message: 'gone' } }],
  [
    'throws nothing at all',
    () => Promise.reject(undefined),
    { error: { code: -32603, message: 'undefined' } },
  ],
  [
    'throws what has no text',
    () => Promise.reject(Object.create(null)),
    { error: { code: -32603, message: 'the handler failed' } },
  ],
  ['gives nothing', () => undefined, { result: null }],
  [
    'gives a function',
    () => () => 1,
    {
      error: {
        code: -32603,
        message: 'the handler returned a value that JSON cannot represent: function',
      },
    },
  ],
  [
    'gives a symbol',
    () => Symbol('a'),
    {
      error: {
        code: -32603,
        message: 'the handler returned a value that JSON cannot represent: symbol',
      },
    },
  ],
  [
    'gives what has no JSON',
    () => ({ toJSON: () => undefined }),
    {
      error: {
        code: -32603,
        message: 'the handler returned a value that JSON cannot represent: object',
      },
    },
  ],
  [
    'gives what is no JSON',
    () => 1n,
    { error: { code: -32603, message: 'Do not know how to serialize a BigInt' } },
  ],
])('a handler that %s still responds', async (_what, handler, answer) => {
  const server = new FakeServer();
  server.client.handle(METHOD, handler as () => { decision: 'accept' });
  server.send(question(1));
  expect(await server.message(0)).toEqual({ id: 1, ...(answer as object) });
});

test('if a request is resolved elsewhere, its handler is aborted, and it gets no response', async () => {
  const server = new FakeServer();
  const signals: AbortSignal[] = [];
  const first = later();
  server.client.handle(METHOD, (_params, { signal }) => {
    signals.push(signal);
    return signals.length === 1 ? first.promise : { decision: 'decline' };
  });
  server.send(question(1));
  server.send({ method: 'serverRequest/resolved', params: { threadId: THREAD, requestId: 1 } });
  await server.settled();
  expect(signals[0]?.aborted).toBe(true);
  first.resolve({ decision: 'accept' });
  server.send(question(2));
  await server.message(0);
  expect(server.messages).toEqual([{ id: 2, result: { decision: 'decline' } }]);
});

test('a request that is sent again while its handler runs has one handler and one response', async () => {
  const server = new FakeServer();
  const answer = later();
  let calls = 0;
  server.client.handle(METHOD, () => {
    calls++;
    return answer.promise;
  });
  server.send(question(1), question(1));
  await server.settled();
  answer.resolve({ decision: 'accept' });
  await server.message(0);
  await server.settled();
  expect(calls).toBe(1);
  expect(server.messages).toEqual([{ id: 1, result: { decision: 'accept' } }]);
});

test('the end of the connection aborts the handlers', async () => {
  const server = new FakeServer();
  const signals: AbortSignal[] = [];
  const answer = later();
  server.client.handle(METHOD, (_params, { signal }) => {
    signals.push(signal);
    return answer.promise;
  });
  server.send(question(1), question(2));
  server.end();
  await server.client.closed;
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  answer.resolve({ decision: 'accept' });
});

test('a method has one handler at a time', () => {
  const { client } = new FakeServer();
  const remove = client.handle(METHOD, () => ({ decision: 'accept' }));
  expect(() => client.handle(METHOD, () => ({ decision: 'decline' }))).toThrow(
    `${METHOD} already has a handler: remove that first`,
  );
  remove();
  const again = client.handle(METHOD, () => ({ decision: 'decline' }));
  remove();
  expect(() => client.handle(METHOD, () => ({ decision: 'decline' }))).toThrow(
    'already has a handler',
  );
  again();
});
