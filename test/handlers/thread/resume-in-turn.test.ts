import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ModelEvent } from '../../../src/model/model.ts';
import type { ThreadItem } from '../../../src/protocol/generated/types.ts';
import { idOf } from '../../support/counting-ids.ts';
import { runs } from '../../support/runs.ts';
import { type TestClient, text } from '../../support/test-client.ts';
import { message, reasoning, response, TestModel } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';

const words = fc.array(fc.constantFrom('one ', 'two ', 'three '), { minLength: 1, maxLength: 12 });
const item = fc.record({ kind: fc.constantFrom('message', 'reasoning'), words });
const plan = fc.record({
  items: fc.array(item, { minLength: 1, maxLength: 5 }),
  /** The rounds of the event loop between one event and the next. */
  pauses: fc.array(fc.nat(2), { minLength: 1, maxLength: 40 }),
  /** The events before which another client resumes the thread. */
  resumes: fc.uniqueArray(fc.nat(60), { minLength: 1, maxLength: 4 }),
});

type Plan = typeof plan extends fc.Arbitrary<infer Value> ? Value : never;

function eventsOf({ items }: Plan): ModelEvent[] {
  const parts = items.map(({ kind, words: deltas }, index) => {
    const id = `item_${index}`;
    if (kind === 'message') return message(deltas.join(''), { id, deltas });
    const [begun, part, , completed] = reasoning(deltas.join(''), { id });
    const grown = deltas.map(
      (delta): ModelEvent => ({ type: 'reasoningSummaryDelta', itemId: id, index: 0, delta }),
    );
    return [begun, part, ...grown, completed].filter((event) => event !== undefined);
  });
  return response(...parts) as ModelEvent[];
}

/**
 * The items that a client shows: those of the answer, continued by its notifications. Fails if a
 * notification does not fit.
 */
function shownItems(client: TestClient, answered: ThreadItem[], from: number): ThreadItem[] {
  const items = new Map(structuredClone(answered).map((answer) => [answer.id, answer]));
  const grow = (id: string, delta: string) => {
    const shown = items.get(id);
    if (shown?.type === 'agentMessage') shown.text += delta;
    else if (shown?.type === 'reasoning') shown.summary = [(shown.summary?.[0] ?? '') + delta];
    else expect.fail(`a delta of ${id}, which has not started`);
  };
  for (const { method, params } of client.messages.slice(from)) {
    const {
      item: told,
      itemId,
      delta,
    } = (params ?? {}) as { item: ThreadItem; itemId: string; delta: string };
    if (method === 'item/started') items.set(told.id, structuredClone(told));
    else if (method === 'item/agentMessage/delta' || method === 'item/reasoning/summaryTextDelta')
      grow(itemId, delta);
    else if (method === 'item/completed') {
      const shown = items.get(told.id);
      expect(
        shown && { ...shown, completedAtMs: told.completedAtMs },
        'an item that has started',
      ).toEqual(told);
      items.set(told.id, told);
    }
  }
  return [...items.values()];
}

/**
 * Resumes the thread. Returns a function that returns the items of its turn, as the client shows
 * them by then.
 */
async function observed(client: TestClient): Promise<() => ThreadItem[]> {
  const { thread } = await client.request('thread/resume', { threadId: idOf(1) });
  const from = client.messages.findIndex(
    ({ result }) => (result as { thread?: unknown } | undefined)?.thread !== undefined,
  );
  expect(
    client.messages.slice(0, from).filter(({ method }) => method?.startsWith('item/')),
  ).toEqual([]);
  return () => shownItems(client, thread.turns.at(-1)?.items ?? [], from);
}

/** A model that pauses between its events as planned, and calls `reached` before each. */
function pausingModel(planned: Plan, reached: (index: number) => void): TestModel {
  return new TestModel(async function* stream() {
    for (const [index, event] of eventsOf(planned).entries()) {
      reached(index);
      for (let round = 0; round < (planned.pauses[index % planned.pauses.length] ?? 0); round++)
        await setImmediate();
      yield event;
    }
  });
}

async function expectExact(planned: Plan): Promise<void> {
  const clients: TestClient[] = [];
  const observers: Promise<() => ThreadItem[]>[] = [];
  const model = pausingModel(planned, (index) => {
    const client = planned.resumes.includes(index) ? clients.pop() : undefined;
    if (client !== undefined) observers.push(observed(client));
  });
  const server = await startServer({ model });
  await server.client.request('thread/start', {});
  for (const _ of planned.resumes) clients.push(await server.connect());
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('hi'),
  });
  await server.client.turnCompleted(turn.id);
  const { thread } = await server.client.request('thread/read', {
    threadId: idOf(1),
    includeTurns: true,
  });
  for (const items of await Promise.all(observers)) expect(items()).toEqual(thread.turns[0]?.items);
  await server.close();
}

test('a client that resumes at any moment of a turn gets exactly what the answer does not have', {
  tags: 'seeded',
  timeout: 120_000,
}, async () => {
  await fc.assert(fc.asyncProperty(plan, expectExact), { numRuns: runs(60) });
});

test('what is announced while a long answer is made comes after it', {
  timeout: 30_000,
}, async () => {
  const long = 'long '.repeat(200_000);
  const deltas = Array.from({ length: 500 }, (_, index) => `${index} `);
  const model = new TestModel(response(message(long)) as ModelEvent[], async function* slowly() {
    for (const event of response(message(deltas.join(''), { id: 'slow', deltas }))) {
      await setImmediate();
      yield event as ModelEvent;
    }
  });
  const server = await startServer({ model });
  await server.client.request('thread/start', {});
  const threadId = idOf(1);
  await server.client.turn(threadId, 'long');
  const other = await server.connect();
  const { turn } = await server.client.request('turn/start', { threadId, input: text('slow') });
  const items = await observed(other);
  await server.client.turnCompleted(turn.id);
  // The other client has read what was announced before this answer.
  await other.request('server/diagnostics', {});
  const { thread } = await server.client.request('thread/read', { threadId, includeTurns: true });
  expect(items()).toEqual(thread.turns.at(-1)?.items);
});
