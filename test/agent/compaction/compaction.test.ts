import { expect, test } from 'vitest';
import type { ModelRequest } from '../../../src/model/model.ts';
import type { ResponseItem, Turn, TurnError } from '../../../src/protocol/generated/types.ts';
import { idOf } from '../../support/counting-ids.ts';
import { Gate } from '../../support/gate.ts';
import { type TestClient, text } from '../../support/test-client.ts';
import {
  asked,
  conversation,
  failed,
  functionCall,
  message,
  response,
  type ScriptedResponse,
  textOfTokens,
  USAGE,
} from '../../support/test-model.ts';
import {
  configWithKeys,
  startServer,
  type TestServer,
  type TestServerOptions,
} from '../../support/test-server.ts';

const threadId = idOf(1);
/** A response that the provider counts as so many tokens. */
const counted = (words: string, inputTokens: number): ScriptedResponse => [
  ...message(words),
  {
    type: 'completed',
    usage: { ...USAGE, inputTokens, outputTokens: 5, totalTokens: inputTokens + 5 },
  },
];

/** A server with a thread of two turns. */
async function twoTurns(options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startServer(options);
  server.model.push(response(message('first')), response(message('second')));
  await server.client.request('thread/start', {
    sandbox: 'danger-full-access',
    approvalPolicy: 'never',
  });
  await server.client.turn(threadId, 'one');
  await server.client.turn(threadId, 'two');
  return server;
}

/** Compacts the thread, with this response to the request for the summary. */
async function compact(
  { client, model }: TestServer,
  answer: ScriptedResponse = response(message('SUMMARY')),
) {
  model.push(answer);
  const end = nextEnd(client);
  expect(await client.request('thread/compact/start', { threadId })).toEqual({});
  return end;
}

/** The turn that ends next. */
async function nextEnd(client: TestClient, { turns = 1 } = {}): Promise<Turn> {
  const count = client.notifications('turn/completed').length + turns;
  const message = await client.next(
    'the end of a turn',
    () => client.notifications('turn/completed').length === count,
  );
  return (message.params as { turn: Turn }).turn;
}

/**
 * The texts of a request's conversation, with the kind of the message that stands for its earlier
 * part.
 */
function texts(request: ModelRequest): string[] {
  return conversation(request).map((item) => {
    if (item.type !== 'message') return item.type;
    const said = item.content.map((part) => ('text' in part ? part.text : part.type)).join('');
    return /^<(conversation_\w+)>/.exec(said)?.[1] ?? said;
  });
}

const lastRequest = ({ model }: TestServer) => model.request(model.requests.length);
const answered = { status: 'completed', error: null };

test('thread/compact/start replaces what the model has read by a summary and the messages of the user', async () => {
  const server = await twoTurns();
  const turn = await compact(server);
  expect(turn).toMatchObject({ status: 'completed', items: [] });
  const request = lastRequest(server);
  expect(request.tools).toEqual(server.model.request(2).tools);
  expect(request.tools.length).toBeGreaterThan(0);
  expect(texts(request).slice(0, -1)).toEqual(['one', 'first', 'two', 'second']);
  server.model.push(response(message('third')));
  expect(await server.client.turn(threadId, 'three')).toMatchObject(answered);
  expect(texts(lastRequest(server))).toEqual(['one', 'two', 'conversation_summary', 'three']);
  expect(JSON.stringify(lastRequest(server).input)).toContain('SUMMARY');
  const { thread } = await server.client.request('thread/read', { threadId, includeTurns: true });
  expect(thread.turns.map(({ status, items }) => [status, items.map(({ type }) => type)])).toEqual([
    ['completed', ['userMessage', 'agentMessage']],
    ['completed', ['userMessage', 'agentMessage']],
    ['completed', ['contextCompaction']],
    ['completed', ['userMessage', 'agentMessage']],
  ]);
});

