// @module-tag slow
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readReview } from '../../src/agent/review/read-review.ts';
import type { ModelEvent } from '../../src/model/model.ts';
import type { LogEntry } from '../../src/store/log-entry.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { idOf } from '../support/counting-ids.ts';
import { Gate } from '../support/gate.ts';
import { gatedStore } from '../support/gated-store.ts';
import {
  failed,
  functionCall,
  message,
  reasoning,
  response,
  retrying,
  type ScriptedResponse,
  TestModel,
} from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';
import { afterDeathOf } from './after-death-of.ts';

const TARGET = { type: 'uncommittedChanges' } as const;
const VERDICT = '{"findings":[],"overall_explanation":"Fine."}';

/**
 * Two requests: reasoning, a command and a call of nothing, then an attempt that is cut, and the
 * answer.
 */
function responses(): ModelEvent[][] {
  const calls = [
    functionCall('exec_command', { cmd: 'echo one' }),
    functionCall('none', {}, { callId: 'call_2' }),
  ];
  const cut = message('{"find', { id: 'msg_0' }).slice(0, 2);
  return [
    response(reasoning('hm'), ...calls) as ModelEvent[],
    [...cut, retrying('again'), ...(response(message(VERDICT)) as ModelEvent[])],
  ];
}

async function begun(
  given: ScriptedResponse[],
  store?: Parameters<typeof gatedStore>[1],
): Promise<TestServer & { turnId: string }> {
  const options =
    store === undefined ? {} : { wrapStore: (own: TestServer['store']) => gatedStore(own, store) };
  const server = await startServer({ model: new TestModel(...given), ...options });
  await server.client.request('thread/start', {});
  const { turn } = await server.client.request('review/start', {
    threadId: idOf(1),
    target: TARGET,
  });
  return { ...server, turnId: turn.id };
}

/** The turn as it is read: its status, and how often it enters and leaves review mode. */
async function storedTurn(
  { client }: TestServer,
  turnId: string,
): Promise<[string, number, number]> {
  const { thread } = await client.request('thread/read', { threadId: idOf(1), includeTurns: true });
  const turn = thread.turns.find(({ id }) => id === turnId);
  const count = (type: string) => turn?.items.filter((item) => item.type === type).length ?? 0;
  return [turn?.status ?? 'missing', count('enteredReviewMode'), count('exitedReviewMode')];
}

/** Responses of which one waits at this event. */
function haltedAt(
  all: ModelEvent[][],
  place: number,
): { given: ScriptedResponse[]; request: number } {
  let before = 0;
  for (const [index, events] of all.entries()) {
    const at = place - before;
    before += events.length;
    if (at >= events.length) continue;
    return {
      given: [...all.slice(0, index), [...events.slice(0, at), new Gate(), ...events.slice(at)]],
      request: index + 1,
    };
  }
  throw new Error('there is no such event');
}

const PLACES = responses().reduce((sum, events) => sum + events.length, 0);

test.each(Array.from({ length: PLACES }, (_, place) => place))(
  'a review that is interrupted, or killed, at event %i has one end and leaves review mode once',
  async (place) => {
    const { given, request } = haltedAt(responses(), place);
    const server = await begun(given);
    const { client, turnId, model } = server;
    await model.asked(request);
    const next = await afterDeathOf(server);
    expect(await storedTurn(next, turnId)).toEqual(['interrupted', 1, 1]);
    await next.client.request('thread/resume', { threadId: idOf(1) });
    expect(await storedTurn(next, turnId)).toEqual(['interrupted', 1, 1]);
    await client.request('turn/interrupt', { threadId: idOf(1), turnId });
    expect((await client.turnCompleted(turnId)).status).toBe('interrupted');
    expect(await storedTurn(server, turnId)).toEqual(['interrupted', 1, 1]);
    expect(client.notifications('turn/completed')).toHaveLength(1);
  },
);

