import { describe, expect, test } from 'vitest';
import type { ModelRequest } from '../../src/model/model.ts';
import type { ResponseItem, ReviewTarget, ThreadItem } from '../../src/protocol/generated/types.ts';
import { afterDeathOf } from '../agent/after-death-of.ts';
import { chatStream, counts, DONE, delta, finish } from '../model/chat-stream.ts';
import {
  completed,
  ProviderServer,
  message as providerMessage,
  streaming,
} from '../model/provider-server.ts';
import { idOf } from '../support/counting-ids.ts';
import { ANY_ID, agentItem, timed, userItem } from '../support/expected.ts';
import { Gate } from '../support/gate.ts';
import { text } from '../support/test-client.ts';
import {
  asked,
  conversation,
  failed,
  functionCall,
  message,
  messageBegun,
  response,
  type ScriptedResponse,
  TestModel,
} from '../support/test-model.ts';
import { startServer, type TestServer, type TestServerOptions } from '../support/test-server.ts';

type WireApi = 'responses' | 'chat';

const UNCOMMITTED = { type: 'uncommittedChanges' } as const;

const FINDING = {
  title: 'Off by one',
  body: 'It is off.\nBy one.',
  confidence_score: 0.9,
  priority: 1,
  code_location: { absolute_file_path: '/x/a.txt', line_range: { start: 3, end: 4 } },
};
const VERDICT = JSON.stringify({
  findings: [FINDING],
  overall_correctness: 'patch is incorrect',
  overall_explanation: 'Not right.',
  overall_confidence_score: 0.8,
});
const REPORT = 'Not right.\n\n- [P1] Off by one (/x/a.txt:3-4)\n  It is off.\n  By one.';
const TOLD = asked(
  `<review>\nThe user started a review of: current changes. The reviewer reported:\n\n${REPORT}\n</review>`,
);

async function reviewed(
  responses: ScriptedResponse[],
  options: TestServerOptions & { target?: ReviewTarget } = {},
) {
  const server = await startServer({ model: new TestModel(...responses), ...options });
  await server.client.request('thread/start', {});
  const { target = UNCOMMITTED } = options;
  const started = await server.client.request('review/start', { threadId: idOf(1), target });
  return { ...server, ...started };
}

/** The methods about the thread, with the types of the items. */
function methodsOfThread({ client }: TestServer): string[] {
  return client.messages.flatMap(({ method, params }) => {
    const { item } = (params ?? {}) as { item?: ThreadItem };
    return method === undefined || method === 'thread/started'
      ? []
      : [item === undefined ? method : `${method} ${item.type}`];
  });
}

async function itemsOf(
  { client }: Pick<TestServer, 'client'>,
  turnId: string,
): Promise<ThreadItem[]> {
  const { thread } = await client.request('thread/read', { threadId: idOf(1), includeTurns: true });
  return thread.turns.find(({ id }) => id === turnId)?.items ?? [];
}

function lastText({ input }: ModelRequest): string {
  return JSON.stringify(input.at(-1) satisfies ResponseItem | undefined);
}

const entered = (review: string): ThreadItem =>
  timed({ type: 'enteredReviewMode', id: ANY_ID, review });
const exited = (review: string): ThreadItem =>
  timed({ type: 'exitedReviewMode', id: ANY_ID, review });

test('review/start: a turn that enters review mode, and leaves it with a report, which clients and the model keep', async () => {
  const server = await reviewed([
    response(message(VERDICT, { deltas: [VERDICT.slice(0, 9), VERDICT.slice(9)] })),
    response(message('ok')),
  ]);
  const { client, turn, reviewThreadId, model } = server;
  expect(reviewThreadId).toBe(idOf(1));
  expect(turn).toMatchObject({
    status: 'inProgress',
    items: [
      {
        type: 'userMessage',
        id: turn.id,
        content: [{ text: 'current changes' }],
        startedAtMs: null,
        completedAtMs: null,
      },
    ],
  });
  const end = await client.turnCompleted(turn.id);
  expect(end).toMatchObject({ status: 'completed', items: [agentItem(REPORT)] });
  expect(methodsOfThread(server)).toEqual([
    'thread/status/changed',
    'turn/started',
    'item/started enteredReviewMode',
    'item/completed enteredReviewMode',
    'thread/tokenUsage/updated',
    'item/started exitedReviewMode',
    'item/completed exitedReviewMode',
    'item/started agentMessage',
    'item/completed agentMessage',
    'thread/status/changed',
    'turn/completed',
  ]);
  expect(await itemsOf(server, turn.id)).toEqual([
    entered('current changes'),
    exited(REPORT),
    agentItem(REPORT),
  ]);
  const request = model.request(1);
  expect(request.instructions).toContain('You review changes');
  expect(request.outputSchema).toMatchObject({
    type: 'object',
    additionalProperties: false,
    required: expect.arrayContaining(['findings']),
  });
  expect(request.tools.map((tool) => tool.name)).toEqual([
    'exec_command',
    'write_stdin',
    'view_image',
  ]);
  const next = await server.restart();
  await next.client.request('thread/resume', { threadId: idOf(1) });
  await next.client.turn(idOf(1), 'and now?');
  expect(conversation(model.request(2))).toEqual([TOLD, asked('and now?')]);
});

