import { expect, test } from 'vitest';
import { answer, question } from '../../support/asking.ts';
import { text } from '../../support/test-client.ts';
import {
  functionCall,
  message,
  response,
  type ScriptedResponse,
} from '../../support/test-model.ts';
import { completed, says, THREAD, writes } from '../../tools/command-server.ts';
import {
  ALLOW,
  assesses,
  DENY,
  GUARDED_CONFIG,
  type Guarded,
  guarded,
  reviewsCompleted,
  runsAs,
  toldOf,
} from './guardian-server.ts';

const ends = response(message('done'));
const asksForMore = response(
  functionCall(
    'request_permissions',
    { permissions: { network: { enabled: true } } },
    { callId: 'p1' },
  ),
);
const CONFIG = `${GUARDED_CONFIG.replace('"auto_review"', '"user"')}[features]\nrequest_permissions_tool = true\n`;

/**
 * A server whose turn has been put under strict review by the person who decides, and the id of
 * that turn.
 */
async function strict(
  turns: ScriptedResponse[],
  reviews: ScriptedResponse[],
  config = CONFIG,
): Promise<{ server: Guarded; turnId: string }> {
  const server = await guarded({ turns: [asksForMore, ...turns], reviews }, { config });
  const { turn } = await server.client.request('turn/start', {
    threadId: THREAD,
    input: text('go'),
  });
  const asked = await question(server.client, 'item/permissions/requestApproval');
  answer(server.client, asked, {
    permissions: { network: { enabled: true } },
    scope: 'turn',
    strictAutoReview: true,
  });
  return { server, turnId: turn.id };
}

test('the guardian reviews a command that policy would have put to a person', async () => {
  const { server, turnId } = await strict(
    [response(runsAs('c1', 'touch a')), ends],
    [assesses(DENY)],
  );
  await server.client.turnCompleted(turnId);
  expect(completed(server)).toMatchObject([{ id: 'c1', status: 'declined' }]);
  expect(reviewsCompleted(server).map(({ targetItemId }) => targetItemId)).toEqual(['c1']);
});

test('a person still grants permissions', async () => {
  const again = response(
    functionCall(
      'request_permissions',
      { permissions: { network: { enabled: true } } },
      { callId: 'p2' },
    ),
  );
  const { server, turnId } = await strict([again, ends], [assesses(ALLOW)]);
  answer(server.client, await question(server.client, 'item/permissions/requestApproval', 2), {
    permissions: {},
  });
  await server.client.turnCompleted(turnId);
  expect(server.model.reviews).toEqual([]);
});

test('input for a command that needed no approval is reviewed, too', async () => {
  const cat = response(
    runsAs('c1', 'stty -echo; echo up; while read line; do echo "got $line"; done', {
      tty: true,
      yield_time_ms: 250,
    }),
  );
  const { server, turnId } = await strict(
    [
      cat,
      writes('two\n', { yield_time_ms: 250 }, 'c2'),
      writes('\u0003', { yield_time_ms: 250 }, 'c3'),
      ends,
    ],
    [assesses(ALLOW), assesses(DENY)],
    CONFIG.replace('"untrusted"', '"on-request"'),
  );
  await says(server, 'up');
  await server.clock.timerOf(250);
  server.clock.advance(250);
  await server.client.turnCompleted(turnId);
  expect(
    reviewsCompleted(server).map(({ review, action }) => [
      review.status,
      'stdin' in action && action.stdin,
    ]),
  ).toEqual([
    ['approved', null],
    ['denied', 'two\n'],
  ]);
});

test('what the guardian cannot judge is refused if the policy allows no question to a person', async () => {
  const granular =
    '{ granular = { sandbox_approval = false, rules = true, mcp_elicitations = true, request_permissions = true } }';
  const { server, turnId } = await strict(
    [response(runsAs('c1', 'touch sk-live0123456789abcdefghij')), ends],
    [assesses(ALLOW)],
    CONFIG.replace('"untrusted"', granular),
  );
  await server.client.turnCompleted(turnId);
  expect(completed(server)).toMatchObject([{ id: 'c1', status: 'declined' }]);
  expect(toldOf(server.model, 'c1')).toMatch(
    /does not allow questions about commands and patches.*The automatic reviewer cannot judge/,
  );
  expect(server.model.reviews).toEqual([]);
});
