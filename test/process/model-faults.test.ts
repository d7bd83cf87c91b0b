// @module-tag slow
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Turn } from '../../src/protocol/generated/types.ts';
import { answered, created, message, ProviderServer, sse } from '../model/provider-server.ts';
import { drained } from '../support/settled.ts';
import { text } from '../support/test-client.ts';
import { type HeddleProcess, place, providerToml, startHeddle } from './support.ts';

const IDLE_MS = 300;
const MB = 1e6;

/** The behaviour of a provider on one connection. */
type Fault = (socket: Socket) => unknown;

/**
 * A provider whose first connections go wrong, one fault for each, and which answers all others.
 * Gives its port.
 */
async function faulty(...faults: Fault[]): Promise<number> {
  const provider = await ProviderServer.start(answered);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket.on('error', () => {}));
    return socket;
  };
  const server = createServer((socket) => {
    keep(socket);
    const fault = faults.shift();
    if (fault !== undefined) fault(socket);
    else socket.pipe(keep(connect(provider.port, '127.0.0.1'))).pipe(socket);
  });
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await provider[Symbol.asyncDispose]();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const head = (status: string, headers: string[] = ['content-type: text/event-stream']) =>
  [`HTTP/1.1 ${status}`, ...headers, 'connection: close', '', ''].join('\r\n');
const OK = head('200 OK');
const half = [created, ...message('half an answer').slice(0, 2)].map(sse).join('');

const farReasoning = [
  {
    type: 'response.output_item.added',
    output_index: 0,
    item: { type: 'reasoning', id: 'rs_1', summary: [] },
  },
  { type: 'response.reasoning_summary_part.added', item_id: 'rs_1', summary_index: 2 ** 32 - 2 },
  {
    type: 'response.reasoning_summary_text.delta',
    item_id: 'rs_1',
    summary_index: 2 ** 32 - 2,
    delta: 'far',
  },
  {
    type: 'response.reasoning_summary_text.delta',
    item_id: 'rs_1',
    summary_index: 3,
    delta: 'near',
  },
]
  .map(sse)
  .join('');

/** Reads the request and says this, and nothing more. */
const says =
  (...parts: string[]): Fault =>
  (socket) => {
    socket.resume();
    socket.write(parts.join(''));
  };

/** Reads the request, says this and closes the connection. */
const ends =
  (...parts: string[]): Fault =>
  (socket) => {
    socket.resume();
    socket.end(parts.join(''));
  };

/** Says this once, and `again` as often and as fast as it is read. */
const goesOn =
  (first: string, again: string | (() => string)): Fault =>
  async (socket) => {
    socket.resume();
    socket.write(first);
    while (!socket.destroyed) {
      if (!socket.write(typeof again === 'string' ? again : again())) await drained(socket);
    }
  };

async function failedTurn(
  heddle: HeddleProcess,
  threadId: string,
  input = text('hello'),
): Promise<Turn> {
  const turn = await heddle.turn(threadId, input);
  expect(turn.status).toBe('failed');
  const told = heddle.notifications('error', (sent) => sent.turnId === turn.id && !sent.willRetry);
  expect(told).toEqual([{ threadId, turnId: turn.id, willRetry: false, error: turn.error }]);
  return turn;
}

/** The next turn of the thread works, and each of them has ended once. */
async function expectGoesOn(heddle: HeddleProcess, threadId: string, failed: Turn): Promise<void> {
  const next = await heddle.turn(threadId, 'again');
  expect(next).toMatchObject({ status: 'completed', error: null });
  const ends = heddle.notifications('turn/completed', (sent) => sent.threadId === threadId);
  expect(ends.map(({ turn }) => turn.id)).toEqual([failed.id, next.id]);
  const { data } = await heddle.request('thread/turns/list', { threadId, itemsView: 'notLoaded' });
  expect(data.map(({ status, error }) => ({ status, error }))).toEqual([
    { status: 'completed', error: null },
    { status: 'failed', error: failed.error },
  ]);
}

/** `top`: further lines of the configuration, before its tables. */
async function startWith(
  port: number,
  settings: Record<string, number> = {},
  top = '',
): Promise<{ heddle: HeddleProcess; threadId: string }> {
  const toml = top + providerToml(port, { stream_idle_timeout_ms: IDLE_MS, ...settings });
  const heddle = await startHeddle(place({ 'config.toml': toml }));
  const { thread } = await heddle.request('thread/start', {});
  return { heddle, threadId: thread.id };
}

let items = 0;
const endlessItem = () => message('x', `msg_${items++}`).map(sse).join('');

