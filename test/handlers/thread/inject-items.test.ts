import { describe, expect, test } from 'vitest';
import type { ResponseItem } from '../../../src/protocol/generated/types.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { idOf } from '../../support/counting-ids.ts';
import { agentItem, brief, userItem } from '../../support/expected.ts';
import { Gate } from '../../support/gate.ts';
import { gatedStore } from '../../support/gated-store.ts';
import { text } from '../../support/test-client.ts';
import {
  asked,
  calls,
  conversation,
  functionCall,
  message,
  messageBegun,
  response,
  said,
  TestModel,
} from '../../support/test-model.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';
import { threadWith } from '../../support/thread-with.ts';

const fact = said('a fact');
const plan = { plan: [{ step: 'one', status: 'pending' }] };

async function inject(
  { client }: Pick<TestServer, 'client'>,
  items: unknown[],
  threadId = idOf(1),
) {
  return client.call('thread/inject_items', { threadId, items });
}

/** A thread whose turn has streamed "par" and waits. */
async function running(): Promise<TestServer & { gate: Gate; turnId: string }> {
  const gate = new Gate();
  const server = await startServer({
    model: new TestModel(response(messageBegun('par'), [gate], message('partial').slice(2))),
  });
  await server.client.request('thread/start', {});
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('go'),
  });
  await server.client.waitFor('item/agentMessage/delta');
  return { ...server, gate, turnId: turn.id };
}

describe('thread/inject_items refuses', () => {
  test('no items, and unknown threads', async () => {
    const { client } = await startServer();
    await client.request('thread/start', {});
    expect([
      await client.refusal('thread/inject_items', { threadId: idOf(1), items: [] }),
      await client.refusal('thread/inject_items', { threadId: idOf(9), items: [fact] }),
      await client.refusal('thread/inject_items', { threadId: 'nope', items: [fact] }),
      await client.refusal('thread/inject_items', { threadId: idOf(1) }),
    ]).toEqual([
      { code: -32600, message: 'items must not be empty', data: { code: 'empty_items' } },
      {
        code: -32600,
        message: `thread not found: ${idOf(9)}`,
        data: { code: 'thread_not_found', threadId: idOf(9) },
      },
      {
        code: -32600,
        message: 'invalid thread id: "nope" is not a UUID',
        data: { code: 'invalid_thread_id' },
      },
      {
        code: -32600,
        message: 'params.items is missing: an array is expected',
        data: { code: 'invalid_params' },
      },
    ]);
  });

  test('more than 1,000 items, and takes none of them', async () => {
    const server = await startServer({ model: new TestModel(response(message('ok'))) });
    await server.client.request('thread/start', {});
    const items = Array.from({ length: 1_001 }, () => fact);
    expect(
      await server.client.refusal('thread/inject_items', { threadId: idOf(1), items }),
    ).toEqual({
      code: -32600,
      message: 'items must have at most 1000 entries, not 1001: inject them in several requests',
      data: { code: 'too_many_items', maxItems: 1000, actualItems: 1001 },
    });
    await inject(server, items.slice(1));
    await server.client.turn(idOf(1), 'hi');
    expect(conversation(server.model.request(1))).toHaveLength(1_001);
  });

  test('a thread that is not loaded', async () => {
    const server = await startServer();
    await threadWith(server, [['one', 'first']]);
    const { client } = await server.restart();
    const refusal = await client.refusal('thread/inject_items', {
      threadId: idOf(1),
      items: [fact],
    });
    expect(refusal.data).toEqual({ code: 'thread_not_found', threadId: idOf(1) });
  });

  const bad: [unknown, RegExp][] = [
    [7, /^items\[1\] is not a valid response item: 7 is not an object$/],
    [{ role: 'user' }, /^items\[1\] is not a valid response item: type is missing/],
    [{ type: 7 }, /^items\[1\] is not a valid response item: type/],
    [
      { type: 'message', role: 'user' },
      /^items\[1\] is not a valid response item: content is missing/,
    ],
    [
      { type: 'message', role: 'user', content: [{ type: 'input_text' }] },
      /^items\[1\] is not a valid response item: content\[0\]\.text is missing/,
    ],
    [
      { type: 'function_call', name: 'f', arguments: '{}' },
      /^items\[1\] is not a valid response item: call_id is missing/,
    ],
  ];

  test.each(bad)(
    'an invalid item, names its index, and takes none of the others: %j',
    async (item, problem) => {
      const server = await startServer();
      await server.client.request('thread/start', {});
      const refusal = await server.client.refusal('thread/inject_items', {
        threadId: idOf(1),
        items: [fact, item],
      });
      expect(refusal).toEqual({
        code: -32600,
        message: expect.stringMatching(problem),
        data: { code: 'invalid_item', index: 1 },
      });
      server.model.push(response(message('ok')));
      await server.client.turn(idOf(1), 'hi');
      expect(conversation(server.model.request(1))).toEqual([asked('hi')]);
    },
  );
});

