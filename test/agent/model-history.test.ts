import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ModelEvent } from '../../src/model/model.ts';
import { runs } from '../support/runs.ts';
import { idle } from '../support/settled.ts';
import type { TestClient } from '../support/test-client.ts';
import { text } from '../support/test-client.ts';
import {
  asked,
  conversation,
  functionCall,
  message,
  response,
  said,
} from '../support/test-model.ts';
import { startServer } from '../support/test-server.ts';

/**
 * A request that a client sends after this many messages, or this many rounds of the event loop
 * later.
 */
interface Move {
  method: 'turn/start' | 'turn/steer' | 'turn/interrupt' | 'thread/inject_items';
  afterMessages: number;
  rounds: number;
}

const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.record({
    method: fc.constantFrom(
      'turn/start',
      'turn/steer',
      'turn/interrupt',
      'thread/inject_items',
      'thread/inject_items',
    ),
    afterMessages: fc.nat(14),
    rounds: fc.nat(3),
  }),
  { minLength: 1, maxLength: 6 },
);

/** How many rounds of the event loop pass before each event of a response. */
const paces = fc.array(fc.nat(3), { minLength: 4, maxLength: 4 });

test('whenever items are injected, the model reads each once, in the stored order', {
  tags: 'seeded',
}, async () => {
  const server = await startServer();
  const { client, model } = server;
  const plan = functionCall('update_plan', { plan: [{ step: 'one', status: 'pending' }] });
  await fc.assert(
    fc.asyncProperty(moves, paces, async (played, pace) => {
      const { thread } = await client.request('thread/start', {});
      model.push(() => paced(response(plan) as ModelEvent[], pace));
      model.push(
        ...Array.from(
          { length: 16 },
          () => () => paced(response(message('ok')) as ModelEvent[], pace),
        ),
      );
      const injected = await play(client, thread.id, played);
      await idle(client, thread.id);
      model.clear();

      model.push(response(message('last')), response(message('forked')));
      await client.turn(thread.id, 'the last turn');
      const read = conversation(model.request(model.requests.length));
      const texts = read.map((item) => JSON.stringify(item));
      expect(
        injected.map((item) => texts.filter((found) => found.includes(`"${item}"`)).length),
      ).toEqual(injected.map(() => 1));

      const fork = await client.request('thread/fork', { threadId: thread.id });
      await client.turn(fork.thread.id, 'of the fork');
      expect(conversation(model.request(model.requests.length))).toEqual([
        ...read,
        said('last'),
        asked('of the fork'),
      ]);
    }),
    { numRuns: runs(60) },
  );
});

/** Starts a turn and makes the moves. Returns the texts of the items that were accepted. */
async function play(client: TestClient, threadId: string, plan: Move[]): Promise<string[]> {
  const { turn } = await client.request('turn/start', { threadId, input: text('first') });
  const begun = client.messages.length;
  const isOver = () =>
    client.notifications('turn/completed', ({ turn: { id } }) => id === turn.id).length > 0;
  const taken = plan.map(async ({ method, afterMessages, rounds }, index): Promise<string[]> => {
    await client.count(begun + afterMessages, isOver);
    for (let round = 0; round < rounds; round++)
      await new Promise((resolve) => setImmediate(resolve));
    const item = `item ${index} of ${threadId}`;
    const params = {
      threadId,
      turnId: turn.id,
      expectedTurnId: turn.id,
      input: text(`input ${index}`),
      items: [asked(item)],
    };
    const { error } = await client.ask(method, params);
    return method === 'thread/inject_items' && error === undefined ? [item] : [];
  });
  return (await Promise.all(taken)).flat();
}

async function* paced(
  events: ModelEvent[],
  pace: number[],
): AsyncGenerator<ModelEvent, void, undefined> {
  for (const [index, event] of events.entries()) {
    for (let round = 0; round < (pace[index % pace.length] ?? 0); round++)
      await new Promise((resolve) => setImmediate(resolve));
    yield event;
  }
}