describe('a provider that goes wrong fails the turn once, and the next one works', () => {
  const cases: { what: string; fault: Fault; error: RegExp }[] = [
    {
      what: 'closes the connection at once',
      fault: (socket) => socket.destroy(),
      error: /closed the connection without an answer/,
    },
    {
      what: 'resets the connection',
      fault: (socket) => socket.resetAndDestroy(),
      error: /closed the connection without an answer/,
    },
    { what: 'reads the request and is silent', fault: says(), error: /was silent for 0.3 s/ },
    {
      what: 'is silent within its headers',
      fault: says('HTTP/1.1 200 OK\r\ncontent-type: text/ev'),
      error: /was silent/,
    },
    {
      what: 'closes within its headers',
      fault: ends('HTTP/1.1 200 OK\r\ncontent-type: text/ev'),
      error: /closed the connection/,
    },
    { what: 'is silent after its headers', fault: says(OK), error: /was silent/ },
    {
      what: 'is silent in the middle of an event',
      fault: says(OK, half, 'event: resp'),
      error: /was silent/,
    },
    { what: 'is silent in the middle of a message', fault: says(OK, half), error: /was silent/ },
    { what: 'ends in the middle of a message', fault: ends(OK, half), error: /ended its stream/ },
    {
      what: 'cuts the connection in the middle of a chunk',
      fault: ends(
        head('200 OK', ['content-type: text/event-stream', 'transfer-encoding: chunked']),
        'ffff\r\n',
        half,
      ),
      error: /broke off its stream/,
    },
    { what: 'answers with no HTTP', fault: ends('SSH-2.0-server\r\n'), error: /not HTTP/ },
    {
      what: 'answers with noise',
      fault: ends(OK, '\u0000\u0001\ufffd{]\n\n\ndata\ndata:\n\ndata: {"type":\n\n'),
      error: /ended its stream/,
    },
    {
      what: 'answers with JSON of another kind',
      fault: ends(OK, 'data: 7\n\n'),
      error: /ended its stream/,
    },
    {
      what: 'answers with unknown events',
      fault: ends(OK, 'data: {}\n\ndata: {"type":7}\n\ndata: [DONE]\n\n'),
      error: /ended its stream/,
    },
    {
      what: 'skips four billion parts of its reasoning',
      fault: ends(OK, farReasoning),
      error: /ended its stream/,
    },
    {
      what: 'answers with a page',
      fault: ends(head('200 OK', ['content-type: text/html']), '<html>'),
      error: /text\/html/,
    },
    {
      what: 'sends the client elsewhere',
      fault: ends(head('302 Found', ['location: /v1/responses'])),
      error: /302/,
    },
    {
      what: 'fails without a word',
      fault: ends(head('500 Internal Server Error', ['content-length: 0'])),
      error: /500/,
    },
    {
      what: 'fails and is silent in the reason',
      fault: says(head('500 Internal Server Error', ['content-length: 99']), '{"err'),
      error: /500/,
    },
    {
      what: 'fails with a reason without end',
      fault: goesOn(head('500 Internal Server Error', []), 'x'.repeat(MB)),
      error: /500/,
    },
    {
      what: 'asks to come back in an hour',
      fault: ends(head('429 Too Many Requests', ['retry-after: 3600', 'content-length: 0'])),
      error: /429/,
    },
    {
      what: 'sends comments and no event',
      fault: goesOn(OK, ': still here\n\n'),
      error: /keeps sending data/,
    },
    {
      what: 'sends one line without end',
      fault: goesOn(`${OK}data: `, 'x'.repeat(MB)),
      error: /an event of more than/,
    },
    {
      what: 'sends a message without end',
      fault: goesOn(`${OK}${half}`, sse(delta('x'.repeat(64_000)))),
      error: /characters/,
    },
    { what: 'sends messages without end', fault: goesOn(OK, endlessItem), error: /1000 items/ },
  ];

  test.each(cases)('it $what', async ({ fault, error }) => {
    const { heddle, threadId } = await startWith(await faulty(fault));
    const turn = await failedTurn(heddle, threadId);
    expect(turn.error?.message).toMatch(error);
    await expectGoesOn(heddle, threadId, turn);
  });

  test('it never reads the request', async () => {
    // The window is so large that the history is sent as it is.
    const { heddle } = await startWith(
      await faulty((socket) => socket.pause()),
      {},
      'model_context_window = 1000000000\n',
    );
    const history = Array.from({ length: 15 }, () => ({
      type: 'message' as const,
      role: 'user',
      content: [{ type: 'input_text' as const, text: 'x'.repeat(MB) }],
    }));
    const { thread } = await heddle.request('thread/resume', { threadId: '', history });
    const turn = await failedTurn(heddle, thread.id);
    expect(turn.error?.message).toMatch(/was silent/);
    expect(await heddle.turn(thread.id, 'again')).toMatchObject({ status: 'completed' });
  });

  test('nobody listens where it should be', async () => {
    const port = await faulty();
    const unused = createServer().listen(0, '127.0.0.1');
    await once(unused, 'listening');
    const { port: nobody } = unused.address() as AddressInfo;
    unused.close();
    await once(unused, 'close');
    const { heddle } = await startWith(port);
    const config = { 'model_providers.fake.base_url': `http://127.0.0.1:${nobody}/v1` };
    const { thread } = await heddle.request('thread/start', { config });
    expect((await failedTurn(heddle, thread.id)).error?.message).toMatch(
      /the connection was refused/,
    );
    await heddle.request('thread/resume', {
      threadId: thread.id,
      config: { 'model_providers.fake.base_url': `http://127.0.0.1:${port}/v1` },
    });
    expect(await heddle.turn(thread.id, 'again')).toMatchObject({ status: 'completed' });
  });

  test('its name does not resolve', async () => {
    const { heddle, threadId } = await startWith(await faulty(), {
      stream_idle_timeout_ms: 10_000,
    });
    const config = { 'model_providers.fake.base_url': 'http://no-such-host.invalid/v1' };
    const { thread } = await heddle.request('thread/start', { config });
    expect((await failedTurn(heddle, thread.id)).error?.message).toMatch(/no-such-host\.invalid/);
    expect(await heddle.turn(threadId, 'hello')).toMatchObject({ status: 'completed' });
  });
});

test('a stream that breaks is asked for again, as often as the configuration says, and the client is told', async () => {
  const { heddle, threadId } = await startWith(await faulty(ends(OK, half), says(OK)), {
    stream_max_retries: 2,
  });
  expect(await heddle.turn(threadId, 'hello')).toMatchObject({ status: 'completed' });
  expect(
    heddle.notifications('error').map(({ willRetry, error }) => [willRetry, error.codexErrorInfo]),
  ).toEqual([
    [true, { responseStreamDisconnected: { httpStatusCode: null } }],
    [true, { responseStreamDisconnected: { httpStatusCode: null } }],
  ]);
});

function delta(value: string): object {
  return { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, delta: value };
}
