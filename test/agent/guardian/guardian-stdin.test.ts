import { expect, test } from 'vitest';
import { functionCall, message, response } from '../../support/test-model.ts';
import { completed, THREAD, writes } from '../../tools/command-server.ts';
import { ALLOW, assesses, DENY, GUARDED_CONFIG, guarded, reviewsCompleted, toldOf } from './guardian-server.ts';

const ends = response(message('done'));
/** Starts a shell command that reads lines until `end`. */
const reads = response(
  functionCall('exec_command', {
    cmd: 'while read line && [ "$line" != end ]; do echo "got $line"; done',
    tty: true,
    login: false,
    yield_time_ms: 250,
  }),
);

test('input for a command that needed approval is reviewed, and kept with the item of the command', async () => {
  const server = await guarded({
    turns: [
      reads,
      writes('one\n', {}, 'c2'),
      writes('two\n', {}, 'c3'),
      writes('', { yield_time_ms: 250 }, 'c4'),
      writes('\u0003', {}, 'c5'),
      ends,
    ],
    reviews: [assesses(ALLOW), assesses(ALLOW), assesses(DENY)],
  });
  server.model.asked(2).then(() => server.clock.advance(250));
  await server.client.turn(THREAD, 'go');
  expect(reviewsCompleted(server).map(({ targetItemId, review, action }) => [targetItemId, review.status, action])).toMatchObject([
    ['call_1', 'approved', { type: 'command', stdin: null }],
    ['call_1', 'approved', { type: 'command', source: 'unifiedExec', stdin: 'one\n', command: expect.stringContaining('while read') }],
    ['call_1', 'denied', { type: 'command', stdin: 'two\n' }],
  ]);
  expect(toldOf(server.model, 'c3')).toContain('It is far too risky.');
  const [item] = completed(server);
  expect(item?.approvalReviews).toHaveLength(3);
  expect(item?.aggregatedOutput).not.toContain('got two');
});

test('input is not reviewed if the command needed no approval, or if a person decides', async () => {
  for (const config of [
    GUARDED_CONFIG.replace('"untrusted"', '"never"'),
    GUARDED_CONFIG.replace('"auto_review"', '"user"').replace('"untrusted"', '"never"'),
  ]) {
    const server = await guarded({ turns: [reads, writes('end\n', {}, 'c2'), ends], reviews: [assesses(DENY)] }, { config });
    await server.client.turn(THREAD, 'go');
    expect(server.model.reviews).toEqual([]);
  }
});
