import { getEventListeners, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { EVENT_CHARS_MAX } from '../../src/model/http/response/event-reader.ts';
import type { ModelEvent } from '../../src/model/model.ts';
import {
  collect,
  completed,
  IDLE_MS,
  message,
  modelAt,
  never,
  ProviderServer,
  type Reply,
  refusing,
  request,
  sse,
  streaming,
} from './provider-server.ts';

const silent = (label: string, codexErrorInfo: unknown, part = '') => ({
  type: 'failed',
  error: {
    message: `${label} was silent for 5 s, the limit set by stream_idle_timeout_ms.${part}`,
    codexErrorInfo,
    additionalDetails: null,
  },
});
const UNANSWERED = { httpConnectionFailed: { httpStatusCode: null } };

function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** A reply that sends these bytes and then hangs, and tells the test so. */
function hanging(...parts: (object | string)[]): { reply: Reply; begun: Promise<ServerResponse> } {
  const { promise, resolve } = withResolvers<ServerResponse>();
  const reply: Reply = (res) => {
    if (parts.length > 0) {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(parts.map((part) => (typeof part === 'string' ? part : sse(part))).join(''));
    }
    resolve(res);
  };
  return { reply, begun: promise };
}

/** Takes events until one of this type came. */
async function until(events: AsyncIterator<ModelEvent>, type: ModelEvent['type']): Promise<void> {
  for (let next = await events.next(); ; next = await events.next()) {
    if (next.done) throw new Error(`the events ended before ${type}`);
    if (next.value.type === type) return;
  }
}

test('a host that swallows packets while connecting', async () => {
  const { model, clock } = modelAt(
    0,
    { baseUrl: 'http://swallowed.invalid' },
    { lookup: () => {} },
  );
  const events = collect(model.stream(request, never));
  await clock.timerOf(IDLE_MS);
  clock.advance(IDLE_MS);
  expect(await events).toEqual([
    { type: 'started' },
    silent('P (http://swallowed.invalid/responses)', UNANSWERED),
  ]);
  expect(clock.timers).toEqual([]);
});

test('a server that never answers', async () => {
  const { reply, begun } = hanging();
  await using server = await ProviderServer.start(reply);
  const { model, clock } = modelAt(server.port);
  const events = collect(model.stream(request, never));
  const res = await begun;
  clock.advance(IDLE_MS - 1);
  expect(clock.timers).toEqual([IDLE_MS]);
  clock.advance(1);
  expect(await events).toEqual([
    { type: 'started' },
    silent(`P (http://127.0.0.1:${server.port}/v1/responses)`, UNANSWERED),
  ]);
  await once(res, 'close');
  expect(clock.timers).toEqual([]);
});

test('a server that never reads a large request', async () => {
  const accepted: Socket[] = [];
  const server = createTcpServer({ pauseOnConnect: true }, (socket) =>
    accepted.push(socket.on('error', () => {})),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { model, clock } = modelAt(port);
  const events = collect(
    model.stream({ ...request, instructions: 'x'.repeat(32 * 1024 * 1024) }, never),
  );
  await once(server, 'connection');
  await clock.timerOf(IDLE_MS);
  clock.advance(IDLE_MS);
  expect((await events).at(-1)).toEqual(
    silent(`P (http://127.0.0.1:${port}/v1/responses)`, UNANSWERED),
  );
  expect(clock.timers).toEqual([]);
  for (const socket of accepted) socket.destroy();
  server.close();
  await once(server, 'close');
});

test('every piece of a large request that goes out starts the limit anew', async () => {
  await using server = await ProviderServer.start(streaming(completed));
  const { model, clock } = modelAt(server.port);
  const setTimer = vi.spyOn(clock, 'setTimer');
  const large = { ...request, instructions: 'x'.repeat(32 * 1024 * 1024) };
  expect((await collect(model.stream(large, never))).at(-1)).toEqual({
    type: 'completed',
    usage: null,
    responseId: 'resp_1',
  });
  expect(server.requests[0]?.body).toMatchObject({ instructions: large.instructions });
  expect(setTimer.mock.calls.length).toBeGreaterThan(8);
});

test('an answer that comes before the request is out counts', async () => {
  const server = createServer((_, res) =>
    res.writeHead(413, { 'content-type': 'text/plain' }).end('too large'),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { model, clock } = modelAt(port);
  const last = (
    await collect(model.stream({ ...request, instructions: 'x'.repeat(32 * 1024 * 1024) }, never))
  ).at(-1);
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  expect(last).toMatchObject({
    type: 'failed',
    error: { codexErrorInfo: 'contextWindowExceeded' },
  });
  expect(clock.timers).toEqual([]);
});

test('silence in the middle of a stream', async () => {
  const { reply, begun } = hanging(...message('par').slice(0, 2));
  await using server = await ProviderServer.start(reply);
  const { model, clock } = modelAt(server.port);
  const events = model.stream(request, never)[Symbol.asyncIterator]();
  await until(events, 'textDelta');
  const last = events.next();
  await clock.timerOf(IDLE_MS);
  clock.advance(IDLE_MS);
  expect((await last).value).toEqual(
    silent(
      `P (http://127.0.0.1:${server.port}/v1/responses)`,
      'other',
      ' Only a part of the answer came.',
    ),
  );
  expect((await events.next()).done).toBe(true);
  await once(await begun, 'close');
  expect(clock.timers).toEqual([]);
});

test('a reader that takes its time is no silence of the provider', async () => {
  const { reply, begun } = hanging(...message('par').slice(0, 2));
  await using server = await ProviderServer.start(reply);
  const { model, clock } = modelAt(server.port);
  const events = model.stream(request, never)[Symbol.asyncIterator]();
  await until(events, 'textDelta');
  clock.advance(IDLE_MS * 100);
  (await begun).end(sse(completed));
  expect((await events.next()).value).toEqual({
    type: 'completed',
    usage: null,
    responseId: 'resp_1',
  });
  expect((await events.next()).done).toBe(true);
});

test('bytes that say nothing keep a stream alive, but not for ever', async () => {
  const { reply, begun } = hanging(': ping\n\n');
  await using server = await ProviderServer.start(reply);
  const { model, clock } = modelAt(server.port);
  const events = collect(model.stream(request, never));
  const res = await begun;
  let over = false;
  const ended = events.then(() => {
    over = true;
  });
  let beats = 0;
  for (; !over && beats < 50; beats++) {
    clock.advance(IDLE_MS - 1);
    const heard = clock.nextTimer();
    res.write(beats % 2 === 0 ? ': ping\n\n' : 'data: {"type":"response.in_progress"}\n\n');
    await Promise.race([heard, ended]);
  }
  expect((await events).at(-1)).toMatchObject({
    type: 'failed',
    error: { message: expect.stringContaining('keeps sending data') },
  });
  expect(beats).toBeGreaterThan(10);
  expect(beats).toBeLessThan(15);
});

test('an error whose body never ends is told without it', async () => {
  const { promise: begun, resolve } = withResolvers<void>();
  await using server = await ProviderServer.start((res) => {
    res.writeHead(500, { 'content-type': 'text/plain' });
    res.write('half', () => resolve());
  });
  const { model, clock } = modelAt(server.port);
  const events = collect(model.stream(request, never));
  await begun;
  let over = false;
  const ended = events.then(() => {
    over = true;
  });
  while (!over) {
    const armed = clock.nextTimer();
    clock.advance(IDLE_MS);
    await Promise.race([armed, ended]);
  }
  expect((await events).at(-1)).toMatchObject({
    type: 'failed',
    error: { codexErrorInfo: expect.anything() },
  });
});

test('an error whose body is endless is read only as far as it is needed', async () => {
  await using server = await ProviderServer.start((res) => {
    res.writeHead(400, { 'content-type': 'text/plain' });
    const write = () => res.write('x'.repeat(16 * 1024), (error) => (error ? undefined : write()));
    write();
  });
  const last = (await collect(modelAt(server.port).model.stream(request, never))).at(-1);
  expect(last).toMatchObject({ type: 'failed', error: { codexErrorInfo: 'other' } });
  expect(JSON.stringify(last).length).toBeLessThan(3_000);
});

test('an event that is too long fails the stream', async () => {
  const piece = Buffer.alloc(1024 * 1024, 'x');
  await using server = await ProviderServer.start((res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    const write = () => res.write(piece, (error) => (error ? undefined : write()));
    res.write('data: ', write);
  });
  expect((await collect(modelAt(server.port).model.stream(request, never))).at(-1)).toMatchObject({
    type: 'failed',
    error: {
      message: expect.stringContaining(`sent an event of more than ${EVENT_CHARS_MAX} characters`),
    },
  });
});

test('a flood is read only as fast as it is taken', async () => {
  const count = 100_000;
  const [added, delta, done] = message('x'.repeat(300));
  const text = sse(delta ?? {});
  let written = 0;
  await using server = await ProviderServer.start(async (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(sse(added ?? {}));
    for (; written < count && !res.destroyed; written++)
      if (!res.write(text)) await once(res, 'drain');
    res.end(sse(done ?? {}) + sse(completed));
  });
  let taken = 0;
  for await (const event of modelAt(server.port).model.stream(request, never)) {
    if (event.type !== 'textDelta') continue;
    taken += 1;
    // Time enough for the whole flood to arrive, were it not held back.
    if (taken === 1) for (let turn = 0; turn < 3_000; turn++) await setImmediate();
    if (taken === 1) expect(written).toBeLessThan(count / 2);
  }
  expect(taken).toBe(count);
});

test('a reader that leaves early ends the connection', async () => {
  const { reply, begun } = hanging(...message('par').slice(0, 2));
  await using server = await ProviderServer.start(reply);
  const { model, clock } = modelAt(server.port);
  for await (const event of model.stream(request, never)) if (event.type === 'textDelta') break;
  await once(await begun, 'close');
  expect(clock.timers).toEqual([]);
});

test('a connection whose answer goes on after its end is given up', async () => {
  const { reply, begun } = hanging(...message('ok'), completed);
  await using server = await ProviderServer.start(reply);
  const { model, clock } = modelAt(server.port);
  expect((await collect(model.stream(request, never))).at(-1)).toEqual({
    type: 'completed',
    usage: null,
    responseId: 'resp_1',
  });
  const res = await begun;
  expect(clock.timers).toEqual([1_000]);
  clock.advance(1_000);
  await once(res, 'close');
  expect(clock.timers).toEqual([]);
});

interface Phase {
  name: string;
  /** Resolves when the phase is reached; `closed` when the provider saw the connection end. */
  start: () => { reply: Reply; reached: Promise<unknown>; closed: () => Promise<unknown> };
  seen: ModelEvent['type'][];
}

const phases: Phase[] = [
  {
    name: 'before the headers',
    start: () => {
      const { reply, begun } = hanging();
      return { reply, reached: begun, closed: async () => once(await begun, 'close') };
    },
    seen: ['started'],
  },
  {
    name: 'in the middle of the stream',
    start: () => {
      const { reply, begun } = hanging(...message('par').slice(0, 2));
      return { reply, reached: begun, closed: async () => once(await begun, 'close') };
    },
    seen: ['started', 'itemStarted', 'textDelta'],
  },
];

test.each(phases)(
  'an abort $name ends the events quietly and the connection at once',
  async ({ start, seen }) => {
    const { reply, reached, closed } = start();
    await using server = await ProviderServer.start(reply);
    const { model, clock } = modelAt(server.port, { requestMaxRetries: 3, streamMaxRetries: 3 });
    const abort = new AbortController();
    const types: string[] = [];
    const { promise: allSeen, resolve } = withResolvers<void>();
    const ended = (async () => {
      for await (const event of model.stream(request, abort.signal))
        if (types.push(event.type) === seen.length) resolve();
    })();
    await reached;
    await allSeen;
    const closing = closed();
    abort.abort();
    await ended;
    await closing;
    expect(types).toEqual(seen);
    expect(clock.timers).toEqual([]);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
    expect(server.requests).toHaveLength(1);
  },
);

test('an abort ends the connection at once, also while the reader is busy elsewhere', async () => {
  const { reply, begun } = hanging(...message('par').slice(0, 2));
  await using server = await ProviderServer.start(reply);
  const { model, clock } = modelAt(server.port);
  const abort = new AbortController();
  const events = model.stream(request, abort.signal)[Symbol.asyncIterator]();
  await until(events, 'textDelta');
  const closed = once(await begun, 'close');
  abort.abort();
  await closed;
  expect(await events.next()).toEqual({ value: undefined, done: true });
  expect(clock.timers).toEqual([]);
});

test('an abort before the start asks nobody', async () => {
  await using server = await ProviderServer.start(refusing(500));
  expect(await collect(modelAt(server.port).model.stream(request, AbortSignal.abort()))).toEqual(
    [],
  );
  expect(server.requests).toEqual([]);
});

test('an abort while connecting', async () => {
  const { model, clock } = modelAt(
    0,
    { baseUrl: 'http://swallowed.invalid' },
    { lookup: () => {} },
  );
  const abort = new AbortController();
  const events = collect(model.stream(request, abort.signal));
  await clock.timerOf(IDLE_MS);
  abort.abort();
  expect(await events).toEqual([{ type: 'started' }]);
  expect(clock.timers).toEqual([]);
  expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
});

test('an abort while waiting for a retry', async () => {
  await using server = await ProviderServer.start(refusing(500));
  const { model, clock } = modelAt(server.port, { requestMaxRetries: 3 });
  const abort = new AbortController();
  const events = collect(model.stream(request, abort.signal));
  await clock.timerOf(200);
  abort.abort();
  expect(await events).toEqual([{ type: 'started' }]);
  expect(clock.timers).toEqual([]);
  expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  expect(server.requests).toHaveLength(1);
});

test('an abort between events of one piece of the stream stops there', async () => {
  await using server = await ProviderServer.start(streaming(...message('ok'), completed));
  const { model } = modelAt(server.port);
  const abort = new AbortController();
  const types: string[] = [];
  for await (const event of model.stream(request, abort.signal)) {
    types.push(event.type);
    if (event.type === 'itemStarted') abort.abort();
  }
  expect(types).toEqual(['started', 'itemStarted']);
});