test('clients see the item of the compaction, the length of the new prompt, and thread/compacted, in this order', async () => {
  const server = await twoTurns();
  const before = server.client.messages.length;
  await compact(server);
  const seen = server.client.messages.slice(before).flatMap(({ method }) => method ?? []);
  expect(seen).toEqual([
    'thread/status/changed',
    'turn/started',
    'item/started',
    'thread/tokenUsage/updated',
    'thread/tokenUsage/updated',
    'item/completed',
    'thread/compacted',
    'thread/status/changed',
    'turn/completed',
  ]);
  const { total, last } =
    server.client.notifications('thread/tokenUsage/updated').at(-1)?.tokenUsage ?? {};
  expect(total?.totalTokens).toBe(45);
  expect(last).toMatchObject({ inputTokens: 0, outputTokens: 0 });
  expect(last?.totalTokens).toBeGreaterThan(0);
});

test('the context comes again in front, once, and later changes of it as usual', async () => {
  const server = await twoTurns();
  await compact(server);
  server.model.push(response(message('third')));
  await server.client.turn(threadId, 'three');
  const { input } = lastRequest(server);
  expect(input.slice(0, 2)).toEqual(server.model.request(1).input.slice(0, 2));
  expect(
    input.filter((item) => JSON.stringify(item).includes('<environment_context>')),
  ).toHaveLength(1);
});

test('the compaction is kept over a restart; a fork and a revert before it have what was there then', async () => {
  const first = await twoTurns();
  await compact(first);
  const server = await first.restart();
  const { thread } = await server.client.request('thread/resume', { threadId });
  server.model.push(
    response(message('third')),
    response(message('forked')),
    response(message('reverted')),
  );
  await server.client.turn(threadId, 'three');
  expect(texts(lastRequest(server))).toEqual(['one', 'two', 'conversation_summary', 'three']);
  const [, second, compaction] = thread.turns;
  const fork = await server.client.request('thread/fork', {
    threadId,
    lastTurnId: second?.id ?? '',
  });
  await server.client.turn(fork.thread.id, 'four');
  expect(texts(lastRequest(server))).toEqual(['one', 'first', 'two', 'second', 'four']);
  await server.client.request('thread/revert', { threadId, beforeTurnId: compaction?.id ?? '' });
  await server.client.turn(threadId, 'five');
  expect(texts(lastRequest(server))).toEqual(['one', 'first', 'two', 'second', 'five']);
});

test('a fork after a compaction goes on from the summary, and a second compaction includes the first', async () => {
  const server = await twoTurns();
  await compact(server);
  const fork = await server.client.request('thread/fork', { threadId });
  server.model.push(
    response(message('third')),
    response(message('SECOND SUMMARY')),
    response(message('fourth')),
  );
  await server.client.turn(fork.thread.id, 'three');
  const end = nextEnd(server.client);
  await server.client.request('thread/compact/start', { threadId: fork.thread.id });
  await end;
  expect(texts(lastRequest(server)).slice(0, -1)).toEqual([
    'one',
    'two',
    'conversation_summary',
    'three',
    'third',
  ]);
  await server.client.turn(fork.thread.id, 'four');
  expect(texts(lastRequest(server))).toEqual([
    'one',
    'two',
    'three',
    'conversation_summary',
    'four',
  ]);
  expect(JSON.stringify(lastRequest(server).input)).toContain('SECOND SUMMARY');
});

test('images and huge outputs do not come back', async () => {
  const server = await startServer();
  await server.client.request('thread/start', {
    sandbox: 'danger-full-access',
    approvalPolicy: 'never',
  });
  server.model.push(
    response(functionCall('exec_command', { cmd: 'seq 1 4000', login: false })),
    response(message('seen')),
  );
  const image = `data:image/png;base64,${'A'.repeat(2_000)}`;
  await server.client.turn(threadId, [...text('look'), { type: 'image', url: image }]);
  await compact(server);
  server.model.push(response(message('done')));
  await server.client.turn(threadId, 'go on');
  expect(texts(lastRequest(server))).toEqual([
    'look\n[An image was here.]',
    'conversation_summary',
    'go on',
  ]);
});

