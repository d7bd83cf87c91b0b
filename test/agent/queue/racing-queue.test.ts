import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { queue, turnsOf, waiting } from '../../support/queue.ts';
import { runs } from '../../support/runs.ts';
import { saying, TestModel } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';

const RUNS = runs(30);
const ENTRIES = 8;

/** How many rounds of the event loop pass before an entry is deleted or moved; null: never. */
const moments = fc.array(
  fc.record({
    deletedAfter: fc.option(fc.nat(60)),
    movedAfter: fc.option(fc.nat(60)),
  }),
  { minLength: ENTRIES, maxLength: ENTRIES },
);

test(`of ${RUNS} queues that two clients change while their turns run, each entry is deleted or has exactly one turn`, {
  tags: 'seeded',
}, async () => {
  const model = new TestModel();
  const { client, connect } = await startServer({ model });
  const other = await connect();
  const rounds = async (count: number) => {
    for (let round = 0; round < count; round++) await setImmediate();
  };
  const play = async (planned: { deletedAfter: number | null; movedAfter: number | null }[]) => {
    model.clear();
    model.push(...Array.from({ length: ENTRIES }, () => saying('ok')));
    const { thread } = await client.request('thread/start', {});
    const threadId = thread.id;
    const ended = planned.map(async ({ deletedAfter, movedAfter }, number) => {
      const by = number % 2 === 0 ? client : other;
      const { id } = await queue(by, `entry ${number}`, { threadId });
      if (movedAfter !== null) {
        await rounds(movedAfter);
        const { data } = await by.request('thread/queue/list', { threadId });
        const ids = data.map((entry) => entry.id).reverse();
        await by.ask('thread/queue/reorder', { threadId, queuedSubmissionIds: ids });
      }
      if (deletedAfter === null) return false;
      await rounds(deletedAfter);
      const params = { threadId, queuedSubmissionId: id };
      return (await by.request('thread/queue/delete', params)).deleted;
    });
    const deleted = await Promise.all(ended);
    const wanted = planned.flatMap((_, number) =>
      deleted[number] === true ? [] : [`entry ${number}: completed`],
    );
    let turns = await turnsOf(client, threadId);
    while (turns.filter((turn) => turn.endsWith(': completed')).length < wanted.length)
      turns = await turnsOf(client, threadId);
    expect([...turns].sort()).toEqual(wanted);
    expect(await waiting(client, threadId)).toEqual([]);
  };
  await fc.assert(fc.asyncProperty(moments, play), { numRuns: RUNS, endOnFailure: true });
});
