import { validateHeaderValue } from 'node:http';
import { expect, test } from 'vitest';
import type { AgentTree } from '../../src/agent/lineage/agent-tree.ts';
import type { ThreadConfiguration } from '../../src/agent/settings/thread-configuration.ts';
import { ThreadState } from '../../src/agent/thread-state.ts';
import { ThreadUsage } from '../../src/agent/thread-usage.ts';
import { requestIdentity } from '../../src/agent/turn/request-identity.ts';
import type { TurnContext } from '../../src/agent/turn/turn-part.ts';
import type { ModelEvent, ModelRequest } from '../../src/model/model.ts';
import type { ThreadRecord } from '../../src/store/thread-record.ts';
import { idOf } from '../support/counting-ids.ts';
import { Gate } from '../support/gate.ts';
import { text } from '../support/test-client.ts';
import {
  failed,
  functionCall,
  isForSummary,
  message,
  response,
  type ScriptedResponse,
  TestModel,
  USAGE,
} from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';
import { threadAnswering } from '../support/thread-with.ts';

const okResponse = (): ScriptedResponse => response(message('ok'));

const header = ({ model }: TestServer, name: string) =>
  model.requests.map(({ headers }) => headers?.[name]);

/** The identity of a request of a thread with these changes. */
async function identity(changes: Partial<ThreadRecord>) {
  const server = await threadAnswering([]);
  const record = await server.store.getThread(idOf(1));
  if (record === null) throw new Error('there is no thread');
  const turn = {
    id: idOf(2),
    rootTurnId: idOf(2),
    startedAtMs: 1,
    settings: record.settings,
    clientMetadata: {},
  };
  return requestIdentity({
    record: { ...record, ...changes },
    turn: turn as TurnContext,
    kind: 'turn',
  });
}

/** The facts about the turn, in the header and in the body. */
function facts({ headers, clientMetadata }: ModelRequest): Record<string, unknown>[] {
  return [headers, clientMetadata].map((place) =>
    JSON.parse(place?.['x-codex-turn-metadata'] ?? 'null'),
  );
}

async function compact({ client }: TestServer, threadId: string): Promise<void> {
  const ended = client.notifications('turn/completed').length;
  await client.request('thread/compact/start', { threadId });
  await expect.poll(() => client.notifications('turn/completed').length).toBe(ended + 1);
}

test('each request says which thread, turn and client it is of', async () => {
  const server = await threadAnswering([okResponse()]);
  const turn = await server.client.turn(idOf(1), 'hi');
  const { originator } = (await server.store.getThread(idOf(1))) ?? {};
  const { headers, clientMetadata } = server.model.request(1);
  expect(headers).toEqual({
    originator,
    'user-agent': expect.stringMatching(new RegExp(`^${originator}/0\\.169\\.0 \\(.*\\) heddle$`)),
    'session-id': idOf(1),
    'thread-id': idOf(1),
    'x-codex-window-id': `${idOf(1)}:0`,
    'x-codex-turn-metadata': expect.any(String),
  });
  expect(clientMetadata).toEqual({
    thread_id: idOf(1),
    session_id: idOf(1),
    turn_id: turn.id,
    root_turn_id: turn.id,
    'x-codex-window-id': `${idOf(1)}:0`,
    'x-codex-turn-metadata': headers?.['x-codex-turn-metadata'],
  });
  expect(facts(server.model.request(1))[0]).toMatchObject({
    thread_id: idOf(1),
    turn_id: turn.id,
    request_kind: 'turn',
  });
});

test.each([
  ['My Editor 2.0 (beta)', 'My Editor 2.0 (beta)'],
  ['x'.repeat(200), 'x'.repeat(200)],
  ['x'.repeat(201), 'heddle'],
  [' editor', 'heddle'],
  ['éditeur', 'heddle'],
  ['a\r\nb', 'heddle'],
  ['', 'heddle'],
])('the client %j is named %j', async (name, named) => {
  expect((await identity({ originator: name })).headers).toMatchObject({
    originator: named,
    'user-agent': expect.stringMatching(/^[\x20-\x7e]+ heddle$/),
  });
});