test('a thread without a conversation is compacted without a request, and so is one with nothing new', async () => {
  const server = await startServer();
  await server.client.request('thread/start', {});
  await server.client.request('thread/compact/start', { threadId });
  await server.client.waitFor('turn/completed');
  expect(server.model.requests).toHaveLength(0);
  expect(server.client.notifications('item/completed').map(({ item }) => item.type)).toEqual([
    'contextCompaction',
  ]);
});

test('turn/steer is refused during a compaction, and turn/start is answered in its turn after it', async () => {
  const server = await twoTurns();
  const gate = new Gate();
  server.model.push(
    [...message('SUMMARY').slice(0, 2), gate, ...response(message('SUMMARY')).slice(-2)],
    response(message('third')),
  );
  await server.client.request('thread/compact/start', { threadId });
  await server.model.asked(3);
  const { turn } = server.client.notifications('turn/started').at(-1) ?? {};
  const steered = await server.client.ask('turn/steer', {
    threadId,
    expectedTurnId: turn?.id,
    input: text('x'),
  });
  expect(steered.error).toEqual({
    code: -32600,
    message: 'cannot steer a compact turn',
    data: {
      code: 'turn_not_steerable',
      message: 'cannot steer a compact turn',
      codexErrorInfo: { activeTurnNotSteerable: { turnKind: 'compact' } },
      additionalDetails: null,
    },
  });
  const started = await server.client.request('turn/start', {
    threadId,
    input: text('three'),
    model: 'other',
  });
  expect(started.turn.id).toBe(turn?.id);
  const end = nextEnd(server.client);
  gate.open();
  expect(await end).toMatchObject({ id: turn?.id, ...answered });
  expect(texts(lastRequest(server))).toEqual(['one', 'two', 'conversation_summary', 'three']);
  expect(lastRequest(server).model).toBe('other');
});

test('while a turn runs, the compaction is answered at once and begins after it', async () => {
  const server = await twoTurns();
  const gate = new Gate();
  server.model.push(
    [...message('third').slice(0, 2), gate, ...response(message('third')).slice(-2)],
    response(message('SUMMARY')),
  );
  await server.client.request('turn/start', { threadId, input: text('three') });
  await server.model.asked(3);
  expect(await server.client.request('thread/compact/start', { threadId })).toEqual({});
  const end = nextEnd(server.client, { turns: 2 });
  gate.open();
  await end;
  expect(texts(lastRequest(server)).slice(0, -1)).toEqual([
    'one',
    'first',
    'two',
    'second',
    'three',
    'third',
  ]);
});

test('a compaction that a client asked for and that fails leaves the thread as it was', async () => {
  const server = await twoTurns();
  expect(await compact(server, [failed('no such luck')])).toMatchObject({
    status: 'failed',
    error: { message: 'no such luck' },
  });
  server.model.push(response(message('third')));
  expect(await server.client.turn(threadId, 'three')).toMatchObject(answered);
  expect(texts(lastRequest(server))).toEqual(['one', 'first', 'two', 'second', 'three']);
  const { thread } = await server.client.request('thread/read', { threadId, includeTurns: true });
  expect(thread.turns[2]).toMatchObject({ status: 'failed', items: [] });
});

test('an interrupt ends a compaction, and the thread stays as it was', async () => {
  const server = await twoTurns();
  server.model.push([...message('SUM').slice(0, 2), new Gate()]);
  await server.client.request('thread/compact/start', { threadId });
  await server.model.asked(3);
  const end = nextEnd(server.client);
  await server.client.request('turn/interrupt', { threadId, turnId: '' });
  expect((await end).status).toBe('interrupted');
  server.model.push(response(message('third')));
  expect(await server.client.turn(threadId, 'three')).toMatchObject(answered);
  expect(texts(lastRequest(server)).slice(0, 4)).toEqual(['one', 'first', 'two', 'second']);
});

