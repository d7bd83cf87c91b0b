// @module-tag slow
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ModelEvent } from '../../src/model/model.ts';
import type { ResponseItem } from '../../src/protocol/generated/types.ts';
import { text } from '../support/test-client.ts';
import { errorOf, message, reasoning, USAGE } from '../support/test-model.ts';
import { startServer } from '../support/test-server.ts';

/** Few ids and texts, so that events often concern the same item. */
const ids = fc.constantFrom('a', 'b');
const texts = fc.constantFrom(
  '',
  'x',
  'some text',
  '<proposed_plan>\n',
  '</proposed_plan>',
  '\ud83e',
  '🧵',
);
const indexes = fc.constantFrom(0, 1, 7, 2 ** 32 - 2, Number.MAX_SAFE_INTEGER);

type WithId = ResponseItem & { id: string };

const items: fc.Arbitrary<WithId> = fc.oneof(
  fc.record({
    type: fc.constant('message' as const),
    id: ids,
    role: fc.constantFrom('assistant', 'assistant', 'assistant', 'user', 'system'),
    content: fc.array(
      texts.map((value) => ({ type: 'output_text' as const, text: value })),
      { maxLength: 2 },
    ),
  }),
  fc.record({
    type: fc.constant('reasoning' as const),
    id: ids,
    summary: fc.array(
      texts.map((value) => ({ type: 'summary_text' as const, text: value })),
      { maxLength: 2 },
    ),
  }),
  fc.record({
    type: fc.constant('function_call' as const),
    id: ids,
    call_id: ids,
    name: fc.constantFrom('update_plan', 'nobody', ''),
    arguments: fc.constantFrom('', '{}', '{"plan":[]}', '{', 'null', '[]'),
  }),
  fc.record({
    type: fc.constant('custom_tool_call' as const),
    id: ids,
    call_id: ids,
    name: fc.constant('nobody'),
    input: texts,
  }),
  fc.record({
    type: fc.constant('web_search_call' as const),
    id: ids,
    action: fc.constantFrom(
      null,
      { type: 'other' as const },
      { type: 'search' as const, query: 'q' },
    ),
  }),
  fc.record({
    type: fc.constant('image_generation_call' as const),
    id: ids,
    status: fc.constant('completed'),
    result: texts,
  }),
  fc.record({ type: fc.constant('compaction' as const), id: ids, encrypted_content: texts }),
  fc.record({ type: fc.constant('other' as const), id: ids }),
  fc.record({
    type: fc.constant('function_call_output' as const),
    id: ids,
    call_id: ids,
    output: texts,
  }),
);

const event: fc.Arbitrary<ModelEvent> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<ModelEvent>({ type: 'started' }) },
  { weight: 6, arbitrary: items.map((item): ModelEvent => ({ type: 'itemStarted', item })) },
  {
    weight: 6,
    arbitrary: fc.record({ type: fc.constant('textDelta' as const), itemId: ids, delta: texts }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('reasoningSummaryPart' as const),
      itemId: ids,
      index: indexes,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('reasoningSummaryDelta' as const),
      itemId: ids,
      index: indexes,
      delta: texts,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('reasoningDelta' as const),
      itemId: ids,
      index: indexes,
      delta: texts,
    }),
  },
  { weight: 6, arbitrary: items.map((item): ModelEvent => ({ type: 'itemCompleted', item })) },
  {
    weight: 1,
    arbitrary: fc.constant<ModelEvent>({ type: 'retrying', error: errorOf('again'), delayMs: 0 }),
  },
);

/** Events that belong together, complete or not. */
const fragment: fc.Arbitrary<ModelEvent[]> = fc
  .tuple(ids, texts, indexes, fc.boolean(), fc.subarray([0, 1, 2, 3], { minLength: 1 }))
  .map(([id, delta, index, isMessage, kept]) => {
    const events: ModelEvent[] = isMessage
      ? [...message(delta, { id }), { type: 'textDelta', itemId: id, delta }]
      : [
          ...reasoning(delta, { id }).slice(0, 1),
          { type: 'reasoningSummaryDelta', itemId: id, index, delta },
          { type: 'reasoningDelta', itemId: id, index, delta },
          ...reasoning(delta, { id }).slice(-1),
        ];
    return events.filter((_event, place) => kept.includes(place));
  });