test('whichever writes fail, an accepted review has one end and leaves review mode once, and the thread goes on', async () => {
  const disk = fc.record({
    from: fc.integer({ min: 1, max: 14 }),
    count: fc.integer({ min: 1, max: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(disk, async ({ from, count }) => {
      let writes = 0;
      const entries: LogEntry[] = [];
      const store = gatedStoreOf((write) => {
        writes++;
        if (writes >= from && writes < from + count)
          throw new StoreError('store_full', 'the disk is full', { file: 'heddle.db' });
        entries.push(...write);
      });
      const model = new TestModel(...responses());
      const server = await startServer({ model, wrapStore: store });
      const { client } = server;
      await client.request('thread/start', {});
      writes = 0;
      const { result } = await client.ask('review/start', { threadId: idOf(1), target: TARGET });
      const turnId = (result as { turn?: { id: string } } | undefined)?.turn?.id;
      if (turnId !== undefined) await client.turnCompleted(turnId);
      expect(server.log.takeErrors().filter((line) => line !== 'a tool failed')).toEqual([]);
      writes = 100;
      model.clear();
      model.push(response(message('ok')));
      expect((await client.turn(idOf(1), 'next')).status).toBe('completed');
      if (turnId === undefined) return;
      const [status, entered, exited] = await storedTurn(server, turnId);
      expect([['completed', 'failed'].includes(status), entered, exited]).toEqual([true, 1, 1]);
      expect(
        entries.filter((entry) => entry.kind === 'turnEnded' && entry.turnId === turnId),
      ).toHaveLength(1);
    }),
    { numRuns: 40 },
  );
});

function gatedStoreOf(onWrite: (entries: readonly LogEntry[]) => void) {
  return (store: TestServer['store']) => gatedStore(store, ({ entries }) => onWrite(entries));
}

test.each([
  ['without an answer', [], 'The reviewer gave no answer.'],
  ['of white space', message(' \n'), 'The reviewer gave no answer.'],
  ['with an empty verdict', message('{"findings":[],"overall_explanation":""}'), 'No findings.'],
  ['in a fence', message(`Here:\n\`\`\`json\n${VERDICT}\n\`\`\``), 'Fine.'],
  ['in other JSON', message('{"a":1}'), '{"a":1}'],
  ['of cut JSON', message('{"findings":[{"title":"x"'), '{"findings":[{"title":"x"'],
])('a response %s is a review', async (_what, events, report) => {
  const { client, turnId } = await begun([response(events as ModelEvent[])]);
  await client.turnCompleted(turnId);
  expect(
    client
      .notifications('item/completed')
      .map(({ item }) => item.type === 'exitedReviewMode' && item.review),
  ).toContain(report);
});

test('a provider that fails each attempt fails the review, and the errors are shown as in other turns', async () => {
  const { client, turnId } = await begun([
    [retrying('again'), failed('no more', 'serverOverloaded')],
  ]);
  expect(await client.turnCompleted(turnId)).toMatchObject({
    status: 'failed',
    error: { codexErrorInfo: 'serverOverloaded' },
  });
  expect(client.notifications('error').map(({ willRetry }) => willRetry)).toEqual([true, false]);
});

test('whatever JSON a reviewer answers, its report is text within the limit', () => {
  const finding = fc.oneof(
    fc.jsonValue(),
    fc.record({
      title: fc.jsonValue(),
      body: fc.string(),
      priority: fc.jsonValue(),
      code_location: fc.jsonValue(),
    }),
  );
  const review = fc.record({
    findings: fc.oneof(fc.jsonValue(), fc.array(finding)),
    overall_explanation: fc.jsonValue(),
  });
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.jsonValue(), review), (answer) => {
      const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
      const report = readReview(text);
      expect(typeof report).toBe('string');
      expect(report).not.toContain('[object Object]');
    }),
  );
  expect(readReview('x'.repeat(1_000_000))).toHaveLength(256 * 1024);
  expect(readReview(`${'['.repeat(100_000)}${'{'.repeat(100_000)}}`)).toHaveLength(200_001);
});
