// @module-tag slow
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { isObject } from '../../../src/base/json-value.ts';
import type { ModelRequest } from '../../../src/model/model.ts';
import type { TurnError } from '../../../src/protocol/generated/types.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import {
  completed,
  created,
  ProviderServer,
  type Reply,
  refusing,
  sse,
  streaming,
  message as wireMessage,
} from '../../model/provider-server.ts';
import { idOf } from '../../support/counting-ids.ts';
import { gatedStore } from '../../support/gated-store.ts';
import {
  failed,
  isForSummary,
  message,
  response,
  type ScriptedResponse,
  USAGE,
} from '../../support/test-model.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';

const threadId = idOf(1);
const LIMIT = 'model_auto_compact_token_limit = 10000\n';
const CONFIG = `model = "m"\nmodel_provider = "p"\n${LIMIT}[model_providers.p]\nbase_url = "http://127.0.0.1:9"\n`;

const asksForSummary = (body: unknown) =>
  isObject(body) && isForSummary(body as unknown as Pick<ModelRequest, 'input'>);

const usage = {
  input_tokens: 12_000,
  input_tokens_details: null,
  output_tokens: 5,
  output_tokens_details: null,
  total_tokens: 12_005,
};
const long = streaming(created, ...wireMessage('an answer'), {
  ...completed,
  response: { id: 'resp_1', usage },
});
const SUMMARY = [created, ...wireMessage('SUMMARY'), completed].map(sse).join('');

/**
 * A server whose provider answers each request of a summary with the next reply, and makes each
 * turn so long that the next one compacts.
 */
async function withProvider(
  summaries: Reply[],
): Promise<{ server: TestServer; provider: ProviderServer }> {
  const provider = await ProviderServer.start((res, req, body) => {
    const reply =
      req.method === 'GET'
        ? refusing(404)
        : asksForSummary(body)
          ? (summaries.shift() ?? long)
          : long;
    return reply(res, req, body);
  });
  const config = `model = "m"\nmodel_provider = "p"\n${LIMIT}[model_providers.p]\nbase_url = "http://127.0.0.1:${provider.port}/v1"\nrequest_max_retries = 0\nstream_max_retries = 0\n`;
  const server = await startServer({ config, model: null });
  await server.client.request('thread/start', {});
  await server.client.turn(threadId, 'first');
  return { server, provider };
}

/** Every turn compacts, one for each reply, and is answered. */
async function expectAnswers(replies: Reply[]): Promise<void> {
  const count = replies.length;
  const { server, provider } = await withProvider(replies);
  for (let turn = 1; turn <= count; turn++) {
    const { status, error } = await server.client.turn(threadId, `question ${turn}`);
    expect({ turn, status, error }).toEqual({ turn, status: 'completed', error: null });
  }
  expect(replies).toHaveLength(0);
  await provider[Symbol.asyncDispose]();
}

/** Sends so many bytes of the summary, and breaks the connection. */
const cutAt =
  (bytes: number): Reply =>
  (res: ServerResponse) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(SUMMARY.slice(0, bytes), () => res.destroy());
  };

test('a summary that is cut at any byte: each turn is answered', async () => {
  await expectAnswers(Array.from({ length: SUMMARY.length }, (_, bytes) => cutAt(bytes)));
}, 120_000);

test('a summary that ends early as if it were whole: each turn is answered', async () => {
  const cuts = Array.from({ length: Math.ceil(SUMMARY.length / 7) }, (_, index) => index * 7);
  await expectAnswers(cuts.map((bytes) => streaming(SUMMARY.slice(0, bytes))));
}, 60_000);

test('every answer of HTTP and every failure in a stream, in place of a summary: each turn is answered', async () => {
  const codes = [
    'context_length_exceeded',
    'invalid_prompt',
    'rate_limit_exceeded',
    'server_is_overloaded',
    'slow_down',
    'other',
  ];
  const inStream = codes.map((code) =>
    streaming(created, {
      type: 'response.failed',
      response: { id: 'resp_1', error: { code, message: `the error ${code}` } },
    }),
  );
  const statuses = [301, 400, 401, 403, 404, 408, 418, 429, 500, 502, 503, 504];
  const byHttp = statuses.flatMap((status) => [
    refusing(status),
    refusing(status, { error: { message: `no: ${status}` } }),
  ]);
  const garbage = [
    '',
    'data: {',
    'data: null\n\n',
    'data: {"type":"response.completed"}\n\n',
    '\0'.repeat(1_000),
    '{"ok":true}',
  ];
  const incomplete = streaming(created, {
    type: 'response.incomplete',
    response: { id: 'resp_1', incomplete_details: { reason: 'max_output_tokens' } },
  });
  await expectAnswers([
    ...byHttp,
    ...inStream.slice(1),
    incomplete,
    ...garbage.map((text) => streaming(text)),
    inStream[0] ?? incomplete,
  ]);
}, 60_000);

const INFOS: TurnError['codexErrorInfo'][] = [
  'contextWindowExceeded',
  'sessionBudgetExceeded',
  'usageLimitExceeded',
  'rateLimitExceeded',
  'flexUnavailable',
  'serverOverloaded',
  'modelNotFound',
  'cyberPolicy',
  'internalServerError',
  'unauthorized',
  'badRequest',
  'other',
  null,
  { httpConnectionFailed: { httpStatusCode: 502 } },
  { responseStreamConnectionFailed: { httpStatusCode: null } },
  { responseStreamDisconnected: { httpStatusCode: null } },
  { responseTooManyFailedAttempts: { httpStatusCode: 429 } },
];

const longResponse: ScriptedResponse = [
  ...message('an answer'),
  { type: 'completed', usage: { ...USAGE, inputTokens: 12_000 } },
];