test('items injected between turns reach the model in the next turn, and no client sees them', async () => {
  const server = await startServer();
  const { turns } = await threadWith(server, [['one', 'first']]);
  const before = server.client.messages.length;
  expect(await inject(server, [fact, asked('a wish')])).toEqual({});
  server.model.push(response(message('second')));
  const turn = await server.client.turn(idOf(1), 'two');
  expect(conversation(server.model.request(2))).toEqual([
    asked('one'),
    said('first'),
    fact,
    asked('a wish'),
    asked('two'),
  ]);
  const { thread } = await server.client.request('thread/read', {
    threadId: idOf(1),
    includeTurns: true,
  });
  expect(thread.turns.map(({ items }) => brief(items))).toEqual([
    brief(turns[0]?.items ?? []),
    ['user: two', 'agent: second'],
  ]);
  expect(
    server.client.messages.slice(before).filter(({ method }) => method !== undefined)[0],
  ).toEqual({
    method: 'thread/status/changed',
    params: { threadId: idOf(1), status: { type: 'active', activeFlags: [] } },
  });
  expect(turn.status).toBe('completed');
});

test('items injected before the first turn reach the model too, and do not make the thread listed', async () => {
  const server = await startServer({ model: new TestModel(response(message('ok'))) });
  await server.client.request('thread/start', {});
  await inject(server, [fact]);
  expect((await server.client.request('thread/list', {})).data).toEqual([]);
  await server.client.turn(idOf(1), 'one');
  expect(conversation(server.model.request(1))).toEqual([fact, asked('one')]);
});

test.each(['at once', 'after a restart', 'in a fork', 'after a second request'])(
  'items injected before the first turn stand behind the context, which comes once: %s',
  async (when) => {
    const model = new TestModel(response(message('ok')), response(message('ok')));
    let server = await startServer({ model, files: { 'work/AGENTS.md': 'Be kind.' } });
    await server.client.request('thread/start', {});
    await inject(server, [asked('a wish'), fact]);
    if (when === 'after a second request') await inject(server, [asked('another')]);
    if (when === 'after a restart') {
      server = await server.restart();
      await server.client.request('thread/resume', { threadId: idOf(1) });
    }
    const { client } = server;
    const fork =
      when === 'in a fork' ? await client.request('thread/fork', { threadId: idOf(1) }) : null;
    const threadId = fork?.thread.id ?? idOf(1);
    await client.turn(threadId, 'hi', {
      additionalContext: { page: { kind: 'untrusted', value: 'x' } },
    });
    const { thread } = await client.request('thread/start', {});
    await client.turn(thread.id, 'hi');
    const context = model.request(2).input.slice(0, -1);
    const page = asked('<context name="page">\nx\n</context>');
    const injected = [
      asked('a wish'),
      fact,
      ...(when === 'after a second request' ? [asked('another')] : []),
    ];
    expect(JSON.stringify(context)).toContain('Be kind.');
    expect(model.request(1).input).toEqual([...context, ...injected, page, asked('hi')]);
  },
);

test('items that cannot be stored leave the first turn its context', async () => {
  let isFull = true;
  const model = new TestModel(response(message('ok')), response(message('ok')));
  const server = await startServer({
    model,
    wrapStore: (store) =>
      gatedStore(store, ({ entries }) => {
        if (isFull && entries.some((entry) => entry.kind === 'model'))
          throw new StoreError('store_full', 'the disk is full');
      }),
  });
  await server.client.request('thread/start', {});
  await server.client.request('thread/start', {});
  expect(
    (await server.client.refusal('thread/inject_items', { threadId: idOf(1), items: [fact] })).code,
  ).toBe(-32603);
  isFull = false;
  await server.client.turn(idOf(1), 'hi');
  await server.client.turn(idOf(2), 'hi');
  expect(model.request(1).input).toEqual(model.request(2).input);
});

test('a call and its output reach the model; an item of an unknown type is left out', async () => {
  const server = await startServer({ model: new TestModel(response(message('ok'))) });
  await server.client.request('thread/start', {});
  const call = calls('look', {});
  const output: ResponseItem = { type: 'function_call_output', call_id: 'call_1', output: 'seen' };
  expect(await inject(server, [call, output, { type: 'from_the_future', text: 'x' }])).toEqual({});
  expect(await inject(server, [{ type: 'from_the_future' }])).toEqual({});
  await server.client.turn(idOf(1), 'one');
  expect(conversation(server.model.request(1))).toEqual([call, output, asked('one')]);
});