test.each<[string, ReviewTarget, string, string]>([
  [
    'uncommittedChanges',
    UNCOMMITTED,
    'current changes',
    'uncommitted changes of the working directory',
  ],
  [
    'baseBranch',
    { type: 'baseBranch', branch: ' main ' },
    "changes against 'main'",
    'merge base of HEAD and `main`',
  ],
  [
    'commit',
    { type: 'commit', sha: '1234567890abcdef' },
    'commit 1234567',
    'the commit 1234567890abcdef.',
  ],
  [
    'commit with a title',
    { type: 'commit', sha: '1234567890', title: 'Fix' },
    'commit 1234567: Fix',
    'the commit 1234567890 (\\"Fix\\").',
  ],
  [
    'custom',
    { type: 'custom', instructions: ' Look at spelling\n' },
    'Look at spelling',
    '"Look at spelling"',
  ],
])('the target %s is named to the user and to the reviewer', async (_type, target, hint, task) => {
  const server = await reviewed([response(message('Fine.'))], { target });
  await server.client.turnCompleted(server.turn.id);
  expect(await itemsOf(server, server.turn.id)).toEqual([
    entered(hint),
    exited('Fine.'),
    agentItem('Fine.'),
  ]);
  expect(lastText(server.model.request(1))).toContain(task);
});

test('a target without what it names is refused, and so is an unknown thread', async () => {
  const { client } = await startServer();
  await client.request('thread/start', {});
  const refusal = (target: object, threadId = idOf(1)) =>
    client.refusal('review/start', { threadId, target });
  const empty = (field: string) => ({
    code: -32600,
    message: `${field} must not be empty`,
    data: { code: 'empty_target' },
  });
  expect(await refusal({ type: 'custom', instructions: ' ' })).toEqual(empty('instructions'));
  expect(await refusal({ type: 'baseBranch', branch: '' })).toEqual(empty('branch'));
  expect(await refusal({ type: 'commit', sha: '\n' })).toEqual(empty('sha'));
  expect((await refusal(UNCOMMITTED, idOf(99))).data.code).toBe('thread_not_found');
});

test('a detached review runs in a fork, which the caller follows, and leaves the running turn of the thread alone', async () => {
  const gate = new Gate();
  const server = await startServer({
    model: new TestModel(response([gate], message('mine')), response(message(VERDICT))),
  });
  const { client } = server;
  await client.request('thread/start', {});
  const own = await client.request('turn/start', { threadId: idOf(1), input: text('hi') });
  await server.model.asked(1);
  const { turn, reviewThreadId } = await client.request('review/start', {
    threadId: idOf(1),
    target: UNCOMMITTED,
    delivery: 'detached',
  });
  expect(reviewThreadId).not.toBe(idOf(1));
  expect(
    await client.waitFor('thread/started', ({ thread }) => thread.id === reviewThreadId),
  ).toMatchObject({
    thread: { forkedFromId: idOf(1) },
  });
  expect((await client.turnCompleted(turn.id)).status).toBe('completed');
  gate.open();
  expect((await client.turnCompleted(own.turn.id)).status).toBe('completed');
  const of = (threadId: string) =>
    client
      .notifications('item/completed', (params) => params.threadId === threadId)
      .map(({ item }) => item.type);
  expect(of(reviewThreadId)).toEqual(['enteredReviewMode', 'exitedReviewMode', 'agentMessage']);
  expect(of(idOf(1))).toEqual(['userMessage', 'agentMessage']);
});