test('an id that no header can have is only in the body', async () => {
  const { headers, clientMetadata } = await identity({ sessionId: 's€' });
  expect(headers['session-id']).toBeUndefined();
  expect(clientMetadata.session_id).toBe('s€');
  for (const value of Object.values(headers))
    expect(() => validateHeaderValue('x', value)).not.toThrow();
});

test('the facts of a client are sent with its turn, those of a steer from then on, and none replaces one of the server', async () => {
  const gate = new Gate();
  const server = await threadAnswering([
    response(message('one'), [gate]),
    okResponse(),
    okResponse(),
    okResponse(),
    okResponse(),
  ]);
  const mine = { run: 'RÜN', thread_id: 'evil', '\u{1f600}': 'x' };
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('hi'),
    responsesapiClientMetadata: mine,
  });
  await gate.reached;
  const steer = {
    threadId: idOf(1),
    expectedTurnId: turn.id,
    input: text('more'),
    responsesapiClientMetadata: { run: 'second' },
  };
  await server.client.request('turn/steer', steer);
  await server.client.turnCompleted(turn.id);
  await server.client.turn(idOf(1), 'next');
  await server.client.turn(idOf(1), 'long', {
    responsesapiClientMetadata: { run: 'x'.repeat(5_000) },
  });
  await server.client.turn(idOf(1), 'longer', {
    responsesapiClientMetadata: { run: 'x'.repeat(50_000) },
  });
  const runs = server.model.requests.map((request) =>
    facts(request).map(({ run }) => (String(run).length < 10 ? run : 'long')),
  );
  expect(runs).toEqual([
    ['RÜN', 'RÜN'],
    ['second', 'second'],
    [undefined, undefined],
    [undefined, 'long'],
    [undefined, undefined],
  ]);
  expect(facts(server.model.request(1))[0]).toMatchObject({ thread_id: idOf(1), '\u{1f600}': 'x' });
  for (const { headers } of server.model.requests)
    expect(headers?.['x-codex-turn-metadata']).toMatch(/^[\x20-\x7e]{1,4096}$/);
});

test('what the provider tells of the turn is sent back until its end', async () => {
  const state = (turnState: string | null): ModelEvent => ({
    type: 'answered',
    model: null,
    turnState,
  });
  const plan = (callId: string) => functionCall('update_plan', { plan: [] }, { callId });
  const server = await threadAnswering([
    response([state('one')], plan('a')),
    response([state('two')], plan('b')),
    okResponse(),
    response([state(null)], plan('c')),
    okResponse(),
  ]);
  await server.client.turn(idOf(1), 'hi');
  await server.client.turn(idOf(1), 'next');
  expect(header(server, 'x-codex-turn-state')).toEqual([
    undefined,
    'one',
    'one',
    undefined,
    undefined,
  ]);
});

test('x-codex-window-id counts compactions, over a restart, in a fork and after a revert', async () => {
  const server = await threadAnswering([okResponse(), okResponse(), okResponse()]);
  await server.client.turn(idOf(1), 'one');
  await compact(server, idOf(1));
  const { id } = await server.client.turn(idOf(1), 'two');
  expect(header(server, 'x-codex-window-id')).toEqual(
    [0, 0, 1].map((count) => `${idOf(1)}:${count}`),
  );
  expect(server.model.requests.map(isForSummary)).toEqual([false, true, false]);
  expect(facts(server.model.request(2))[0]).toMatchObject({ request_kind: 'compaction' });
  const next = await server.restart();
  next.model.push(okResponse(), okResponse(), okResponse());
  await next.client.request('thread/resume', { threadId: idOf(1) });
  await next.client.turn(idOf(1), 'three');
  const { thread } = await next.client.request('thread/fork', {
    threadId: idOf(1),
    lastTurnId: id,
  });
  await next.client.turn(thread.id, 'four');
  await next.client.request('thread/revert', { threadId: idOf(1), beforeTurnId: id });
  await next.client.turn(idOf(1), 'five');
  const asked = next.model.requests.slice(-3);
  expect(asked.map(({ headers }) => headers?.['x-codex-window-id'])).toEqual([
    `${idOf(1)}:1`,
    `${thread.id}:1`,
    `${idOf(1)}:1`,
  ]);
  expect(asked.map((request) => facts(request)[0]?.forked_from_thread_id)).toEqual([
    undefined,
    idOf(1),
    undefined,
  ]);
});

