import { describe, expect, test, vi } from 'vitest';
import { delta, FakeServer, THREAD, turn, turnCompleted } from './fake-server.ts';

const METHOD = 'item/agentMessage/delta';

/** The values of an iterator up to its end, and how it ended. */
async function deltasOf(deltas: AsyncIterable<{ delta: string }>): Promise<string[]> {
  const texts: string[] = [];
  try {
    for await (const { delta: text } of deltas) texts.push(text);
    texts.push('(end)');
  } catch (error) {
    texts.push(String(error));
  }
  return texts;
}

describe('an iterator of notifications', () => {
  test('has all notifications since it was created, also those before it is read', async () => {
    const server = new FakeServer();
    server.send(delta('before'));
    await server.settled();
    const deltas = server.client.notifications(METHOD);
    server.send(delta('one'), { method: 'turn/started', params: {} }, delta('two'));
    await server.settled();
    server.send(delta('three'));
    await server.settled();
    await server.client.close();
    expect(await deltasOf(deltas)).toEqual(['one', 'two', 'three', '(end)']);
  });

  test('resolves promises that already wait', async () => {
    const server = new FakeServer();
    const deltas = server.client.notifications(METHOD);
    const both = [deltas.next(), deltas.next(), deltas.next()];
    server.send(delta('one'), delta('two'));
    server.end();
    const results = await Promise.allSettled(both);
    expect(
      results.map((result) =>
        result.status === 'fulfilled' ? result.value.value?.delta : String(result.reason),
      ),
    ).toEqual(['one', 'two', 'ConnectionError: the server has ended the connection']);
    expect(await deltas.next()).toEqual({ value: undefined, done: true });
  });

  test('throws when the server is gone, after all earlier notifications', async () => {
    const server = new FakeServer();
    const deltas = server.client.notifications(METHOD);
    server.send(delta('one'));
    server.end();
    await server.client.closed;
    expect(await deltasOf(deltas)).toEqual([
      'one',
      'ConnectionError: the server has ended the connection',
    ]);
    expect(await deltasOf(server.client.notifications(METHOD))).toEqual([
      'ConnectionError: the server has ended the connection',
    ]);
  });

  test('has only those of a thread if one is named', async () => {
    const server = new FakeServer();
    const deltas = server.client.notifications(METHOD, { threadId: 'b' });
    const started = server.client.notifications('thread/started', { threadId: 'b' });
    const thread = { id: 'b' };
    server.send(delta('a', { threadId: 'a' }), delta('b', { threadId: 'b' }), {
      method: 'thread/started',
      params: { thread },
    });
    await server.settled();
    await server.client.close();
    expect(await deltasOf(deltas)).toEqual(['b', '(end)']);
    expect(await started.next()).toEqual({ value: { thread }, done: false });
  });

  test('ends by its signal or by leaving the loop', async () => {
    const server = new FakeServer();
    const controller = new AbortController();
    const aborted = server.client.notifications(METHOD, { signal: controller.signal });
    const left = server.client.notifications(METHOD);
    server.send(delta('one'), delta('two'));
    await server.settled();
    for await (const _delta of left) break;
    controller.abort();
    server.send(delta('three'));
    await server.settled();
    expect(await deltasOf(aborted)).toEqual(['one', 'two', '(end)']);
    expect(await left.next()).toEqual({ value: undefined, done: true });
    expect(
      await deltasOf(server.client.notifications(METHOD, { signal: AbortSignal.abort() })),
    ).toEqual(['(end)']);
  });

  test('for all methods has the method of each notification', async () => {
    const server = new FakeServer();
    const events = server.client.events({ threadId: THREAD });
    server.send(delta('one'), { method: 'thread/closed', params: { threadId: THREAD } });
    expect(await events.next()).toEqual({ value: delta('one'), done: false });
    expect(await events.next()).toEqual({
      value: { method: 'thread/closed', params: { threadId: THREAD } },
      done: false,
    });
  });

  test('that is not read keeps notifications up to a limit; the connection goes on', async () => {
    const server = new FakeServer();
    const deltas = server.client.notifications(METHOD);
    const line = `${JSON.stringify(delta('x'))}\n`;
    server.write(line.repeat(100_001));
    await server.settled();
    await expect(deltas.next()).rejects.toThrow('more than 100000 notifications wait');
    expect(await deltas.next()).toEqual({ value: undefined, done: true });
  });

  test('that is read fast enough can have any number', async () => {
    const server = new FakeServer();
    const deltas = server.client.notifications(METHOD);
    const part = `${JSON.stringify(delta('x'))}\n`.repeat(60_000);
    let count = 0;
    for (let round = 0; round < 4; round++) {
      server.write(part);
      await server.settled();
      for (const end = (round + 1) * 60_000 - 10_000; count < end; count++) await deltas.next();
    }
    server.end();
    await server.client.closed;
    expect((await deltasOf(deltas)).length).toBe(10_001);
  });
});

test('malformed notifications do no harm', async () => {
  const server = new FakeServer();
  const started = server.client.notifications('thread/started', { threadId: THREAD });
  const run = server.client.turn({ threadId: THREAD, input: 'Hello' });
  server.send({ id: 1, result: { turn: turn('inProgress') } });
  await run.started;
  for (const params of [
    undefined,
    null,
    7,
    [],
    {},
    { threadId: THREAD },
    { threadId: THREAD, turn: null },
    { thread: null },
  ]) {
    for (const method of ['warning', 'serverRequest/resolved', 'thread/started', 'turn/completed'])
      server.send({ method, params });
  }
  server.send({ method: 'thread/started', params: { thread: { id: THREAD } } }, turnCompleted());
  expect((await run.result).turn.status).toBe('completed');
  await server.client.close();
  const ids = [];
  for await (const params of started) ids.push(params.thread?.id);
  expect(ids).toEqual([undefined, undefined, THREAD]);
});

describe('a listener', () => {
  test('gets notifications of its method until it is removed', async () => {
    const server = new FakeServer();
    const heard: string[] = [];
    const stop = server.client.on(METHOD, ({ delta: text }) => heard.push(text));
    server.send(delta('one'), { method: 'turn/started', params: {} });
    await server.settled();
    stop();
    server.send(delta('two'));
    await server.settled();
    expect(heard).toEqual(['one']);
  });

  test('that throws does not affect others, and its error is not hidden', async () => {
    const server = new FakeServer();
    const heard: string[] = [];
    const thrown: (() => void)[] = [];
    const microtask = vi
      .spyOn(globalThis, 'queueMicrotask')
      .mockImplementation((callback) => thrown.push(callback));
    server.client.on(METHOD, () => {
      throw new Error('a fault of the listener');
    });
    server.client.on(METHOD, ({ delta: text }) => heard.push(text));
    server.send(delta('one'), delta('two'));
    await server.settled();
    microtask.mockRestore();
    expect(heard).toEqual(['one', 'two']);
    expect(thrown.length).toBe(2);
    for (const callback of thrown) expect(callback).toThrow('a fault of the listener');
  });
});