/** A thread whose next request is over the limit. */
async function overLimit(options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startServer({
    config: configWithKeys('model_auto_compact_token_limit = 10000'),
    ...options,
  });
  await server.client.request('thread/start', {
    sandbox: 'danger-full-access',
    approvalPolicy: 'never',
  });
  server.model.push(counted('first', 12_000));
  await server.client.turn(threadId, 'one');
  return server;
}

test('over model_auto_compact_token_limit, the thread is compacted before the next request, and the turn goes on', async () => {
  const server = await overLimit();
  server.model.push(
    response(message('SUMMARY')),
    response(message('second')),
    response(message('third')),
  );
  expect(await server.client.turn(threadId, 'two')).toMatchObject(answered);
  expect(texts(server.model.request(2)).slice(0, -1)).toEqual(['one', 'first']);
  expect(texts(server.model.request(3))).toEqual(['one', 'conversation_summary', 'two']);
  await server.client.turn(threadId, 'three');
  expect(texts(server.model.request(4))).toEqual([
    'one',
    'conversation_summary',
    'two',
    'second',
    'three',
  ]);
});

test('a turn is compacted between its requests too, and the model goes on from the summary', async () => {
  const server = await startServer({
    config: configWithKeys('model_auto_compact_token_limit = 10000'),
  });
  await server.client.request('thread/start', {
    sandbox: 'danger-full-access',
    approvalPolicy: 'never',
  });
  const usage = { ...USAGE, inputTokens: 12_000 };
  server.model.push(
    [...functionCall('exec_command', { cmd: 'true', login: false }), { type: 'completed', usage }],
    response(message('SUMMARY')),
    response(message('done')),
  );
  expect(await server.client.turn(threadId, 'one')).toMatchObject(answered);
  expect(texts(server.model.request(2)).slice(0, -1)).toEqual([
    'one',
    'function_call',
    'function_call_output',
  ]);
  expect(texts(server.model.request(3))).toEqual(['one', 'conversation_summary']);
});

test('compact_prompt replaces the prompt for summaries', async () => {
  const server = await overLimit({
    config: configWithKeys(
      'model_auto_compact_token_limit = 10000\ncompact_prompt = "in short, please"',
    ),
  });
  server.model.push(response(message('SUMMARY')), response(message('second')));
  await server.client.turn(threadId, 'two');
  expect(texts(server.model.request(2)).at(-1)).toBe('in short, please');
});

/** A thread whose model has refused a prompt as too long, in a turn of its own. */
async function refused(options: TestServerOptions = {}): Promise<TestServer> {
  const server = await twoTurns(options);
  server.model.push([failed('too long', 'contextWindowExceeded')]);
  expect(await server.client.turn(threadId, 'refused')).toMatchObject({ status: 'failed' });
  return server;
}

test('if the prompt does not fit and there is no summary, the oldest part is cut, clients are told, and the turn is answered', async () => {
  const server = await refused();
  server.model.push([failed('no summary today')], response(message('third')));
  expect(await server.client.turn(threadId, 'three')).toMatchObject(answered);
  expect(texts(lastRequest(server))).toEqual([
    'conversation_cut',
    'one',
    'first',
    'two',
    'second',
    'refused',
    'three',
  ]);
  expect(server.client.notifications('warning').map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /its oldest part was cut from what the model reads\. The history keeps it\. no summary today/,
    ),
  ]);
});

test('while the provider answers nothing at all, nothing is cut, also if the prompt was refused', async () => {
  const server = await refused();
  const overloaded = failed('overloaded', 'serverOverloaded');
  server.model.push(
    [overloaded],
    [overloaded],
    response(message('SUMMARY')),
    response(message('fourth')),
  );
  expect(await server.client.turn(threadId, 'three')).toMatchObject({
    error: { codexErrorInfo: 'serverOverloaded' },
  });
  expect(await server.client.turn(threadId, 'four')).toMatchObject(answered);
  expect(texts(lastRequest(server))).toEqual([
    'one',
    'two',
    'refused',
    'three',
    'conversation_summary',
    'four',
  ]);
});

