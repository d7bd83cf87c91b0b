import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ModelEvent } from '../../src/model/model.ts';
import { idOf } from '../support/counting-ids.ts';
import { ANY_ID, agentItem, begun, timed, userItem } from '../support/expected.ts';
import { Gate } from '../support/gate.ts';
import { runs } from '../support/runs.ts';
import { text } from '../support/test-client.ts';
import { conversation, message, response, said, TestModel } from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';

const collaborationMode = {
  mode: 'plan' as const,
  settings: { model: 'test-model', reasoning_effort: null, developer_instructions: null },
};

const PLAN = 'First this.\n<proposed_plan>\n# Plan\n- one\n</proposed_plan>\nWhat do you think?';

async function planned(
  ...responses: (readonly ModelEvent[])[]
): Promise<TestServer & { turnId: string }> {
  const server = await startServer({
    model: new TestModel(...responses.map((events) => response(events))),
  });
  await server.client.request('thread/start', {});
  const { id } = await server.client.turn(idOf(1), 'hi', { collaborationMode });
  return { ...server, turnId: id };
}

function itemsOf({ client }: TestServer, method: 'item/started' | 'item/completed') {
  return client
    .notifications(method, ({ item }) => item.type !== 'userMessage')
    .map(({ item }) => item);
}

describe('in plan mode', () => {
  test('the text between the tags is a separate item, the rest is the message', async () => {
    const server = await planned(message(PLAN));
    const plan = timed({ type: 'plan', id: ANY_ID, text: '# Plan\n- one\n' });
    const spoken = agentItem('First this.\nWhat do you think?');
    expect(itemsOf(server, 'item/started')).toEqual(
      [agentItem(''), { ...plan, text: '' }].map(begun),
    );
    expect(itemsOf(server, 'item/completed')).toEqual([plan, spoken]);
    const [turn] = server.client.notifications('turn/completed');
    expect(turn?.turn.items).toEqual([spoken]);
    const { client } = await server.restart();
    const { thread } = await client.request('thread/read', {
      threadId: idOf(1),
      includeTurns: true,
    });
    expect(thread.turns[0]?.items).toEqual([userItem('hi'), plan, spoken]);
  });

  test('the model reads its message again as it wrote it', async () => {
    const server = await planned(message(PLAN), message('ok'));
    await server.client.turn(idOf(1), 'next');
    expect(conversation(server.model.request(2))[1]).toEqual(said(PLAN));
  });

  test('however the deltas are split, they add up to the completed texts', {
    tags: 'seeded',
  }, async () => {
    const server = await startServer();
    const { id: threadId } = (await server.client.request('thread/start', {})).thread;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(PLAN.length), { maxLength: 12 }), async (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), PLAN.length];
        const deltas = places.slice(1).map((end, index) => PLAN.slice(places[index], end));
        server.model.push(response(message(PLAN, { deltas })));
        const turn = await server.client.turn(threadId, 'hi', { collaborationMode });
        const streamed = (method: 'item/agentMessage/delta' | 'item/plan/delta') => {
          const own = server.client.notifications(method, ({ turnId }) => turnId === turn.id);
          expect(new Set(own.map(({ itemId }) => itemId)).size).toBe(1);
          return own.map(({ delta }) => delta).join('');
        };
        expect(streamed('item/plan/delta')).toBe('# Plan\n- one\n');
        expect(streamed('item/agentMessage/delta')).toBe('First this.\nWhat do you think?');
      }),
      { numRuns: runs(30) },
    );
  });

  test('a message without tags has no plan', async () => {
    const server = await planned(message('a < b, <proposed_plan'));
    expect(itemsOf(server, 'item/completed')).toEqual([agentItem('a < b, <proposed_plan')]);
  });

  test.each([
    [
      'in a sentence',
      'I use a <proposed_plan> tag here\nmore',
      null,
      'I use a <proposed_plan> tag here\nmore',
    ],
    [
      'with text behind it',
      'A\n<proposed_plan>x</proposed_plan>\nB',
      null,
      'A\n<proposed_plan>x</proposed_plan>\nB',
    ],
    ['with spaces beside it', 'A\n  <proposed_plan> \r\nx\n\t</proposed_plan>  \nB', 'x\n', 'A\nB'],
    [
      'that closes in a sentence',
      '<proposed_plan>\nx </proposed_plan> y\n</proposed_plan>\nB',
      'x </proposed_plan> y\n',
      'B',
    ],
    [
      'behind many spaces',
      `${' '.repeat(200)}<proposed_plan>\nB`,
      null,
      `${' '.repeat(200)}<proposed_plan>\nB`,
    ],
    ['around nothing', 'A\n<proposed_plan>\n</proposed_plan>\nB', '', 'A\nB'],
    ['at the very end', 'A\n<proposed_plan>', '', 'A\n'],
    [
      'around each of two plans',
      '<proposed_plan>\n1\n</proposed_plan>\nB\n<proposed_plan>\n2\n</proposed_plan>',
      '1\n2\n',
      'B\n',
    ],
  ])('a tag counts only if it is alone on its line: %s', async (_where, whole, plan, said) => {
    for (const deltas of [[whole], [...whole]]) {
      const server = await planned(message(whole, { deltas }));
      const items = itemsOf(server, 'item/completed');
      expect(items).toEqual([
        ...(plan === null ? [] : [timed({ type: 'plan', id: ANY_ID, text: plan })]),
        agentItem(said),
      ]);
    }
  });

  test('a message that consists of the plan only is not shown as a message', async () => {
    const server = await planned(message('<proposed_plan>\nAll of it\n</proposed_plan>'));
    const plan = timed({ type: 'plan', id: ANY_ID, text: 'All of it\n' });
    expect(itemsOf(server, 'item/started')).toEqual([begun({ ...plan, text: '' })]);
    expect(itemsOf(server, 'item/completed')).toEqual([plan]);
    const [turn] = server.client.notifications('turn/completed');
    expect(turn?.turn.items).toEqual([]);
    const { thread } = await server.client.request('thread/read', {
      threadId: idOf(1),
      includeTurns: true,
    });
    expect(thread.turns[0]?.items).toEqual([userItem('hi'), plan]);
  });

  test('a message after the plan begins with its first character', async () => {
    const server = await planned(
      message('<proposed_plan>\nA\n</proposed_plan>\nGood?', {
        deltas: ['<proposed_plan>\nA\n</proposed_plan>\n', 'Good?'],
      }),
    );
    expect(itemsOf(server, 'item/started').map(({ type }) => type)).toEqual([
      'plan',
      'agentMessage',
    ]);
    expect(itemsOf(server, 'item/completed')).toEqual([
      timed({ type: 'plan', id: ANY_ID, text: 'A\n' }),
      agentItem('Good?'),
    ]);
  });

  test('an empty message without a plan is shown', async () => {
    const server = await planned(message(''));
    expect(itemsOf(server, 'item/completed')).toEqual([agentItem('')]);
  });

  test('a plan without a closing tag goes on to the end', async () => {
    const server = await planned(message('So:\n<proposed_plan>\nopen end'));
    expect(itemsOf(server, 'item/completed')).toEqual([
      timed({ type: 'plan', id: ANY_ID, text: 'open end' }),
      agentItem('So:\n'),
    ]);
  });

  test('two messages that each have a plan give two plans', async () => {
    const server = await planned([
      ...message('<proposed_plan>\nA\n</proposed_plan>', { id: 'a' }),
      ...message('<proposed_plan>\nB\n</proposed_plan>', { id: 'b' }),
    ]);
    const plans = itemsOf(server, 'item/completed').filter(({ type }) => type === 'plan');
    expect(plans.map((plan) => plan.type === 'plan' && plan.text)).toEqual(['A\n', 'B\n']);
    expect(plans[0]?.id).not.toBe(plans[1]?.id);
  });

  test('a plan that an interrupt cuts off is shown with its text so far', async () => {
    const [begun, ...deltas] = message(PLAN, {
      deltas: ['Look:\n<proposed_plan>\n# Pl', 'an'],
    }).slice(0, 3);
    const server = await startServer({
      model: new TestModel(response([begun, ...deltas] as ModelEvent[], [new Gate()])),
    });
    await server.client.request('thread/start', {});
    const { turn } = await server.client.request('turn/start', {
      threadId: idOf(1),
      input: text('hi'),
      collaborationMode,
    });
    await server.client.waitFor('item/plan/delta', ({ delta }) => delta === 'an');
    await server.client.request('turn/interrupt', { threadId: idOf(1), turnId: turn.id });
    await server.client.turnCompleted(turn.id);
    expect(itemsOf(server, 'item/completed')).toEqual([]);
    const { thread } = await server.client.request('thread/read', {
      threadId: idOf(1),
      includeTurns: true,
    });
    expect(thread.turns[0]?.items).toEqual([
      userItem('hi'),
      agentItem('Look:\n'),
      timed({ type: 'plan', id: ANY_ID, text: '# Plan' }),
    ]);
  });
});

test('outside plan mode a proposed plan is plain text', async () => {
  const server = await startServer({ model: new TestModel(response(message(PLAN))) });
  await server.client.request('thread/start', {});
  await server.client.turn(idOf(1), 'hi');
  expect(itemsOf(server, 'item/completed')).toEqual([agentItem(PLAN)]);
});
