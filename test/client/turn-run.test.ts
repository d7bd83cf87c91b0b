import { describe, expect, test } from 'vitest';
import type { TurnRun } from '../../src/client/turn-run.ts';
import { completed, delta, FakeServer, THREAD, turn, turnCompleted } from './fake-server.ts';

const STARTED = { id: 1, result: { turn: turn('inProgress') } };

/** The methods of a turn's notifications up to its end, and how that was. */
async function methodsOf(run: TurnRun): Promise<string[]> {
  const methods: string[] = [];
  try {
    for await (const { method } of run) methods.push(method);
    methods.push('(end)');
  } catch (error) {
    methods.push(String(error));
  }
  return methods;
}

async function begin(
  options: { signal?: AbortSignal } = {},
): Promise<{ server: FakeServer; run: TurnRun }> {
  const server = new FakeServer();
  const run = server.client.turn({ threadId: THREAD, input: 'Hello' }, options);
  await server.message(0);
  return { server, run };
}

describe('a turn', () => {
  test('has all its notifications up to turn/completed, and its items and text', async () => {
    const { server, run } = await begin();
    expect(server.messages).toEqual([
      {
        id: 1,
        method: 'turn/start',
        params: { threadId: THREAD, input: [{ type: 'text', text: 'Hello' }] },
      },
    ]);
    server.send(
      delta('early'),
      delta('of another turn', { turnId: 'turn-0' }),
      STARTED,
      delta('of another thread', { threadId: 'thread-2' }),
      delta('on'),
      completed('early on'),
      { method: 'thread/status/changed', params: { threadId: THREAD, status: { type: 'idle' } } },
      turnCompleted('completed', 'turn-0'),
      turnCompleted(),
      delta('late'),
      turnCompleted(),
    );
    expect(await methodsOf(run)).toEqual([
      'item/agentMessage/delta',
      'item/agentMessage/delta',
      'item/completed',
      'turn/completed',
      '(end)',
    ]);
    expect(await run.started).toEqual(turn('inProgress'));
    expect(await run.result).toEqual({
      turn: turn('completed'),
      items: [completed('early on').params.item],
      text: 'early on',
    });
  });

  test('sends the given input and settings', async () => {
    const server = new FakeServer();
    const run = server.client.turn({
      threadId: THREAD,
      input: [{ type: 'image', url: 'data:,' }],
      model: 'other',
    });
    expect((await server.message(0)).params).toEqual({
      threadId: THREAD,
      input: [{ type: 'image', url: 'data:,' }],
      model: 'other',
    });
    server.send(STARTED, turnCompleted('failed'));
    expect(await run.result).toEqual({ turn: turn('failed'), items: [], text: '' });
  });

  test('has all notifications if reading begins when it has started', async () => {
    const { server, run } = await begin();
    server.send(delta('early'), STARTED, delta('with the answer'));
    await run.started;
    const reading = methodsOf(run);
    server.send(delta('on'));
    server.send(turnCompleted());
    expect(await reading).toEqual([
      ...Array.from({ length: 3 }, () => 'item/agentMessage/delta'),
      'turn/completed',
      '(end)',
    ]);
  });

  test('has its end if reading begins later, whatever came before', async () => {
    const { server, run } = await begin();
    server.send(STARTED);
    await run.started;
    for (let count = 0; count < 110; count++)
      server.send(...Array.from({ length: 1000 }, () => delta('on')));
    server.send(completed('on'), turnCompleted());
    expect((await run.result).text).toBe('on');
    expect(await methodsOf(run)).toEqual(['turn/completed', '(end)']);
    expect(await methodsOf(run)).toEqual(['(end)']);
  });

  test('continues with the newest notification if reading begins in the middle', async () => {
    const { server, run } = await begin();
    server.send(STARTED);
    await run.started;
    server.send(delta('one'), completed('one'));
    await server.settled();
    const reading = methodsOf(run);
    server.send(delta('two'), turnCompleted());
    expect(await reading).toEqual([
      'item/completed',
      'item/agentMessage/delta',
      'turn/completed',
      '(end)',
    ]);
  });

  test('that is refused rejects all its promises', async () => {
    const { server, run } = await begin();
    server.send({
      id: 1,
      error: { code: -32600, message: 'thread not found', data: { code: 'thread_not_found' } },
    });
    expect(await methodsOf(run)).toEqual(['RequestError: thread not found']);
    await expect(run.started).rejects.toThrow('thread not found');
    await expect(run.result).rejects.toMatchObject({ data: { code: 'thread_not_found' } });
  });

  test.each<[string, (server: FakeServer) => void, string]>([
    [
      'the server is gone',
      (server) => server.end(),
      'ConnectionError: the server has ended the connection',
    ],
    [
      'the client is closed',
      (server) => void server.client.close(),
      'ConnectionError: this client was closed before the turn ended',
    ],
    [
      'the thread is closed',
      (server) => server.send({ method: 'thread/closed', params: { threadId: THREAD } }),
      'Error: the thread was closed before the turn ended',
    ],
  ])('fails when %s, after the earlier notifications', async (_when, end, error) => {
    const { server, run } = await begin();
    server.send(STARTED, delta('one'));
    await server.settled();
    end(server);
    expect(await methodsOf(run)).toEqual(['item/agentMessage/delta', error]);
    await expect(run.result).rejects.toThrow(error.slice(error.indexOf(' ') + 1));
  });

  test('fails at once if the connection has ended', async () => {
    const server = new FakeServer();
    server.end();
    await server.client.closed;
    const run = server.client.turn({ threadId: THREAD, input: 'Hello' });
    expect(await methodsOf(run)).toEqual(['ConnectionError: the server has ended the connection']);
    await expect(run.started).rejects.toThrow('turn/start: the server has ended the connection');
  });

  test('goes on if it is not read to its end', async () => {
    const { server, run } = await begin();
    server.send(STARTED, delta('one'), delta('two'));
    for await (const _event of run) break;
    server.send(completed('one two'), turnCompleted());
    expect((await run.result).text).toBe('one two');
  });
});