test('the requests of an agent name it and the thread that started it', async () => {
  const spawn = response(functionCall('spawn_agent', { message: 'CHILD' }, { callId: 's' }));
  const route: ScriptedResponse = ({ input }) =>
    JSON.stringify(input).includes('CHILD') && !JSON.stringify(input).includes('"call_id":"s"')
      ? response(message('child'))
      : response(message('parent'));
  const server = await threadAnswering([spawn, route, route, route]);
  const turn = await server.client.turn(idOf(1), 'PARENT');
  await expect
    .poll(() => header(server, 'x-openai-subagent').filter(Boolean))
    .toEqual(['collab_spawn']);
  const own = server.model.requests.find(
    ({ headers }) => headers?.['x-openai-subagent'] !== undefined,
  ) as ModelRequest;
  expect(own.headers?.['x-codex-parent-thread-id']).toBe(idOf(1));
  expect(own.headers?.['session-id']).toBe(idOf(1));
  expect(own.headers?.['thread-id']).not.toBe(idOf(1));
  expect(facts(own)[0]).toMatchObject({ parent_thread_id: idOf(1), root_turn_id: turn.id });
  expect(own.clientMetadata).toMatchObject({ 'x-openai-subagent': 'collab_spawn' });
});

test('a model that answers in place of the one that was asked is told once in the thread, a dated version of it is not', async () => {
  const by = (model: string): ModelEvent => ({ type: 'answered', model, turnState: null });
  const plan = functionCall('update_plan', { plan: [] });
  const models = ['lesser', 'TEST-model-2026-01-31', 'other', 'lesser'];
  const server = await threadAnswering([
    response([by('lesser')], plan),
    ...models.map((model) => response([by(model)], message('ok'))),
  ]);
  const { id: turnId } = await server.client.turn(idOf(1), 'hi');
  await server.client.turn(idOf(1), 'next');
  const { id: later } = await server.client.turn(idOf(1), 'again');
  await server.client.turn(idOf(1), 'last');
  expect(server.client.notifications('model/rerouted')).toEqual([
    {
      threadId: idOf(1),
      turnId,
      fromModel: 'test-model',
      toModel: 'lesser',
      reason: 'highRiskCyberActivity',
    },
    {
      threadId: idOf(1),
      turnId: later,
      fromModel: 'test-model',
      toModel: 'other',
      reason: 'highRiskCyberActivity',
    },
  ]);
});

test('moderation metadata of a response is passed on to clients', async () => {
  const metadata = { flagged: ['x'] };
  const server = await threadAnswering([
    response([{ type: 'moderated', metadata }], message('ok')),
  ]);
  const { id: turnId } = await server.client.turn(idOf(1), 'hi');
  expect(server.client.notifications('turn/moderationMetadata')).toEqual([
    { threadId: idOf(1), turnId, metadata },
  ]);
});

test('after a prompt that was too long, the token usage stands at the context window', async () => {
  const config =
    'model = "test-model"\nmodel_provider = "test"\nmodel_context_window = 270000\n\
[model_providers.test]\nbase_url = "http://127.0.0.1:9"\n';
  const server = await threadAnswering(
    [okResponse(), [failed('too long', 'contextWindowExceeded')]],
    {
      config,
    },
  );
  await server.client.turn(idOf(1), 'hi');
  expect(await server.client.turn(idOf(1), 'more')).toMatchObject({ status: 'failed' });
  const { tokenUsage } = server.client.notifications('thread/tokenUsage/updated').at(-1) ?? {};
  expect(tokenUsage).toMatchObject({
    total: USAGE,
    last: { totalTokens: 270_000, inputTokens: 0 },
    modelContextWindow: 270_000,
  });
});

