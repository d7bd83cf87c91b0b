import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { FakeServer } from './fake-server.ts';

const LIST = { data: [], nextCursor: null, backwardsCursor: null };

describe('a request', () => {
  test('gets the response with its id, in any order', async () => {
    const server = new FakeServer();
    const answers = [
      server.client.request('thread/list', { limit: 1 }),
      server.client.request('thread/loaded/list'),
    ];
    await server.message(1);
    server.send({ id: 2, result: { data: ['a'], nextCursor: null } }, { id: 1, result: LIST });
    expect(await Promise.all(answers)).toEqual([LIST, { data: ['a'], nextCursor: null }]);
    expect(server.messages).toEqual([
      { id: 1, method: 'thread/list', params: { limit: 1 } },
      { id: 2, method: 'thread/loaded/list', params: {} },
    ]);
  });

  test('for a method without params has none', async () => {
    const server = new FakeServer();
    const answer = server.client.request('configRequirements/read');
    expect(await server.message(0)).toEqual({ id: 1, method: 'configRequirements/read' });
    server.send({ id: 1, result: { requirements: null } });
    expect(await answer).toEqual({ requirements: null });
  });

  test('that is refused rejects with the code, message and data of the server', async () => {
    const server = new FakeServer();
    const answer = server.client.request('thread/read', { threadId: 'x' });
    server.send({
      id: 1,
      error: {
        code: -32600,
        message: 'no such thread',
        data: { code: 'thread_not_found', pid: 7 },
      },
    });
    await expect(answer).rejects.toMatchObject({
      name: 'RequestError',
      method: 'thread/read',
      code: -32600,
      message: 'no such thread',
      data: { code: 'thread_not_found', pid: 7 },
    });
  });

  test.each([
    [null, 'refused without a message: null'],
    ['no', 'refused without a message: "no"'],
    [{ code: 'x' }, 'refused without a message: {"code":"x"}'],
  ])('that is refused with a malformed error still rejects: %j', async (error, message) => {
    const server = new FakeServer();
    const answer = server.client.call('some/method');
    server.send({ id: 1, error });
    await expect(answer).rejects.toMatchObject({
      name: 'RequestError',
      code: 0,
      message,
      data: {},
    });
  });

  test('that is aborted rejects with the reason; its response is ignored', async () => {
    const server = new FakeServer();
    const controller = new AbortController();
    const answer = server.client.request('thread/list', {}, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
    server.send({ id: 1, result: LIST });
    await server.settled();
  });

  test('that is aborted before it begins is not sent', async () => {
    const server = new FakeServer();
    await expect(
      server.client.request('thread/list', {}, { signal: AbortSignal.abort(new Error('no')) }),
    ).rejects.toThrow('no');
    await server.settled();
    expect(server.messages.map(({ method }) => method)).toEqual([]);
  });

  test('without a response rejects after its timeout', async () => {
    const server = new FakeServer();
    await expect(server.client.request('thread/list', {}, { timeoutMs: 1 })).rejects.toMatchObject({
      name: 'RequestTimeoutError',
      message: 'thread/list: no response after 1 ms',
    });
  });

  test('that cannot be written as JSON rejects, and nothing is sent', async () => {
    const server = new FakeServer();
    await expect(server.client.call('some/method', { size: 1n })).rejects.toThrow(TypeError);
    await server.settled();
    expect(server.messages.map(({ method }) => method)).toEqual([]);
  });
});

describe('the handshake', () => {
  test('sends initialize, and initialized after the response', async () => {
    const server = new FakeServer();
    const clientInfo = { name: 'test', version: '1.0.0' };
    const answer = server.client.initialize({
      clientInfo,
      capabilities: { experimentalApi: true },
    });
    await server.message(0);
    expect(server.messages).toEqual([
      {
        id: 1,
        method: 'initialize',
        params: { clientInfo, capabilities: { experimentalApi: true } },
      },
    ]);
    server.send({ id: 1, result: { userAgent: 'x' } });
    expect(await answer).toEqual({ userAgent: 'x' });
    expect(await server.message(1)).toEqual({ method: 'initialized' });
  });

  test('that is refused sends no initialized', async () => {
    const server = new FakeServer();
    const answer = server.client.initialize({ clientInfo: { name: 'test', version: '1.0.0' } });
    server.send({ id: 1, error: { code: -32600, message: 'no' } });
    await expect(answer).rejects.toThrow('no');
    await server.settled();
    expect(server.messages.map(({ method }) => method)).toEqual(['initialize']);
  });
});

describe('an invalid message', () => {
  test('is skipped and reported', async () => {
    const server = new FakeServer();
    const answer = server.client.call('some/method');
    server.write('starting up\n\n[1]\n7\n{"id":1,\n');
    server.write(Buffer.from([0x22, 0xff, 0x22, 0x0a]));
    server.send({ id: 4, result: 'for nobody' }, { id: 1, result: 'here' });
    expect(await answer).toBe('here');
    expect(server.skipped).toEqual([
      'a line is not a JSON object: starting up',
      'a line is not a JSON object: ',
      'a line is not a JSON object: [1]',
      'a line is not a JSON object: 7',
      'a line is not a JSON object: {"id":1,',
      'a line is not UTF-8',
    ]);
  });

  test('with an invalid id gets no response', async () => {
    const server = new FakeServer();
    server.write(
      '{"id":null,"method":"a"}\n{"id":1.5,"method":"b"}\n{"id":99999999999999999999,"method":"c"}\n',
    );
    await server.settled();
    expect(server.skipped.length).toBe(3);
    expect(server.messages.map(({ method }) => method)).toEqual([]);
  });

  test('that is cut off at the end is ignored', async () => {
    const server = new FakeServer();
    const answer = server.client.call('some/method');
    server.write('{"id":1,"res');
    server.end();
    await expect(answer).rejects.toThrow('some/method: the server has ended the connection');
    expect(server.skipped).toEqual([]);
  });
});

describe('the end of the connection', () => {
  test.each<[string, (server: FakeServer) => void, string]>([
    ['by the server', (server) => server.end(), 'thread/list: the server has ended the connection'],
    [
      'by a broken input',
      (server) => server.toClient.destroy(new Error('ECONNRESET')),
      'thread/list: the connection has failed: ECONNRESET',
    ],
    [
      'by a broken output',
      (server) => server.fromClient.destroy(new Error('EPIPE')),
      'thread/list: the connection has failed: EPIPE',
    ],
    [
      'by a closed input',
      (server) => server.toClient.destroy(),
      'thread/list: the connection has been closed',
    ],
  ])('%s rejects every open and later request', async (_how, end, message) => {
    const server = new FakeServer();
    const open = server.client.request('thread/list');
    await server.message(0);
    end(server);
    await expect(open).rejects.toMatchObject({ name: 'ConnectionError', message });
    await server.client.closed;
    await expect(server.client.request('thread/list')).rejects.toMatchObject({
      name: 'ConnectionError',
      message,
    });
    expect(() => server.client.notify('initialized')).toThrow(
      message.replace('thread/list', 'initialized'),
    );
  });

  test('by close() lets the server respond to earlier requests', async () => {
    const server = new FakeServer();
    const open = server.client.call('some/method');
    await server.message(0);
    server.fromClient.removeAllListeners('end');
    const closing = server.client.close();
    await expect(server.client.call('one/more')).rejects.toThrow(
      'one/more: this client has been closed',
    );
    server.send({ id: 1, result: 'whole' });
    expect(await open).toBe('whole');
    server.end();
    await closing;
    await expect(server.client.call('one/more')).rejects.toThrow(
      'one/more: this client has been closed',
    );
  });

  test('by close() is waited for up to a limit', async () => {
    vi.useFakeTimers();
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const server = new FakeServer();
    server.fromClient.removeAllListeners('end');
    const open = expect(server.client.call('some/method')).rejects.toThrow(
      'some/method: the server did not end the connection within 5000 ms',
    );
    const closing = server.client.close();
    await vi.advanceTimersByTimeAsync(5000);
    await Promise.all([closing, open]);
  });

  test('can be requested twice, and after it has happened', async () => {
    const server = new FakeServer();
    await Promise.all([server.client.close(), server.client.close()]);
    await server.client.close();
  });
});

test('onMessage gets every message in both directions, as it is on the wire', async () => {
  const seen: string[] = [];
  const server = new FakeServer({
    onMessage: ({ direction, line, message }) => seen.push(`${direction} ${line} ${message.id}`),
  });
  const answer = server.client.call('some/method', { a: 1 });
  server.send({ id: 1, result: 1 }, { id: 'q', method: 'a/question', params: {} });
  await answer;
  await server.message(1);
  expect(seen).toEqual([
    'sent {"id":1,"method":"some/method","params":{"a":1}} 1',
    'received {"id":1,"result":1} 1',
    'received {"id":"q","method":"a/question","params":{}} q',
    'sent {"id":"q","error":{"code":-32601,"message":"a/question is not supported by this client"}} q',
  ]);
});