describe('the signal of a turn', () => {
  test('interrupts the turn, which then ends', async () => {
    const controller = new AbortController();
    const { server, run } = await begin({ signal: controller.signal });
    server.send(STARTED);
    await run.started;
    controller.abort();
    expect(await server.message(1)).toEqual({
      id: 2,
      method: 'turn/interrupt',
      params: { threadId: THREAD, turnId: 'turn-1' },
    });
    server.send({ id: 2, result: {} }, turnCompleted('interrupted'));
    expect((await run.result).turn.status).toBe('interrupted');
  });

  test('interrupts a turn without a response as soon as the response comes', async () => {
    const controller = new AbortController();
    const { server, run } = await begin({ signal: controller.signal });
    controller.abort();
    server.send(STARTED);
    expect((await server.message(1)).method).toBe('turn/interrupt');
    server.send(
      { id: 2, error: { code: -32600, message: 'no active turn to interrupt' } },
      turnCompleted(),
    );
    expect((await run.result).turn.status).toBe('completed');
  });

  test('keeps the turn from starting if it is already aborted', async () => {
    const server = new FakeServer();
    const run = server.client.turn(
      { threadId: THREAD, input: 'Hello' },
      { signal: AbortSignal.abort(new Error('no')) },
    );
    await expect(run.result).rejects.toThrow('no');
    await server.settled();
    expect(server.messages.map(({ method }) => method)).toEqual([]);
  });

  test('has no effect after the end of the turn', async () => {
    const controller = new AbortController();
    const { server, run } = await begin({ signal: controller.signal });
    server.send(STARTED, turnCompleted());
    await run.result;
    controller.abort();
    await server.settled();
    expect(server.messages.map(({ method }) => method)).toEqual(['turn/start']);
  });
});