describe('while a turn runs', () => {
  test('the model finishes its response, and is asked again with the injected items', async () => {
    const server = await running();
    const { client, model, gate, turnId } = server;
    model.push(response(message('after')));
    expect(await inject(server, [fact, asked('a wish')])).toEqual({});
    expect(model.requests).toHaveLength(1);
    gate.open();
    expect(await client.turnCompleted(turnId)).toMatchObject({
      status: 'completed',
      items: [agentItem('after')],
    });
    const read = [asked('go'), said('partial'), fact, asked('a wish')];
    expect(conversation(model.request(2))).toEqual(read);
    const shown = client.notifications('item/completed').map(({ item }) => item);
    expect(shown).toEqual([userItem('go'), agentItem('partial'), agentItem('after')]);

    const next = await server.restart({ model: new TestModel(response(message('last'))) });
    await next.client.request('thread/resume', { threadId: idOf(1) });
    await next.client.turn(idOf(1), 'two');
    expect(conversation(next.model.request(1))).toEqual([...read, said('after'), asked('two')]);
  });

  test('injected items come after the outputs of the tool calls', async () => {
    const gate = new Gate();
    const server = await startServer({
      model: new TestModel(
        response(functionCall('update_plan', plan), [gate]),
        response(message('done')),
      ),
    });
    await server.client.request('thread/start', {});
    const { turn } = await server.client.request('turn/start', {
      threadId: idOf(1),
      input: text('go'),
    });
    // The call has ended, and the response has not.
    await server.client.waitFor('turn/plan/updated');
    await inject(server, [fact]);
    gate.open();
    await server.client.turnCompleted(turn.id);
    expect(conversation(server.model.request(2)).map((item) => item.type)).toEqual([
      'message',
      'function_call',
      'function_call_output',
      'message',
    ]);
    expect(conversation(server.model.request(2)).at(-1)).toEqual(fact);
  });

  test('an input after the injected items ends the stream, and the model reads both', async () => {
    const server = await running();
    const { client, model, turnId } = server;
    model.push(response(message('after')));
    await inject(server, [fact]);
    await client.request('turn/steer', {
      threadId: idOf(1),
      expectedTurnId: turnId,
      input: text('more'),
    });
    await client.turnCompleted(turnId);
    expect(conversation(model.request(2))).toEqual([asked('go'), fact, asked('more')]);
  });

  test('an interrupt keeps the injected items for the next turn, in this process and after a restart', async () => {
    const server = await running();
    const { client, model, turnId } = server;
    await inject(server, [fact]);
    await client.request('turn/interrupt', { threadId: idOf(1), turnId });
    await client.turnCompleted(turnId);
    model.push(response(message('second')), response(message('third')));
    await client.turn(idOf(1), 'two');
    expect(conversation(model.request(2))).toContainEqual(fact);
    const next = await server.restart();
    await next.client.request('thread/resume', { threadId: idOf(1) });
    await next.client.turn(idOf(1), 'three');
    const again = conversation(model.request(3));
    expect(again.slice(0, -2)).toEqual(conversation(model.request(2)));
  });

  test('a fork in the middle of the turn has the injected items', async () => {
    const server = await running();
    await inject(server, [fact]);
    const { thread } = await server.client.request('thread/fork', { threadId: idOf(1) });
    server.model.push(response(message('forked')));
    await server.client.turn(thread.id, 'two');
    const read = conversation(server.model.request(2));
    expect(read[0]).toEqual(asked('go'));
    expect(read.slice(1, -1)).toContainEqual(fact);
    server.gate.open();
  });
});

test('a fork has the injected items, and a restart keeps them', async () => {
  const server = await startServer();
  await threadWith(server, [['one', 'first']]);
  await inject(server, [fact]);
  const next = await server.restart({
    model: new TestModel(response(message('ok')), response(message('ok'))),
  });
  await next.client.request('thread/resume', { threadId: idOf(1) });
  const { thread } = await next.client.request('thread/fork', { threadId: idOf(1) });
  for (const threadId of [idOf(1), thread.id]) await next.client.turn(threadId, 'two');
  for (const count of [1, 2])
    expect(conversation(next.model.request(count))).toEqual([
      asked('one'),
      said('first'),
      fact,
      asked('two'),
    ]);
});

test.each([false, true])(
  'if the store fails, the items are refused, and the turn goes on without them (turn runs: %s)',
  async (turnRuns) => {
    let isFull = false;
    const gate = new Gate();
    const server = await startServer({
      model: new TestModel(
        response(messageBegun('par'), [gate], message('partial').slice(2)),
        response(message('second')),
      ),
      wrapStore: (store) =>
        gatedStore(store, ({ entries }) => {
          if (isFull && entries.some((entry) => entry.kind === 'model'))
            throw new StoreError('store_full', 'the disk is full');
        }),
    });
    await server.client.request('thread/start', {});
    const { turn } = await server.client.request('turn/start', {
      threadId: idOf(1),
      input: text('go'),
    });
    await server.client.waitFor('item/agentMessage/delta');
    if (!turnRuns) {
      gate.open();
      await server.client.turnCompleted(turn.id);
    }
    isFull = true;
    const refusal = await server.client.refusal('thread/inject_items', {
      threadId: idOf(1),
      items: [fact],
    });
    expect(refusal).toEqual({
      code: -32603,
      message: 'the disk is full',
      data: { code: 'store_full' },
    });
    isFull = false;
    gate.open();
    await server.client.turnCompleted(turn.id);
    expect(server.model.requests).toHaveLength(1);
    await server.client.turn(idOf(1), 'two');
    expect(conversation(server.model.request(2))).toEqual([
      asked('go'),
      said('partial'),
      asked('two'),
    ]);
  },
);