describe('while a review runs', () => {
  test('turn/steer and turn/start are refused, with the kind of the turn', async () => {
    const server = await reviewed([response([new Gate()])]);
    const { client, turn } = server;
    await server.model.asked(1);
    const error = {
      code: -32600,
      message: 'cannot steer a review turn',
      data: {
        code: 'turn_not_steerable',
        message: 'cannot steer a review turn',
        codexErrorInfo: { activeTurnNotSteerable: { turnKind: 'review' } },
        additionalDetails: null,
      },
    };
    expect(
      await client.refusal('turn/steer', {
        threadId: idOf(1),
        expectedTurnId: turn.id,
        input: text('x'),
      }),
    ).toEqual(error);
    expect(await client.refusal('turn/start', { threadId: idOf(1), input: text('x') })).toEqual(
      error,
    );
    expect(
      (
        await client.refusal('turn/steer', {
          threadId: idOf(1),
          expectedTurnId: idOf(99),
          input: text('x'),
        })
      ).data.code,
    ).toBe('turn_mismatch');
    await client.request('turn/interrupt', { threadId: idOf(1), turnId: turn.id });
    await client.turnCompleted(turn.id);
  });

  test('turn/settings/update does not reach it', async () => {
    const server = await reviewed([response([new Gate()])]);
    const { client, turn } = server;
    await server.model.asked(1);
    const params = { threadId: idOf(1), turnId: turn.id, approvalPolicy: 'on-request' as const };
    expect(await client.request('turn/settings/update', params)).toEqual({
      status: 'targetUnavailable',
    });
    await client.request('turn/interrupt', { threadId: idOf(1), turnId: turn.id });
    await client.turnCompleted(turn.id);
  });

  test("thread/shellCommand runs in the review's turn, which waits for it, and the thread's model reads about it later", async () => {
    const gate = new Gate();
    const server = await reviewed([response([gate], message(VERDICT)), response(message('ok'))]);
    const { client, turn, model } = server;
    await model.asked(1);
    await client.request('thread/shellCommand', { threadId: idOf(1), command: 'echo by-the-user' });
    gate.open();
    await client.turnCompleted(turn.id);
    const types = (await itemsOf(server, turn.id)).map(({ type }) => type);
    expect(types.toSorted()).toEqual([
      'agentMessage',
      'commandExecution',
      'enteredReviewMode',
      'exitedReviewMode',
    ]);
    await client.turn(idOf(1), 'next');
    expect(model.requests).toHaveLength(2);
    expect(JSON.stringify(conversation(model.request(2)))).toContain('by-the-user');
  });

  test('a goal waits, is charged, and goes on afterwards', async () => {
    const gate = new Gate();
    const complete = functionCall('update_goal', { status: 'complete' });
    const server = await reviewed([
      response([gate], message(VERDICT)),
      response(complete),
      response(message('ok')),
    ]);
    const { client, turn, model } = server;
    await model.asked(1);
    await client.request('thread/goal/set', {
      threadId: idOf(1),
      objective: 'Do it',
      status: 'active',
    });
    gate.open();
    await client.turnCompleted(turn.id);
    const { turn: goal } = await client.waitFor('turn/completed', (end) => end.turn.id !== turn.id);
    expect(goal.status).toBe('completed');
    expect(conversation(model.request(2))[0]).toEqual(TOLD);
    expect(
      (await client.request('thread/goal/get', { threadId: idOf(1) })).goal?.tokensUsed,
    ).toBeGreaterThanOrEqual(22);
  });

  test('injected items are for the next turn, and a second review replaces the first', async () => {
    const server = await reviewed([
      response([new Gate()]),
      response(message(VERDICT)),
      response(message('ok')),
    ]);
    const { client, turn, model } = server;
    await model.asked(1);
    await client.request('thread/inject_items', { threadId: idOf(1), items: [asked('a note')] });
    const second = await client.request('review/start', { threadId: idOf(1), target: UNCOMMITTED });
    expect((await client.turnCompleted(turn.id)).status).toBe('interrupted');
    expect((await client.turnCompleted(second.turn.id)).status).toBe('completed');
    expect(conversation(model.request(2))).toHaveLength(1);
    await client.turn(idOf(1), 'next');
    const replaced = asked(
      '<review>\nThe user started a review of: current changes. It has no result, because it was interrupted.\n</review>',
    );
    expect(conversation(model.request(3))).toEqual([
      asked('a note'),
      replaced,
      TOLD,
      asked('next'),
    ]);
  });

  test('the thread is read without its end, and a fork of it has a review that was cut off', async () => {
    const server = await reviewed([response(messageBegun('{'), [new Gate()])]);
    const { client, turn } = server;
    await server.model.asked(1);
    expect(await itemsOf(server, turn.id)).toEqual([entered('current changes')]);
    const { thread } = await client.request('thread/fork', { threadId: idOf(1) });
    expect(thread.turns.map(({ status, items }) => [status, items])).toEqual([
      [
        'interrupted',
        [entered('current changes'), exited('The review was cut off before it was complete.')],
      ],
    ]);
    await client.request('turn/interrupt', { threadId: idOf(1), turnId: turn.id });
    await client.turnCompleted(turn.id);
  });
});

