import { expect, test } from 'vitest';
import {
  answered,
  answeredEvents,
  collect,
  completed,
  created,
  message,
  modelAt,
  never,
  ProviderServer,
  refusing,
  request,
  streaming,
} from './provider-server.ts';

const HEADERS = {
  originator: 'editor',
  'user-agent': 'editor/1',
  'thread-id': 't',
  'x-codex-turn-metadata': '{}',
};

test('the headers of a request are sent, and those that the user has configured count before them', async () => {
  await using server = await ProviderServer.start(answered);
  const { model } = modelAt(server.port, {
    httpHeaders: { Originator: 'gateway', 'X-Own': 'own' },
  });
  expect(await collect(model.stream({ ...request, headers: HEADERS }, never))).toEqual(
    answeredEvents,
  );
  expect(server.requests[0]?.headers).toMatchObject({
    ...HEADERS,
    originator: 'gateway',
    'x-own': 'own',
    accept: 'text/event-stream',
  });
});

test('the headers of a response name the model that answers and the state of the turn; values that could not be sent back are ignored', async () => {
  const told = { 'openai-model': 'lesser', 'x-codex-turn-state': 'ts-1' };
  const long = { 'x-codex-turn-state': 'x'.repeat(5_000) };
  const body = [created, ...message('ok'), completed]
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .join('');
  const withHeaders = (headers: Record<string, string>) =>
    refusing(200, body, { 'content-type': 'text/event-stream', ...headers });
  await using server = await ProviderServer.start(withHeaders(told), withHeaders(long));
  const { model } = modelAt(server.port);
  const [started, ...rest] = answeredEvents;
  expect(await collect(model.stream(request, never))).toEqual([
    started,
    { type: 'answered', model: 'lesser', turnState: 'ts-1' },
    ...rest,
  ]);
  expect(await collect(model.stream(request, never))).toEqual(answeredEvents);
});

test('moderation metadata of a response is an event, up to a limit', async () => {
  const metadata = (value: unknown) => ({
    type: 'response.metadata',
    metadata: { openai_chatgpt_moderation_metadata: value, other: 1 },
  });
  const reply = streaming(created, metadata({ flagged: true }), metadata('x'.repeat(70_000)), {
    type: 'response.metadata',
  });
  await using server = await ProviderServer.start(reply);
  const { model } = modelAt(server.port);
  expect((await collect(model.stream(request, never))).slice(1, -1)).toEqual([
    { type: 'moderated', metadata: { flagged: true } },
  ]);
});

test('a well-known model is asked with its own effort if nobody has chosen one', async () => {
  const models = ['gpt-5.5', 'openai/gpt-6.1-sol', 'gpt-5.1-chat', 'gpt-5-pro', 'own-model'];
  await using server = await ProviderServer.start(...[...models, 'gpt-5.5'].map(() => answered));
  const { model } = modelAt(server.port);
  for (const name of models) await collect(model.stream({ ...request, model: name }, never));
  await collect(model.stream({ ...request, model: 'gpt-5.5', effort: 'high' }, never));
  const efforts = server.requests.map(
    ({ body }) => (body as { reasoning?: { effort?: string } }).reasoning?.effort,
  );
  expect(efforts).toEqual(['medium', 'low', undefined, undefined, undefined, 'high']);
});
