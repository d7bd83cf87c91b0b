// @module-tag slow
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { StoreError } from '../../../src/store/store-error.ts';
import { Gate } from '../../support/gate.ts';
import { gatedStore } from '../../support/gated-store.ts';
import { text } from '../../support/test-client.ts';
import {
  failed,
  message,
  messageBegun,
  response,
  retrying,
  type ScriptedResponse,
} from '../../support/test-model.ts';
import { completed, THREAD } from '../../tools/command-server.ts';
import { afterDeathOf } from '../after-death-of.ts';
import {
  ALLOW,
  assesses,
  DENY,
  type Guarded,
  guarded,
  keptReviews,
  reviewsCompleted,
  runsAs,
} from './guardian-server.ts';

const ends = response(message('done'));
const touches = (id: string) => response(runsAs(id, `touch ${id}`));

/**
 * Checks what holds whatever happens: each review ends once, and nothing runs without an approval.
 */
function expectSafe(server: Guarded, ids: readonly string[]): void {
  const { client, cwd } = server;
  const begun = client
    .notifications('item/autoApprovalReview/started')
    .map(({ reviewId }) => reviewId);
  expect(
    reviewsCompleted(server)
      .map(({ reviewId }) => reviewId)
      .sort(),
  ).toEqual(begun.sort());
  const approved = reviewsCompleted(server).flatMap(({ targetItemId, review }) =>
    review.status === 'approved' ? [targetItemId] : [],
  );
  for (const id of ids) if (existsSync(join(cwd, id))) expect(approved).toContain(id);
  const ends = reviewsCompleted(server).map(({ reviewId, completedAtMs, review }) => ({
    reviewId,
    completedAtMs,
    status: review.status,
  }));
  for (const item of completed(server)) {
    for (const { reviewId, completedAtMs, review } of keptReviews(item)) {
      expect(ends).toContainEqual({ reviewId, completedAtMs, status: review.status });
    }
  }
  expect(client.notifications('turn/completed')).toHaveLength(1);
}

describe('a disk that is full at any write', () => {
  test.each(Array.from({ length: 8 }, (_, index) => index + 1))('at write %i', async (at) => {
    let writes = 0;
    const server = await guarded(
      { turns: [touches('a'), ends], reviews: [assesses(ALLOW)] },
      {
        wrapStore: (store) =>
          gatedStore(store, ({ entries }) => {
            if (++writes === at + 1 && entries.every(({ kind }) => kind !== 'turnEnded')) {
              throw new StoreError('store_full', 'the disk is full: free some space', {
                file: 'heddle.db',
              });
            }
          }),
      },
    );
    const started = await server.client.ask('turn/start', { threadId: THREAD, input: text('go') });
    if (started.error !== undefined) return;
    await server.client.first('the end', ({ method }) => method === 'turn/completed');
    expectSafe(server, ['a']);
    for (const error of server.log.takeErrors()) expect(error).toBe('a tool failed');
  });
});

const answers: fc.Arbitrary<ScriptedResponse> = fc.oneof(
  fc.constantFrom<ScriptedResponse>(
    assesses(ALLOW),
    assesses(DENY),
    assesses(''),
    assesses('{"outcome":'),
    response(),
    [],
    ends,
  ),
  fc.constantFrom<ScriptedResponse>(
    [failed('down')],
    messageBegun('{"outcome":"allow"}'),
    [retrying('again'), ...assesses(ALLOW)],
    [new Gate()],
  ),
  fc.string({ unit: 'binary', maxLength: 50 }).map((garbage) => assesses(garbage)),
  fc.json({ maxDepth: 2 }).map((json) => assesses(json)),
);

test('whatever the guardian answers, and whenever the turn is interrupted: each review ends once, and nothing runs without an approval', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(answers, { minLength: 1, maxLength: 6 }),
      fc.option(fc.nat(30)),
      async (reviews, interruptAfter) => {
        const ids = ['a', 'b', 'c', 'd'];
        const server = await guarded({
          turns: [
            response(runsAs('a', 'touch a'), runsAs('b', 'touch b')),
            touches('c'),
            touches('d'),
            ends,
          ],
          reviews,
        });
        const { client, clock } = server;
        const { turn } = await client.request('turn/start', {
          threadId: THREAD,
          input: text('go'),
        });
        if (interruptAfter !== null) {
          await client.count(
            interruptAfter,
            () => client.notifications('turn/completed').length > 0,
          );
          await client.ask('turn/interrupt', { threadId: THREAD, turnId: turn.id });
        }
        while (client.notifications('turn/completed').length === 0) {
          clock.advance(90_000);
          await client.request('thread/loaded/list', {});
        }
        expectSafe(server, ids);
        await server.close();
      },
    ),
    { numRuns: 25, seed: 12 },
  );
}, 120_000);

test('a server that dies after an approval: the review is kept with the item', async () => {
  const server = await guarded({
    turns: [response(runsAs('a', 'sleep 1000', { yield_time_ms: 250 })), ends],
    reviews: [assesses(ALLOW)],
  });
  const { turn } = await server.client.request('turn/start', {
    threadId: THREAD,
    input: text('go'),
  });
  await server.client.waitFor('item/autoApprovalReview/completed');
  const next = await afterDeathOf(server);
  const { thread } = await next.client.request('thread/read', {
    threadId: THREAD,
    includeTurns: true,
  });
  expect(keptReviews(thread.turns[0]?.items.find(({ id }) => id === 'a'))).toMatchObject([
    { turnId: turn.id, review: { status: 'approved' } },
  ]);
  await server.client.request('turn/interrupt', { threadId: THREAD, turnId: turn.id });
});