test('review/start interrupts a running turn and begins after its end', async () => {
  const server = await startServer({
    model: new TestModel(response([new Gate()]), response(message(VERDICT))),
  });
  const { client, model } = server;
  await client.request('thread/start', {});
  const own = await client.request('turn/start', { threadId: idOf(1), input: text('hi') });
  await model.asked(1);
  const { turn } = await client.request('review/start', { threadId: idOf(1), target: UNCOMMITTED });
  expect((await client.turnCompleted(turn.id)).status).toBe('completed');
  expect(
    client.notifications('turn/completed').map((end) => [end.turn.id, end.turn.status]),
  ).toEqual([
    [own.turn.id, 'interrupted'],
    [turn.id, 'completed'],
  ]);
  expect(conversation(model.request(2))).toHaveLength(1);
  expect(await itemsOf(server, own.turn.id)).toEqual([userItem('hi')]);
});

test.each([
  {
    status: 'interrupted',
    steps: response([new Gate()]),
    report: 'The review was interrupted before it was complete.',
    why: 'was interrupted',
  },
  {
    status: 'failed',
    steps: [failed('no more')],
    report: 'The review failed: no more',
    why: 'failed',
  },
])(
  'a review that is $status leaves review mode once, with its end, and the model is told',
  async ({ status, steps, report, why }) => {
    const server = await reviewed([steps, response(message('ok'))]);
    const { client, turn, model } = server;
    await model.asked(1);
    if (status === 'interrupted')
      await client.request('turn/interrupt', { threadId: idOf(1), turnId: turn.id });
    expect((await client.turnCompleted(turn.id)).status).toBe(status);
    expect(await itemsOf(server, turn.id)).toEqual([entered('current changes'), exited(report)]);
    expect(
      client.notifications('item/completed', ({ item }) => item.type === 'exitedReviewMode'),
    ).toHaveLength(1);
    await client.turn(idOf(1), 'next');
    const told = asked(
      `<review>\nThe user started a review of: current changes. It has no result, because it ${why}.\n</review>`,
    );
    expect(conversation(model.request(2))).toEqual([told, asked('next')]);
  },
);

test('a review that a kill cuts off reads as interrupted and left, and stays so when the thread is resumed', async () => {
  const server = await reviewed([response(messageBegun('{'), [new Gate()])]);
  await server.model.asked(1);
  const next = await afterDeathOf(server);
  const cutOff = [
    entered('current changes'),
    exited('The review was cut off before it was complete.'),
  ];
  const before = await itemsOf(next, server.turn.id);
  expect(before).toEqual(cutOff);
  const { thread } = await next.client.request('thread/resume', { threadId: idOf(1) });
  expect(thread.turns.map(({ status, items }) => [status, items])).toEqual([
    ['interrupted', before],
  ]);
  next.model.push(response(message('ok')));
  await next.client.turn(idOf(1), 'next');
  expect(conversation(next.model.request(1))).toEqual([
    expect.objectContaining({ role: 'user' }),
    asked('next'),
  ]);
});