test('what is cut is bounded: long parts of the conversation are left out, the newest stay', async () => {
  const server = await startServer({
    config: configWithKeys('model_auto_compact_token_limit = 10000'),
  });
  await server.client.request('thread/start', {});
  const long = (name: string) => response(message(`${name} ${textOfTokens(2_000)} END`));
  server.model.push(long('A'), long('B'), long('C'), long('D'), [
    failed('too long', 'contextWindowExceeded'),
  ]);
  for (const question of ['one', 'two', 'three', 'four', 'refused'])
    await server.client.turn(threadId, question);
  server.model.push([failed('no')], response(message('done')));
  expect(await server.client.turn(threadId, 'five')).toMatchObject(answered);
  const read = texts(lastRequest(server)).map((said) =>
    said.replace(/^([A-D]) .*(\[.*\]).* END$/s, '$1'),
  );
  expect(read).toEqual([
    'one',
    'conversation_cut',
    'two',
    'B',
    'three',
    'C',
    'four',
    'D',
    'refused',
    'five',
  ]);
});

test.each<[string, TurnError['codexErrorInfo'], number]>([
  ['overloaded', 'serverOverloaded', 1],
  ['HTTP 500', 'internalServerError', 1],
  ['budget', 'sessionBudgetExceeded', 1],
  ['garbage', 'other', 2],
])(
  'while the prompt fits, nothing is cut (%s), and the next turn compacts',
  async (text, info, requests) => {
    const server = await overLimit();
    const failure = Array.from({ length: requests }, () => [failed(text, info)]);
    const { model, client } = server;
    const calls = (callId: string) =>
      response(functionCall('exec_command', { cmd: 'true', login: false }, { callId }));
    model.push(...failure, calls('call_1'), calls('call_2'), response(message('second')));
    expect(await client.turn(threadId, 'two')).toMatchObject(answered);
    expect(texts(lastRequest(server)).slice(0, 3)).toEqual(['one', 'first', 'two']);
    expect(client.notifications('warning').map(({ message }) => message)).toEqual([
      `The thread is near its limit and could not be summarized; it does not change for now. ${text}`,
    ]);
    const { thread } = await client.request('thread/read', { threadId, includeTurns: true });
    expect(thread.turns[1]?.items.map(({ type }) => type)).not.toContain('contextCompaction');
    model.push(counted('third', 12_000), response(message('SUMMARY')), response(message('fourth')));
    await client.turn(threadId, 'three');
    expect(await client.turn(threadId, 'four')).toMatchObject(answered);
    expect(texts(lastRequest(server))).toEqual([
      'one',
      'two',
      'three',
      'conversation_summary',
      'four',
    ]);
  },
);

test('after contextWindowExceeded the next turn compacts first, also after a restart', async () => {
  for (const restarts of [false, true]) {
    let server = await twoTurns();
    server.model.push([failed('too long', 'contextWindowExceeded')]);
    expect(await server.client.turn(threadId, 'three')).toMatchObject({ status: 'failed' });
    expect(server.model.requests).toHaveLength(3);
    if (restarts) {
      server = await server.restart();
      await server.client.request('thread/resume', { threadId });
    }
    server.model.push(response(message('SUMMARY')), response(message('fourth')));
    expect(await server.client.turn(threadId, 'four')).toMatchObject(answered);
    expect(texts(server.model.request(4))[0]).toMatch(
      /^<conversation>\n.*\n\{"from":"user","text":"one"\}\n/,
    );
    expect(texts(server.model.request(5))).toEqual([
      'one',
      'two',
      'three',
      'conversation_summary',
      'four',
    ]);
  }
});

