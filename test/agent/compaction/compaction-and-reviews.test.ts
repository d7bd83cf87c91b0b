import { expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { Gate } from '../../support/gate.ts';
import { failed, functionCall, message, response } from '../../support/test-model.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';
import { afterDeathOf } from '../after-death-of.ts';

const threadId = idOf(1);
const completed = { status: 'completed', error: null };

/** A server with a thread of a turn that asked the model twice. */
async function oneTurn(): Promise<TestServer> {
  const server = await startServer();
  server.model.push(
    response(functionCall('exec_command', { cmd: 'true', login: false })),
    response(message('first')),
  );
  await server.client.request('thread/start', {
    sandbox: 'danger-full-access',
    approvalPolicy: 'never',
  });
  await server.client.turn(threadId, 'one');
  return server;
}

async function review({ client }: TestServer) {
  const { turn } = await client.request('review/start', {
    threadId,
    target: { type: 'uncommittedChanges' },
  });
  return client.turnCompleted(turn.id);
}

test.each([false, true])(
  'a review that is too long for the model fails, and its thread is not compacted (restart: %s)',
  async (restarts) => {
    let server = await oneTurn();
    server.model.push([failed('too long', 'contextWindowExceeded')]);
    expect(await review(server)).toMatchObject({
      status: 'failed',
      error: { codexErrorInfo: 'contextWindowExceeded' },
    });
    expect(server.model.requests).toHaveLength(3);
    if (restarts) {
      server = await server.restart();
      await server.client.request('thread/resume', { threadId });
    }
    server.model.push(response(message('second')));
    expect(await server.client.turn(threadId, 'two')).toMatchObject(completed);
    expect(server.model.requests).toHaveLength(4);
    expect(JSON.stringify(server.model.request(4).input)).toContain('"first"');
  },
);

test('the report of a review is summarized, and does not come back as a message of the user', async () => {
  const server = await oneTurn();
  server.model.push(
    response(message('REPORT')),
    response(message('SUMMARY')),
    response(message('second')),
  );
  await review(server);
  const ends = server.client.notifications('turn/completed').length;
  const end = server.client.next(
    'the end of the compaction',
    () => server.client.notifications('turn/completed').length > ends,
  );
  await server.client.request('thread/compact/start', { threadId });
  await end;
  expect(JSON.stringify(server.model.request(4).input)).toContain('REPORT');
  await server.client.turn(threadId, 'two');
  const input = JSON.stringify(server.model.request(5).input);
  expect(input).toContain('SUMMARY');
  expect(input).not.toContain('REPORT');
});

test('a review that was killed is told as such: the turn before it ended well', async () => {
  const server = await oneTurn();
  server.model.push([new Gate()]);
  await server.client.request('review/start', { threadId, target: { type: 'uncommittedChanges' } });
  await server.model.asked(3);
  const next = await afterDeathOf(server);
  await next.client.request('thread/resume', { threadId });
  next.model.push(response(message('second')));
  await next.client.turn(threadId, 'two');
  const input = JSON.stringify(next.model.request(1).input);
  expect(input).toContain(
    '<review>\\nThe user started a review. It has no result, because the server ended without closing the thread.',
  );
  expect(input).not.toContain('<turn_interrupted>');
});

test('a review that fails leaves the goal of the thread as it is', async () => {
  const server = await oneTurn();
  const gate = new Gate();
  server.model.push(
    [gate, failed('no review')],
    response(functionCall('update_goal', { status: 'complete' })),
    response(message('done')),
  );
  const { turn } = await server.client.request('review/start', {
    threadId,
    target: { type: 'uncommittedChanges' },
  });
  await server.client.request('thread/goal/set', { threadId, objective: 'all green' });
  gate.open();
  expect(await server.client.turnCompleted(turn.id)).toMatchObject({ status: 'failed' });
  await server.client.waitFor('thread/goal/updated', ({ goal }) => goal.status === 'complete');
  expect(
    server.client.notifications('thread/goal/updated').map(({ goal }) => goal.status),
  ).not.toContain('blocked');
});