test('review_model reviews with its default effort, and the settings of the thread stay', async () => {
  const mode = {
    mode: 'plan' as const,
    settings: { model: 'planner', reasoning_effort: 'high', developer_instructions: null },
  };
  const server = await startServer({
    model: new TestModel(
      response(message('a')),
      response(message(VERDICT)),
      response(message('b')),
    ),
    overrides: ['review_model="critic"'],
  });
  const { client, model } = server;
  await client.request('thread/start', {});
  await client.turn(idOf(1), 'SECRET', { collaborationMode: mode });
  const { turn } = await client.request('review/start', { threadId: idOf(1), target: UNCOMMITTED });
  await client.turnCompleted(turn.id);
  await client.turn(idOf(1), 'next');
  expect(model.requests.map((request) => [request.model, request.effort])).toEqual([
    ['planner', 'high'],
    ['critic', null],
    ['planner', 'high'],
  ]);
  expect(JSON.stringify(model.request(2).input)).not.toMatch(/SECRET|Plan mode/);
  expect(client.notifications('thread/settings/updated')).toHaveLength(1);
});

test('the tokens of a review are added to the total, and the last usage stays that of the thread', async () => {
  const server = await startServer({
    model: new TestModel(response(message('a')), response(message(VERDICT))),
  });
  const { client } = server;
  await client.request('thread/start', {});
  await client.turn(idOf(1), 'hi');
  const [first] = client.notifications('thread/tokenUsage/updated');
  const { turn } = await client.request('review/start', { threadId: idOf(1), target: UNCOMMITTED });
  await client.turnCompleted(turn.id);
  const second = client.notifications('thread/tokenUsage/updated').at(-1);
  expect(second?.tokenUsage.total.totalTokens).toBe(30);
  expect(second?.tokenUsage.last).toEqual(first?.tokenUsage.last);
});

test('a reviewer runs commands and reads their output, but applies no patch', async () => {
  const patch =
    "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new.txt\n+text\n*** End Patch\nEOF";
  const calls = [
    functionCall('exec_command', { cmd: 'echo read-this' }),
    functionCall('exec_command', { cmd: patch }, { callId: 'call_2' }),
  ];
  const server = await reviewed([response(...calls), response(message(VERDICT))]);
  const { client, model, turn } = server;
  await client.turnCompleted(turn.id);
  const input = JSON.stringify(model.request(2).input);
  expect(input).toContain('read-this');
  expect(input).toContain('Rejected: a review changes nothing');
  const types = (await itemsOf(server, turn.id)).map(({ type }) => type);
  expect(types).toEqual([
    'enteredReviewMode',
    'commandExecution',
    'exitedReviewMode',
    'agentMessage',
  ]);
});

test.each<WireApi>(['responses', 'chat'])(
  'a provider of the API %s reviews: it gets the task, the tools, and a schema if its servers bear both',
  async (wireApi) => {
    const usage = counts({ prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 });
    const answers = {
      chat: chatStream(delta({ content: VERDICT }), finish('stop'), usage, DONE),
      responses: streaming(...providerMessage(VERDICT), completed),
    };
    await using provider = await ProviderServer.start(answers[wireApi]);
    const config = `model = "m"\nmodel_provider = "p"
[model_providers.p]\nbase_url = "http://127.0.0.1:${provider.port}/v1"\nwire_api = "${wireApi}"\n`;
    const server = await startServer({ config, model: null });
    await server.client.request('thread/start', {});
    const { turn } = await server.client.request('review/start', {
      threadId: idOf(1),
      target: UNCOMMITTED,
    });
    expect((await server.client.turnCompleted(turn.id)).items).toEqual([agentItem(REPORT)]);
    const body = JSON.stringify(provider.requests[0]?.body);
    expect(body).toContain('You review changes');
    expect(body).toContain('Review the uncommitted changes');
    expect(body).toContain('"exec_command"');
    expect(body.includes('"json_schema"')).toBe(wireApi === 'responses');
    await server.close();
  },
);

test('the embedded model and a scripted model review, as any other', async () => {
  const script = { responses: [{ message: VERDICT }] };
  for (const config of [
    'model_provider = "scripted"\n',
    'model_provider = "s"\n[model_providers.s]\nwire_api = "scripted"\nscript = "script.json"\n',
  ]) {
    const files = { 'home/script.json': JSON.stringify(script) };
    const server = await startServer({ config, model: null, files });
    await server.client.request('thread/start', {});
    const { turn } = await server.client.request('review/start', {
      threadId: idOf(1),
      target: UNCOMMITTED,
    });
    expect((await server.client.turnCompleted(turn.id)).status).toBe('completed');
    const types = (await itemsOf(server, turn.id)).map(({ type }) => type);
    expect([types[0], ...types.slice(-2)]).toEqual([
      'enteredReviewMode',
      'exitedReviewMode',
      'agentMessage',
    ]);
    await server.close();
  }
});
