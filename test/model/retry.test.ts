import { expect, test } from 'vitest';
import type { ProviderConfig } from '../../src/config/providers/provider-config.ts';
import { retryAfterMs, waitInTextMs } from '../../src/model/http/retry-after-ms.ts';
import { RETRY_WAIT_MS_MAX, RETRYING_MS_MAX, RetryPlan } from '../../src/model/http/retry-plan.ts';
import type { ModelEvent } from '../../src/model/model.ts';
import { modelFailure } from '../../src/model/model-failure.ts';
import { FakeClock } from '../support/fake-clock.ts';
import {
  answered,
  answeredEvents,
  collect,
  completed,
  message,
  modelAt,
  never,
  ProviderServer,
  type Reply,
  refusing,
  request,
  streaming,
} from './provider-server.ts';

const failing = (code: string, text = 'why'): Reply =>
  streaming({ type: 'response.failed', response: { error: { code, message: text } } });

/**
 * Asks once and lets each of the waits pass when it begins; gives the events and how many requests
 * there were.
 */
async function ask(
  replies: Reply[],
  limits: Partial<ProviderConfig>,
  waits: number[],
): Promise<{ events: ModelEvent[]; requests: unknown[] }> {
  await using server = await ProviderServer.start(...replies);
  const { model, clock } = modelAt(server.port, limits);
  const events = collect(model.stream(request, never));
  for (const wait of waits) {
    await clock.timerOf(wait);
    clock.advance(wait);
  }
  return { events: await events, requests: server.requests.map(({ body }) => body) };
}

const retriesAndErrors = (events: ModelEvent[]) =>
  events.map((event) =>
    event.type === 'retrying' || event.type === 'failed'
      ? [event.type, event.error.codexErrorInfo]
      : event.type,
  );

const retryingAfter = (httpStatusCode: number | null) => [
  'retrying',
  { responseStreamDisconnected: { httpStatusCode } },
];

test('a request that got no stream is tried again silently, the same again', async () => {
  const { events, requests } = await ask(
    [refusing(500), refusing(503), answered],
    { requestMaxRetries: 2 },
    [200, 400],
  );
  expect(events).toEqual(answeredEvents);
  expect(requests).toHaveLength(3);
  expect(requests[2]).toEqual(requests[0]);
});

test('a stream that broke is asked for again, and the client is told', async () => {
  const cut = streaming(...message('par').slice(0, 2));
  const { events, requests } = await ask([cut, cut, answered], { streamMaxRetries: 2 }, [200, 400]);
  const error = {
    message: expect.stringContaining('ended its stream'),
    codexErrorInfo: { responseStreamDisconnected: { httpStatusCode: null } },
  };
  const half = answeredEvents.slice(1, 2);
  const delta = { type: 'textDelta', itemId: 'msg_1', delta: 'par' };
  const spent = (ofStream: number, nextWaitMs: number, retryingMs: number) => ({
    ofRequest: 0,
    ofStream,
    nextWaitMs,
    retryingMs,
  });
  expect(events).toEqual([
    { type: 'started' },
    ...half,
    delta,
    {
      type: 'retrying',
      error: { ...error, additionalDetails: 'Retry 1 of at most 2, in 0.2 s.' },
      delayMs: 200,
      spent: spent(1, 400, 200),
    },
    { type: 'started' },
    ...half,
    delta,
    {
      type: 'retrying',
      error: { ...error, additionalDetails: 'Retry 2 of at most 2, in 0.4 s.' },
      delayMs: 400,
      spent: spent(2, 800, 600),
    },
    ...answeredEvents,
  ]);
  expect(requests).toHaveLength(3);
});

test('stream_max_retries N means N + 1 requests, then the last error', async () => {
  const { events, requests } = await ask(
    [failing('server_error')],
    { streamMaxRetries: 2 },
    [200, 400],
  );
  expect(retriesAndErrors(events)).toEqual([
    'started',
    retryingAfter(null),
    'started',
    retryingAfter(null),
    'started',
    ['failed', 'other'],
  ]);
  expect(requests).toHaveLength(3);
});

test('a provider that goes on refusing uses up both limits, and is told once the silent one is spent', async () => {
  const { events, requests } = await ask(
    [refusing(500)],
    { requestMaxRetries: 1, streamMaxRetries: 1 },
    [200, 400],
  );
  expect(retriesAndErrors(events)).toEqual([
    'started',
    retryingAfter(null),
    'started',
    ['failed', 'internalServerError'],
  ]);
  expect(requests).toHaveLength(3);
});

test('whatever went wrong is told as a broken stream while the model is asked again, with the HTTP status', async () => {
  const { events } = await ask([refusing(503)], { streamMaxRetries: 1 }, [200]);
  expect(retriesAndErrors(events)).toEqual([
    'started',
    retryingAfter(503),
    'started',
    ['failed', { httpConnectionFailed: { httpStatusCode: 503 } }],
  ]);
});