test('every kind of error in place of a summary: the turn is answered, and so is the next', async () => {
  for (const info of INFOS) {
    const server = await startServer({ config: CONFIG });
    await server.client.request('thread/start', {});
    // A model that may have refused the items for what they are is asked again, with the
    // conversation as text.
    const refusals =
      info === 'contextWindowExceeded' ? 5 : info === 'other' || info === 'badRequest' ? 2 : 1;
    const refused: ScriptedResponse[] = Array.from({ length: refusals }, () => [
      failed('no summary', info),
    ]);
    const second = info === 'contextWindowExceeded' ? response(message('an answer')) : longResponse;
    const third = info === 'contextWindowExceeded' ? [] : [response(message('SUMMARY'))];
    server.model.push(longResponse, ...refused, second, ...third, response(message('third')));
    await server.client.turn(threadId, 'one');
    for (const question of ['two', 'three'])
      expect({ info, ...(await server.client.turn(threadId, question)) }).toMatchObject({
        info,
        status: 'completed',
        error: null,
      });
    expect(server.client.notifications('warning')).toHaveLength(1);
  }
});

test('a store that fails at any write of a compaction: the thread goes on once it works again', async () => {
  for (let fails = 1; fails <= 12; fails++) {
    let writes = Number.NEGATIVE_INFINITY;
    const full = () => {
      if (++writes === fails)
        throw new StoreError('store_full', 'the disk is full', { file: 'heddle.db' });
    };
    const server = await startServer({
      config: CONFIG,
      wrapStore: (store) => gatedStore(store, full),
    });
    await server.client.request('thread/start', {});
    server.model.push(longResponse);
    await server.client.turn(threadId, 'one');
    server.model.push(response(message('SUMMARY')), response(message('second')));
    writes = 0;
    const started = await server.client.ask('turn/start', {
      threadId,
      input: [{ type: 'text', text: 'two' }],
    });
    const { turn } = (started.result ?? {}) as { turn?: { id: string } };
    if (turn !== undefined) await server.client.turnCompleted(turn.id);
    writes = Number.NEGATIVE_INFINITY;
    server.model.clear();
    server.model.push(
      response(message('SUMMARY')),
      response(message('third')),
      response(message('third')),
    );
    expect(await server.client.turn(threadId, 'three')).toMatchObject({ status: 'completed' });
    const restarted = await server.restart();
    const { thread } = await restarted.client.request('thread/resume', { threadId });
    expect(thread.turns.at(-1)).toMatchObject({ status: 'completed' });
    restarted.model.clear();
    restarted.model.push(response(message('SUMMARY')), response(message('fourth')));
    expect(await restarted.client.turn(threadId, 'four')).toMatchObject({ status: 'completed' });
    server.log.takeErrors();
  }
});

test('an interrupt at any write of a compaction: the next turn is answered', async () => {
  for (let at = 1; at <= 10; at++) {
    let writes = Number.NEGATIVE_INFINITY;
    const interrupt = async () => {
      if (++writes !== at) return;
      const interrupted = server.client.ask('turn/interrupt', { threadId, turnId: '' });
      // The first write is that of turn/start, which is answered first.
      if (at > 1) await interrupted;
    };
    const server: TestServer = await startServer({
      config: CONFIG,
      wrapStore: (store) => gatedStore(store, interrupt),
    });
    await server.client.request('thread/start', {});
    server.model.push(longResponse);
    await server.client.turn(threadId, 'one');
    server.model.push(response(message('SUMMARY')), response(message('second')));
    writes = 0;
    const turn = await server.client.turn(threadId, 'two');
    expect(['completed', 'interrupted']).toContain(turn.status);
    writes = Number.NEGATIVE_INFINITY;
    server.model.clear();
    server.model.push(
      response(message('SUMMARY')),
      response(message('third')),
      response(message('third')),
    );
    expect(await server.client.turn(threadId, 'three')).toMatchObject({ status: 'completed' });
    const { thread } = await server.client.request('thread/read', { threadId, includeTurns: true });
    const shown = server.client
      .notifications('item/completed')
      .filter(({ item }) => item.type === 'contextCompaction').length;
    expect(
      thread.turns.flatMap(({ items }) => items).filter(({ type }) => type === 'contextCompaction'),
    ).toHaveLength(shown);
  }
});

test('a provider that refuses long prompts in words alone: the thread goes on after each refusal', async () => {
  const text =
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.";
  const answer = streaming(created, ...wireMessage('abc '.repeat(1_500)), completed);
  const provider = await ProviderServer.start((res, req, body) => {
    const isLong = isObject(body) && JSON.stringify(body.input).length > 30_000;
    const refusal = refusing(400, {
      message: text,
      type: 'BadRequestError',
      param: null,
      code: 400,
    });
    return (req.method === 'GET' ? refusing(404) : isLong ? refusal : answer)(res, req, body);
  });
  const config = `model = "m"\nmodel_provider = "p"\n[model_providers.p]\nbase_url = "http://127.0.0.1:${provider.port}/v1"\nrequest_max_retries = 0\nstream_max_retries = 0\n`;
  const server = await startServer({ config, model: null });
  await server.client.request('thread/start', {});
  const ends: string[] = [];
  for (let turn = 1; turn <= 16; turn++) {
    const { status, error } = await server.client.turn(threadId, `question ${turn}`);
    ends.push(status === 'failed' ? String(error?.codexErrorInfo) : status);
  }
  expect(new Set(ends)).toEqual(new Set(['completed', 'contextWindowExceeded']));
  // Once a length is known to be refused, the thread is compacted before it.
  expect(ends.filter((end) => end !== 'completed').length).toBeLessThanOrEqual(2);
  await provider[Symbol.asyncDispose]();
});