test('a later request of a turn that is refused as too long is sent again after a compaction', async () => {
  const server = await twoTurns();
  server.model.push(
    response(functionCall('exec_command', { cmd: 'true', login: false })),
    [failed('too long', 'contextWindowExceeded')],
    response(message('SUMMARY')),
    response(message('third')),
  );
  expect(await server.client.turn(threadId, 'three')).toMatchObject(answered);
  expect(texts(lastRequest(server))).toEqual(['one', 'two', 'three', 'conversation_summary']);
});

test('a summary that is refused as too long is asked for with less of the conversation, a limited number of times', async () => {
  const server = await overLimit();
  const refused = [failed('too long', 'contextWindowExceeded')];
  server.model.push(refused, refused, refused, refused, refused, response(message('second')));
  expect(await server.client.turn(threadId, 'two')).toMatchObject(answered);
  expect(server.model.requests).toHaveLength(7);
  expect(texts(lastRequest(server))).toEqual(['conversation_cut', 'one', 'first', 'two']);
});

test('input that alone exceeds the window fails its own turn only: it does not end the thread', async () => {
  const server = await startServer({ config: configWithKeys('model_context_window = 20000') });
  await server.client.request('thread/start', {});
  server.model.push(response(message('first')));
  await server.client.turn(threadId, 'one');
  expect(await server.client.turn(threadId, textOfTokens(21_000))).toMatchObject({
    error: { codexErrorInfo: 'contextWindowExceeded' },
  });
  server.model.push(response(message('SUMMARY')), response(message('second')));
  expect(await server.client.turn(threadId, 'two')).toMatchObject(answered);
  const summarized = texts(server.model.request(2))[0] ?? '';
  expect(summarized).toContain(
    '{"from":"user","text":"one"}\n{"from":"assistant","text":"first"}\n{"from":"user","text":"abc abc',
  );
  expect(summarized).toContain('characters truncated');
  expect(texts(lastRequest(server)).slice(-2)).toEqual(['conversation_summary', 'two']);
});

test('a summary without text, and one without an end, count as none', async () => {
  for (const answer of [response(), response(message('  '))]) {
    const server = await overLimit();
    server.model.push(answer, answer, response(message('second')));
    expect(await server.client.turn(threadId, 'two')).toMatchObject(answered);
    expect(texts(lastRequest(server))).toEqual(['one', 'first', 'two']);
  }
});

test('a model that says nothing gets five minutes, and then the turn goes on without a summary', async () => {
  const server = await refused();
  server.model.push([new Gate()], response(message('third')));
  const turn = server.client.turn(threadId, 'three');
  await server.model.asked(4);
  server.clock.advance(5 * 60 * 1000);
  expect(await turn).toMatchObject(answered);
  expect(texts(lastRequest(server))[0]).toBe('conversation_cut');
});

test('a very long summary is cut in its middle', async () => {
  const server = await overLimit();
  server.model.push(
    response(message(`BEGIN ${textOfTokens(50_000)} END`)),
    response(message('second')),
  );
  expect(await server.client.turn(threadId, 'two')).toMatchObject(answered);
  const item = conversation(lastRequest(server))[1] as Extract<ResponseItem, { type: 'message' }>;
  expect(JSON.stringify(item).length).toBeLessThan(12_000);
  expect(JSON.stringify(item)).toMatch(/BEGIN .*characters truncated.* END/);
});

test('input and items that arrive during a compaction are read after it', async () => {
  const server = await overLimit();
  const gate = new Gate();
  // The input that came meanwhile stops the first request of the turn.
  server.model.push(
    [gate, ...response(message('SUMMARY'))],
    response(message('second')),
    response(message('second')),
  );
  const turn = server.client.turn(threadId, 'two');
  await server.model.asked(2);
  await server.client.request('thread/inject_items', { threadId, items: [asked('injected')] });
  await server.client.request('turn/start', { threadId, input: text('more') });
  gate.open();
  expect(await turn).toMatchObject(answered);
  expect(texts(lastRequest(server))).toEqual([
    'one',
    'conversation_summary',
    'two',
    'injected',
    'more',
  ]);
});