test('after a prompt that was too long, what the provider has counted before still counts', async () => {
  const server = await threadAnswering([]);
  const record = await server.store.getThread(idOf(1));
  if (record === null) throw new Error('there is no thread');
  const configuration = {
    prompt: { contextWindow: () => ({ tokens: 270_000, isKnown: true }) },
  } as unknown as ThreadConfiguration;
  const state = new ThreadState(record, configuration);
  const agents = { used: () => {}, below: () => null } as unknown as AgentTree['usage'];
  const usage = new ThreadUsage(state, agents, { step: () => ({}) });
  const turn = { id: idOf(2), settings: record.settings } as TurnContext;
  const shown = () => state.record.tokenUsage?.usage.last.totalTokens;
  usage.answered(turn, USAGE);
  usage.exceeded(turn);
  usage.exceeded(turn);
  expect([usage.last, shown()]).toEqual([{ ...USAGE, promptTokens: null }, 270_000]);
  usage.aside(turn, { ...USAGE, inputTokens: 1 });
  expect([usage.last, shown()]).toEqual([{ ...USAGE, promptTokens: null }, 270_000]);
  const next = { ...USAGE, inputTokens: 7, totalTokens: 9 };
  usage.answered(turn, next);
  expect([usage.last, shown()]).toEqual([{ ...next, promptTokens: null }, 9]);
  usage.exceeded(turn);
  usage.compacted(turn, 500);
  expect([usage.last, shown()]).toEqual([null, 500]);
});

test('a service tier that a client asks for and nobody knows is none', async () => {
  const server = await startServer({ model: new TestModel(okResponse(), okResponse()) });
  const tiers = ['default', 'flex', 'priority', 'fast', 'nonsense', ''];
  const kept = [];
  for (const serviceTier of tiers)
    kept.push((await server.client.request('thread/start', { serviceTier })).serviceTier);
  expect(kept).toEqual(['default', 'flex', 'priority', 'fast', null, null]);
  await server.client.turn(idOf(1), 'hi', { serviceTier: 'nonsense' });
  await server.client.turn(idOf(1), 'hi', { serviceTierForTurn: 'nonsense' });
  expect(server.model.requests.map(({ serviceTier }) => serviceTier)).toEqual([null, null]);
});

test('a service tier of the configuration is sent as it stands, and a client may ask for it', async () => {
  const server = await threadAnswering([okResponse(), okResponse(), okResponse(), okResponse()], {
    config: 'service_tier = "on_demand"',
  });
  await server.client.turn(idOf(1), 'hi');
  await server.client.turn(idOf(1), 'hi', { serviceTierForTurn: 'nonsense' });
  await server.client.turn(idOf(1), 'hi', { serviceTier: 'on_demand' });
  await server.client.turn(idOf(1), 'hi', { serviceTier: 'nonsense' });
  expect(server.model.requests.map(({ serviceTier }) => serviceTier)).toEqual([
    'on_demand',
    null,
    'on_demand',
    null,
  ]);
  const asked = [];
  for (const serviceTier of [null, 'on_demand', 'nonsense'])
    asked.push((await server.client.request('thread/start', { serviceTier })).serviceTier);
  expect(asked).toEqual(['on_demand', 'on_demand', null]);
});

test('the limit of the body counts by the figures of the provider, from the first response on', async () => {
  const config =
    'model = "test-model"\nmodel_provider = "test"\nmodel_auto_compact_token_limit = 5000\n\
model_auto_compact_token_limit_scope = "body_after_prefix"\n[model_providers.test]\nbase_url = "http://127.0.0.1:9"\n';
  const counted = (inputTokens: number): ScriptedResponse => [
    ...message('x'),
    { type: 'completed', usage: { ...USAGE, inputTokens, totalTokens: inputTokens + 5 } },
  ];
  const server = await threadAnswering(
    [9_000, 10_000, 16_000, 100, 9_500, 13_000, 14_600, 100, 9_000].map(counted),
    { config },
  );
  for (const input of ['1', '2', '3', '4', '5', '6', '7']) await server.client.turn(idOf(1), input);
  // Before the turns 4 and 7: 16,000 - 9,000 and 14,600 - 9,500 tokens.
  expect(
    server.model.requests
      .map((request, index) => (isForSummary(request) ? index : null))
      .filter((at) => at !== null),
  ).toEqual([3, 7]);
});
