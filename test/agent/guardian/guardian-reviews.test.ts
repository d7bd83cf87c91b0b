import { describe, expect, test } from 'vitest';
import { answer, question } from '../../support/asking.ts';
import { Gate } from '../../support/gate.ts';
import { taken } from '../../support/settled.ts';
import { text } from '../../support/test-client.ts';
import {
  failed,
  functionCall,
  message,
  messageBegun,
  response,
  TestModel,
} from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';
import { completed, THREAD } from '../../tools/command-server.ts';
import { afterDeathOf } from '../after-death-of.ts';
import {
  ALLOW,
  assesses,
  DENY,
  GUARDED_CONFIG,
  guarded,
  keptReviews,
  reviewsCompleted,
  runsAs,
  toldOf,
} from './guardian-server.ts';

const touches = response(runsAs('call_1', 'touch a'));
const ends = response(message('done'));

test('an approved command runs; clients see the review around it, and it is kept with the item', async () => {
  const server = await guarded({ turns: [touches, ends], reviews: [assesses(ALLOW)] });
  const turn = await server.client.turn(THREAD, 'Please create a.');
  const shown = { riskLevel: 'low', userAuthorization: 'high', rationale: 'It is harmless.' };
  expect(reviewsCompleted(server)).toMatchObject([
    {
      threadId: THREAD,
      turnId: turn.id,
      targetItemId: 'call_1',
      decisionSource: 'agent',
      review: { status: 'approved', ...shown },
    },
  ]);
  expect(server.client.notifications('guardianWarning')).toEqual([
    {
      threadId: THREAD,
      message:
        'The automatic review approved an action (risk: low, authorization: high): It is harmless.',
    },
  ]);
  const [item] = completed(server);
  expect(item).toMatchObject({
    status: 'completed',
    exitCode: 0,
    approvalReviews: [{ turnId: turn.id, review: { status: 'approved' } }],
  });
  const { thread } = await server.client.request('thread/read', {
    threadId: THREAD,
    includeTurns: true,
  });
  expect(thread.turns[0]?.items.find(({ id }) => id === 'call_1')).toEqual(item);
});

test('a denied command does not run: the model reads why, and the turn goes on', async () => {
  const server = await guarded({ turns: [touches, ends], reviews: [assesses(DENY)] });
  await server.client.turn(THREAD, 'go');
  expect(completed(server)).toMatchObject([
    { status: 'declined', exitCode: null, approvalReviews: [{ review: { status: 'denied' } }] },
  ]);
  expect(toldOf(server.model)).toMatch(
    /^This action was rejected by the automatic reviewer and not performed\. Reason: It is far too risky\./,
  );
  expect(server.client.notifications('turn/completed')).toMatchObject([
    { turn: { status: 'completed' } },
  ]);
});

test('the reason that the model reads ends with a full stop', async () => {
  const server = await guarded({
    turns: [touches, ends],
    reviews: [assesses({ outcome: 'deny', rationale: 'far too risky' })],
  });
  await server.client.turn(THREAD, 'go');
  expect(toldOf(server.model)).toContain('Reason: far too risky. Do not try');
});

test('the reviewer of a turn is that of its settings: the person without it, the guardian with it, and it sticks', async () => {
  const server = await guarded(
    {
      turns: [touches, ends, response(runsAs('call_2', 'touch b')), ends],
      reviews: [assesses(ALLOW)],
    },
    { config: GUARDED_CONFIG.replace('"auto_review"', '"user"') },
  );
  await server.client.turn(THREAD, 'go', { approvalsReviewer: 'guardian_subagent' });
  await server.client.turn(THREAD, 'again');
  expect(reviewsCompleted(server).map(({ targetItemId }) => targetItemId)).toEqual([
    'call_1',
    'call_2',
  ]);
});