const ending: fc.Arbitrary<ModelEvent> = fc.constantFrom<ModelEvent>(
  { type: 'completed', usage: USAGE },
  { type: 'completed', usage: null },
  { type: 'failed', error: errorOf('the end') },
);

/** A response with its events in any order. It has an end, as every model's response has. */
const responses = fc.array(
  fc
    .tuple(
      fc.array(fc.oneof(fragment, fc.array(event, { maxLength: 3 })), { maxLength: 6 }),
      ending,
    )
    .map(([events, last]) => [...events.flat(), last]),
  { minLength: 1, maxLength: 3 },
);

const collaborationMode = (mode: 'plan' | 'default') => ({
  mode,
  settings: { model: 'test-model', reasoning_effort: null, developer_instructions: null },
});

test('whatever a model sends, a turn has one start and one end, its items are announced in order, and the next turn works', async () => {
  const server = await startServer({
    config: 'model = "m"\nmodel_provider = "scripted"\nshow_raw_agent_reasoning = true\n',
  });
  const { client, model } = server;
  await fc.assert(
    fc.asyncProperty(
      responses,
      fc.constantFrom('plan', 'default'),
      fc.boolean(),
      async (scripted, mode, interrupts) => {
        const { thread } = await client.request('thread/start', {});
        const before = client.messages.length;
        model.clear();
        model.push(...scripted, [{ type: 'completed', usage: null }]);
        const threadId = thread.id;
        const { turn } = await client.request('turn/start', {
          threadId,
          input: text('hi'),
          collaborationMode: collaborationMode(mode),
        });
        if (interrupts) await client.ask('turn/interrupt', { threadId, turnId: turn.id });
        const ended = await client.turnCompleted(turn.id);
        expect(['completed', 'failed', 'interrupted']).toContain(ended.status);
        const read = await client.request('thread/read', { threadId, includeTurns: true });
        expect(read.thread.status.type).toBe(ended.status === 'failed' ? 'systemError' : 'idle');
        expect(read.thread.turns.map(({ id, status }) => [id, status])).toEqual([
          [turn.id, ended.status],
        ]);
        expect(client.problems.splice(0)).toEqual([]);
        checkOrder(client.messages.slice(before), turn.id);
        expectStored(client.messages.slice(before), read.thread.turns[0]?.items ?? []);
        model.clear();
        model.push([{ type: 'completed', usage: null }]);
        expect((await client.turn(threadId, 'again')).status).toBe('completed');
      },
    ),
    { numRuns: 120 },
  );
});

interface Told {
  method?: string;
  params?: unknown;
}

/** One turn/started first, one turn/completed last, and all item notifications between them. */
function checkOrder(messages: Told[], turnId: string): void {
  const told = messages.filter(({ method = '' }) =>
    /^(turn\/(started|completed)|item\/)/.test(method),
  );
  const turns = told.filter(({ method = '' }) => method.startsWith('turn/'));
  expect(
    turns.map(({ method, params }) => [method, (params as { turn: { id: string } }).turn.id]),
  ).toEqual([
    ['turn/started', turnId],
    ['turn/completed', turnId],
  ]);
  expect([told[0], told.at(-1)]).toEqual(turns);
  checkItems(told);
}

/** An item starts, gets its deltas, completes at most once, and gets nothing after that. */
function checkItems(told: Told[]): void {
  const open = new Set<string>();
  const closed = new Set<string>();
  for (const { method, params } of told) {
    const { item, itemId = item?.id } = params as { item?: { id: string }; itemId?: string };
    if (itemId === undefined) continue;
    expect([method, itemId, closed.has(itemId)]).toEqual([method, itemId, false]);
    if (method === 'item/started') expect(open.has(itemId)).toBe(false);
    else expect([method, open.has(itemId)]).toEqual([method, true]);
    if (method === 'item/completed') closed.add(itemId);
    open.add(itemId);
  }
}

/** Items that a client has seen completed are stored unchanged and in that order. */
function expectStored(messages: Told[], items: { id: string }[]): void {
  const completed = messages.flatMap(({ method, params }) =>
    method === 'item/completed' ? [(params as { item: { id: string } }).item] : [],
  );
  const ids = new Set(completed.map(({ id }) => id));
  expect(items.filter(({ id }) => ids.has(id))).toEqual(completed);
}
