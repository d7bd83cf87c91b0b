import { expect, test } from 'vitest';
import { answer, question } from '../../support/asking.ts';
import { message, response } from '../../support/test-model.ts';
import {
  completed,
  runs,
  says,
  THREAD,
  turnYielding,
  writes,
  YIELD_MS,
} from '../../tools/command-server.ts';
import {
  ALLOW,
  assesses,
  DENY,
  GUARDED_CONFIG,
  guarded,
  reviewsCompleted,
  toldOf,
} from './guardian-server.ts';

const ends = response(message('done'));
/** Prints what it reads until it reads `end`. */
const echoes = runs(
  'stty -echo; echo up; while read line && [ "$line" != end ]; do echo "got $line"; done',
  {
    tty: true,
    login: false,
    yield_time_ms: YIELD_MS,
  },
);
const write = (chars: string, callId: string) => writes(chars, { yield_time_ms: YIELD_MS }, callId);

test('input for a command that needed approval is reviewed, and the reviews are kept with the item of the command', async () => {
  const server = await guarded({
    turns: [echoes, write('one\n', 'c2'), write('two\n', 'c3'), write('\u0003', 'c4'), ends],
    reviews: [assesses(ALLOW), assesses(ALLOW), assesses(DENY)],
  });
  await turnYielding(server, ['up', 'got one']);
  expect(
    reviewsCompleted(server).map(({ targetItemId, review, action }) => [
      targetItemId,
      review.status,
      action,
    ]),
  ).toMatchObject([
    ['call_1', 'approved', { type: 'command', stdin: null }],
    [
      'call_1',
      'approved',
      {
        type: 'command',
        source: 'unifiedExec',
        stdin: 'one\n',
        command: expect.stringContaining('while read'),
      },
    ],
    ['call_1', 'denied', { type: 'command', stdin: 'two\n' }],
  ]);
  expect(toldOf(server.model, 'c3')).toContain('It is far too risky.');
  const [item] = completed(server);
  expect(item?.approvalReviews?.map(({ review }) => review.status)).toEqual([
    'approved',
    'approved',
    'denied',
  ]);
  expect(item?.aggregatedOutput).not.toContain('got two');
});

test.each([
  ['the command needed no approval', GUARDED_CONFIG.replace('"untrusted"', '"never"')],
  [
    'a person decides',
    GUARDED_CONFIG.replace('"auto_review"', '"user"').replace('"untrusted"', '"never"'),
  ],
])('input is not reviewed if %s', async (_, config) => {
  const server = await guarded(
    { turns: [echoes, write('end\n', 'c2'), ends], reviews: [assesses(DENY)] },
    { config },
  );
  await turnYielding(server, ['up']);
  expect(server.model.reviews).toEqual([]);
  expect(completed(server)).toMatchObject([{ status: 'completed', exitCode: 0 }]);
});

test.each(['accept', 'decline'] as const)(
  'input that the guardian cannot judge is put to a person: %s',
  async (decision) => {
    const key = 'sk-live0123456789abcdefghij';
    const server = await guarded({
      turns: [echoes, write(`rm ${key}\n`, 'c2'), write('end\n', 'c3'), ends],
      reviews: [assesses(ALLOW)],
    });
    const turn = server.client.turn(THREAD, 'go');
    await says(server, 'up');
    await server.clock.timerOf(YIELD_MS);
    server.clock.advance(YIELD_MS);
    const asked = await question(server.client, 'item/commandExecution/requestApproval');
    expect(asked.params).toMatchObject({
      kind: 'writeStdin',
      itemId: 'call_1',
      reason: expect.stringContaining(`"rm ${key}\\n"`),
    });
    expect(asked.params.reason).toContain(
      'The automatic reviewer cannot judge this action, because a secret in it would be hidden',
    );
    answer(server.client, asked, { decision });
    if (decision === 'accept') {
      await says(server, `got rm ${key}`);
      await server.clock.timerOf(YIELD_MS);
      server.clock.advance(YIELD_MS);
    }
    await turn;
    expect(completed(server)[0]?.aggregatedOutput?.includes(key)).toBe(decision === 'accept');
    // Of the command, and of the last input.
    expect(server.model.reviews).toHaveLength(2);
  },
);