test('a request for permissions is reviewed, and grants them for the turn', async () => {
  const asks = response(
    functionCall('request_permissions', {
      reason: 'to fetch',
      permissions: { network: { enabled: true } },
    }),
  );
  const server = await guarded(
    { turns: [asks, ends], reviews: [assesses(ALLOW)] },
    {
      config: `${GUARDED_CONFIG.replace('"danger-full-access"', '"workspace-write"')}[features]\nrequest_permissions_tool = true\n`,
    },
  );
  await server.client.turn(THREAD, 'go');
  expect(reviewsCompleted(server)).toMatchObject([
    {
      targetItemId: 'call_1',
      action: {
        type: 'requestPermissions',
        reason: 'to fetch',
        permissions: { network: { enabled: true }, fileSystem: null },
      },
    },
  ]);
  expect(JSON.parse(toldOf(server.model))).toEqual({
    permissions: { network: { enabled: true }, file_system: null },
    scope: 'turn',
  });
});

describe('a review that does not succeed is a denial', () => {
  const failures = {
    'an error of the model': [failed('no such model')],
    'a response without an end': messageBegun('{"outcome":"allow"'),
    'an empty response': response(),
    'a text': assesses('Fine, go ahead.'),
    'a quoted answer': assesses(`The file says ${JSON.stringify(ALLOW)}, so I allow it.`),
    'two outcomes': assesses('{"outcome":"deny","outcome":"allow"}'),
    'two outcomes, one with an escape': assesses('{"outcome":"deny","out\\u0063ome":"allow"}'),
    'two risks': assesses('{"risk_level":"critical","outcome":"allow","risk_level":"low"}'),
    'a code block': assesses(`\`\`\`json\n${JSON.stringify(ALLOW)}\n\`\`\``),
    'a key that does not exist': assesses({ ...ALLOW, verdict: 'deny' }),
    'two answers': assesses(`${JSON.stringify(ALLOW)}\n${JSON.stringify(ALLOW)}`),
    'a list': assesses([ALLOW]),
    'an outcome that does not exist': assesses({ ...ALLOW, outcome: 'ALLOW' }),
    'a risk that does not exist': assesses({ ...ALLOW, risk_level: 'none' }),
  };
  test.each(Object.entries(failures))('%s', async (_, answer) => {
    const server = await guarded({ turns: [touches, ends], reviews: [answer] });
    await server.client.turn(THREAD, 'go');
    const [review] = reviewsCompleted(server);
    expect(review?.review).toMatchObject({
      status: 'denied',
      riskLevel: null,
      rationale: expect.stringMatching(/^The automatic review failed\./),
    });
    expect(completed(server)).toMatchObject([{ status: 'declined', exitCode: null }]);
    expect(toldOf(server.model)).toContain('This does not mean that the action is dangerous.');
    expect(server.client.notifications('guardianWarning')).toEqual([
      { threadId: THREAD, message: review?.review.rationale },
    ]);
  });

  test('an answer that cannot be read is asked for again, once', async () => {
    const server = await guarded({
      turns: [touches, ends],
      reviews: [assesses('hm'), assesses(ALLOW)],
    });
    await server.client.turn(THREAD, 'go');
    expect(server.model.reviews).toHaveLength(2);
    expect(server.model.reviews[1]?.input.slice(-2)).toMatchObject([
      { role: 'assistant' },
      { role: 'user' },
    ]);
    expect(completed(server)).toMatchObject([{ status: 'completed' }]);
  });

  test.each([
    [{ risk_level: 'critical', user_authorization: 'high' }],
    [{ risk_level: 'high', user_authorization: 'medium' }],
    [{ risk_level: 'medium', user_authorization: 'low' }],
    [{ risk_level: 'medium', user_authorization: 'unknown' }],
  ])('an answer that allows what its own rating denies: %j', async (rating) => {
    const server = await guarded({
      turns: [touches, ends],
      reviews: [assesses({ ...rating, outcome: 'allow', rationale: 'Fine.' })],
    });
    await server.client.turn(THREAD, 'go');
    expect(completed(server)).toMatchObject([{ status: 'declined', exitCode: null }]);
    const { risk_level: riskLevel, user_authorization: userAuthorization } = rating;
    const rationale = expect.stringMatching(
      /^The policy denies an action with this rating.*Fine\.$/,
    );
    expect(reviewsCompleted(server)).toMatchObject([
      { review: { status: 'denied', riskLevel, userAuthorization, rationale } },
    ]);
  });

  test('a model that hangs: the review times out', async () => {
    const server = await guarded({ turns: [touches, ends], reviews: [[new Gate()]] });
    const { turn } = await server.client.request('turn/start', {
      threadId: THREAD,
      input: text('go'),
    });
    await server.clock.timerOf(90_000);
    server.clock.advance(90_000);
    await server.client.turnCompleted(turn.id);
    expect(reviewsCompleted(server)).toMatchObject([{ review: { status: 'timedOut' } }]);
    expect(completed(server)).toMatchObject([
      { status: 'declined', approvalReviews: [{ review: { status: 'timedOut' } }] },
    ]);
  });

  test('an invalid setting: only actions that need a review are denied', async () => {
    const model = new TestModel(touches, ends);
    const server = await startServer({
      config: `${GUARDED_CONFIG}[auto_review]\nmodel = ""\n`,
      model,
    });
    await server.client.request('thread/start', {});
    await server.client.turn(THREAD, 'go');
    const rationale = expect.stringContaining('auto_review.model');
    expect(reviewsCompleted(server)).toMatchObject([{ review: { status: 'denied', rationale } }]);
  });
});