test('a refused connection is told from its first retry on, with growing waits, and forgotten when the provider is back', async () => {
  const server = await ProviderServer.start(answered);
  const { port } = server;
  await server[Symbol.asyncDispose]();
  const { model, clock } = modelAt(port, { requestMaxRetries: 1, streamMaxRetries: 1 });
  const events = collect(model.stream(request, never));
  for (const wait of [200, 400]) {
    await clock.timerOf(wait);
    clock.advance(wait);
  }
  const info = { httpConnectionFailed: { httpStatusCode: null } };
  expect(retriesAndErrors(await events)).toEqual([
    'started',
    retryingAfter(null),
    'started',
    retryingAfter(null),
    'started',
    ['failed', info],
  ]);
});

test.each([
  ['context_length_exceeded'],
  ['invalid_prompt'],
  ['insufficient_quota'],
  ['usage_limit_reached'],
  ['cyber_policy'],
])('%s does not pass, and is not tried again', async (code) => {
  const limits = { requestMaxRetries: 3, streamMaxRetries: 3 };
  for (const reply of [failing(code), refusing(429, { error: { code } })]) {
    const { events, requests } = await ask([reply, answered], limits, []);
    expect(events.map(({ type }) => type)).toEqual(['started', 'failed']);
    expect(requests).toHaveLength(1);
  }
});

test.each([400, 401, 403, 404, 413, 422, 302])('HTTP %i is not tried again', async (status) => {
  const { events, requests } = await ask(
    [refusing(status), answered],
    { requestMaxRetries: 3, streamMaxRetries: 3 },
    [],
  );
  expect(events.map(({ type }) => type)).toEqual(['started', 'failed']);
  expect(requests).toHaveLength(1);
});

test('the wait that a provider asks for is kept', async () => {
  const slow = refusing(429, '', { 'retry-after': '3' });
  const { events } = await ask(
    [slow, failing('rate_limit_exceeded', 'Please try again in 1.5s.'), answered],
    { requestMaxRetries: 1, streamMaxRetries: 1 },
    [3_000, 1_500],
  );
  expect(events.slice(-answeredEvents.length)).toEqual(answeredEvents);
  expect(events.find(({ type }) => type === 'retrying')).toMatchObject({ delayMs: 1_500 });
});

test('a provider that asks to retry in an hour has failed at once', async () => {
  for (const reply of [
    refusing(429, '', { 'retry-after': '3600' }),
    failing('rate_limit_exceeded', 'Try again in 1h0m0s.'),
  ]) {
    const { events, requests } = await ask(
      [reply, answered],
      { requestMaxRetries: 3, streamMaxRetries: 3 },
      [],
    );
    expect(events.at(-1)).toMatchObject({
      type: 'failed',
      error: { message: expect.stringContaining('asks to wait 3600 s') },
    });
    expect(requests).toHaveLength(1);
  }
});

test('an answer that completed after a retry leaves no timers', async () => {
  await using server = await ProviderServer.start(
    refusing(500),
    streaming(...message('ok'), completed),
  );
  const { model, clock } = modelAt(server.port, { requestMaxRetries: 1 });
  const events = collect(model.stream(request, never));
  await clock.timerOf(200);
  clock.advance(200);
  await events;
  await clock.idle();
});

test('waits double up to a limit, and retrying ends in time whatever the number allowed', () => {
  const clock = new FakeClock();
  const plan = new RetryPlan({ requestMaxRetries: 1_000, streamMaxRetries: 1_000 }, clock);
  const waits: number[] = [];
  for (
    let retry = plan.next(modelFailure('', 'other', 'stream'));
    retry !== null;
    retry = plan.next(modelFailure('', 'other', 'stream'))
  ) {
    waits.push(retry.delayMs);
    clock.advance(retry.delayMs);
  }
  expect(waits.slice(0, 11)).toEqual([
    200,
    400,
    800,
    1_600,
    3_200,
    6_400,
    12_800,
    25_600,
    51_200,
    RETRY_WAIT_MS_MAX,
    RETRY_WAIT_MS_MAX,
  ]);
  expect(clock.monotonic()).toBeLessThanOrEqual(RETRYING_MS_MAX);
});

const now = Date.UTC(2026, 0, 1);
test.each([
  [{}, null],
  [{ 'retry-after': '2' }, 2_000],
  [{ 'retry-after': ' 0.5 ' }, 500],
  [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
  [{ 'retry-after': 'Thu, 01 Jan 2015 00:00:00 GMT' }, 0],
  [
    { 'retry-after': 'Thu, 01 Jan 2015 00:00:30 GMT', date: 'Thu, 01 Jan 2015 00:00:00 GMT' },
    30_000,
  ],
  [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT', date: 'no date' }, 30_000],
  [{ 'retry-after': 'soon' }, null],
  [{ 'retry-after': '-1' }, null],
  [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1_500],
])('the headers %j ask to wait %j ms', (headers, expected) => {
  expect(retryAfterMs(headers, now)).toBe(expected);
});

test.each([
  ['Please try again in 0.1s.', 100],
  ['try again in 156ms. Visit …', 156],
  ['Try again in 6m0s.', 360_000],
  ['Retry after 20 seconds', 20_000],
  ['try again in 2 minutes and a bit', 120_000],
  ['try again in a while', null],
  ['try again in 99', null],
  ['', null],
])('the text %j asks to wait %j ms', (text, expected) => {
  expect(waitInTextMs(text)).toBe(expected);
});