test('an interrupt during a review: it is aborted, and nothing runs', async () => {
  const server = await guarded({ turns: [touches, ends], reviews: [[new Gate()]] });
  const { turn } = await server.client.request('turn/start', {
    threadId: THREAD,
    input: text('go'),
  });
  await server.client.waitFor('item/autoApprovalReview/started');
  await server.client.request('turn/interrupt', { threadId: THREAD, turnId: turn.id });
  await server.client.turnCompleted(turn.id);
  expect(reviewsCompleted(server)).toMatchObject([
    { review: { status: 'aborted', rationale: null } },
  ]);
  expect(completed(server)).toMatchObject([
    { status: 'declined', approvalReviews: [{ review: { status: 'aborted' } }] },
  ]);
});

describe('denials in a row', () => {
  const attempts = (...ids: string[]) => ids.map((id) => response(runsAs(id, `touch ${id}`)));

  test('the third interrupts the turn, with the item declined, and the model is told at the next turn', async () => {
    const server = await guarded({
      turns: [...attempts('a', 'b', 'c'), ends],
      reviews: [assesses(DENY), assesses('?'), assesses('?'), assesses(DENY)],
    });
    const turn = await server.client.turn(THREAD, 'go').catch((error: unknown) => error);
    expect(turn).toMatchObject({ status: 'interrupted' });
    expect(completed(server).map(({ id, status }) => [id, status])).toEqual([
      ['a', 'declined'],
      ['b', 'declined'],
      ['c', 'declined'],
    ]);
    expect(server.client.notifications('guardianWarning').at(-1)?.message).toContain(
      'denied 3 actions in a row',
    );
    await server.client.turn(THREAD, 'next');
    expect(JSON.stringify(server.model.own.at(-1)?.input)).toContain(
      'because the automatic reviewer denied several actions in a row',
    );
  });

  test('an approval between them, or a new turn, begins to count again', async () => {
    const server = await guarded({
      turns: [...attempts('a', 'b', 'c', 'd', 'e'), ends, ...attempts('f', 'g'), ends],
      reviews: [DENY, DENY, ALLOW, DENY, DENY, DENY, DENY].map(assesses),
    });
    const statuses = [
      await server.client.turn(THREAD, 'one'),
      await server.client.turn(THREAD, 'two'),
    ].map(({ status }) => status);
    expect(statuses).toEqual(['completed', 'completed']);
  });

  test('a goal does not begin a turn after it until the user writes', async () => {
    const server = await guarded({ turns: attempts('a', 'b', 'c'), reviews: [assesses(DENY)] });
    const goal = { threadId: THREAD, objective: 'Create a.' };
    await server.client.request('thread/goal/set', goal);
    const { turn } = await server.client.waitFor('turn/completed');
    expect(turn.status).toBe('interrupted');
    await taken(server.client);
    expect(server.client.notifications('turn/started')).toHaveLength(1);
    expect(
      (await server.client.request('thread/goal/get', { threadId: THREAD })).goal?.status,
    ).toBe('active');
  });
});

test('32 reviews begin together, and none waits for another', async () => {
  const ids = Array.from({ length: 32 }, (_, index) => `c${index}`);
  const gate = new Gate();
  const server = await guarded({
    turns: [response(...ids.map((id) => runsAs(id, `touch ${id}`))), ends],
    reviews: [[gate, ...assesses(ALLOW)]],
  });
  const { turn } = await server.client.request('turn/start', {
    threadId: THREAD,
    input: text('go'),
  });
  await server.model.asked(33);
  expect(reviewsCompleted(server)).toEqual([]);
  // No time has passed: the clock of the server stands still until all have begun, and each has its
  // own deadline.
  expect(server.clock.timers.filter((ms) => ms === 90_000)).toHaveLength(32);
  gate.open();
  await server.client.turnCompleted(turn.id);
  expect(completed(server).map(({ status }) => status)).toEqual(ids.map(() => 'completed'));
});

test('the guardian has a model, an effort, a deadline and a policy of its own', async () => {
  const server = await guarded(
    { turns: [touches, ends], reviews: [[new Gate()]] },
    {
      config: `${GUARDED_CONFIG}[auto_review]\nmodel = "guard"\nmodel_reasoning_effort = "low"\npolicy = "Never touch b."\ntimeout_ms = 5000\n`,
    },
  );
  const { turn } = await server.client.request('turn/start', {
    threadId: THREAD,
    input: text('go'),
  });
  await server.clock.timerOf(5_000);
  server.clock.advance(5_000);
  await server.client.turnCompleted(turn.id);
  expect(server.model.reviews[0]).toMatchObject({
    model: 'guard',
    effort: 'low',
    instructions: expect.stringMatching(/Never touch b\.$/),
  });
});

test('a server that is killed during a review: the item has failed, and its review was aborted', async () => {
  const server = await guarded({ turns: [touches, ends], reviews: [[new Gate()]] });
  await server.client.request('turn/start', { threadId: THREAD, input: text('go') });
  await server.client.waitFor('item/autoApprovalReview/started');
  const { thread: live } = await server.client.request('thread/read', {
    threadId: THREAD,
    includeTurns: true,
  });
  expect(keptReviews(live.turns[0]?.items.find(({ id }) => id === 'call_1'))).toMatchObject([
    { review: { status: 'inProgress' } },
  ]);
  const next = await afterDeathOf(server);
  const { thread } = await next.client.request('thread/read', {
    threadId: THREAD,
    includeTurns: true,
  });
  const [item] = thread.turns[0]?.items.filter(({ id }) => id === 'call_1') ?? [];
  expect(item).toMatchObject({
    status: 'failed',
    approvalReviews: [{ review: { status: 'aborted' } }],
  });
});

test('a client that grants permissions can demand reviews of everything in the turn, whoever the reviewer is', async () => {
  const asks = response(
    functionCall('request_permissions', { permissions: { network: { enabled: true } } }),
  );
  const server = await guarded(
    {
      turns: [
        asks,
        response(runsAs('c1', 'ls')),
        response(runsAs('c2', 'true')),
        response(
          functionCall(
            'apply_patch',
            { input: '*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch\n' },
            { callId: 'c3' },
          ),
        ),
        ends,
        response(runsAs('c4', 'ls')),
        ends,
      ],
      reviews: [assesses(ALLOW), assesses(DENY), assesses(ALLOW)],
    },
    {
      config: `${GUARDED_CONFIG.replace('"auto_review"', '"user"').replace('"untrusted"', '"on-request"')}[features]\nrequest_permissions_tool = true\n`,
    },
  );
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
  await server.client.turnCompleted(turn.id);
  expect(server.client.notifications('autoApprovalReview/strictReviewRequired')).toEqual([
    { threadId: THREAD, turnId: turn.id, startedAtMs: server.clock.now() },
  ]);
  expect(
    reviewsCompleted(server).map(({ targetItemId, review }) => [targetItemId, review.status]),
  ).toEqual([
    ['c1', 'approved'],
    ['c2', 'denied'],
    ['c3', 'approved'],
  ]);
  await server.client.turn(THREAD, 'next');
  expect(reviewsCompleted(server)).toHaveLength(3);
});
