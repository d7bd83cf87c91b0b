import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { ThreadItem } from '../../src/protocol/generated/types.ts';
import { place, startHeddle } from './support.ts';

const SCRIPT = JSON.stringify({
  responses: [[{ call: 'exec_command', arguments: { cmd: 'touch made' } }], [{ message: 'after' }]],
});

/** A provider that takes requests and never answers. */
async function silentProvider(): Promise<{ port: number; asked: Promise<void> }> {
  let server: Server | null = null;
  const asked = new Promise<void>((resolve) => {
    server = createServer(() => resolve());
  });
  const listening = server as unknown as Server;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    listening.closeAllConnections();
    listening.close();
  });
  return { port: (listening.address() as AddressInfo).port, asked };
}

test('a review that kill -9 cuts off is read and resumed as aborted, its command was not run, and the thread goes on', async () => {
  const { port, asked } = await silentProvider();
  const config = `model_provider = "scripted"
approvals_reviewer = "auto_review"
approval_policy = "untrusted"
sandbox_mode = "danger-full-access"
[auto_review]
model = "guard"
model_provider = "silent"
[model_providers.silent]
base_url = "http://127.0.0.1:${port}/v1"
`;
  const where = place({ 'config.toml': config, 'script.json': SCRIPT });
  const heddle = await startHeddle(where, {
    args: ['app-server', '-c', `model_providers.scripted.script="${where.home}/script.json"`],
  });
  const { thread } = await heddle.request('thread/start', {});
  const { turn } = await heddle.request('turn/start', {
    threadId: thread.id,
    input: [{ type: 'text', text: 'go', text_elements: [] }],
  });
  const { reviewId, targetItemId } = await heddle.waitFor('item/autoApprovalReview/started');
  await asked;
  await heddle.kill();

  const next = await startHeddle(where);
  const read = await next.request('thread/read', { threadId: thread.id, includeTurns: true });
  const resumed = await next.request('thread/resume', { threadId: thread.id });
  expect(resumed.thread.turns).toEqual(read.thread.turns);
  expect(resumed.thread.turns).toMatchObject([{ id: turn.id, status: 'interrupted' }]);
  const item = resumed.thread.turns[0]?.items.find(({ id }: ThreadItem) => id === targetItemId);
  expect(item).toMatchObject({
    status: 'failed',
    approvalReviews: [{ reviewId, completedAtMs: null, review: { status: 'aborted' } }],
  });
  expect(await next.request('thread/guardianReview', { threadId: thread.id })).toEqual({
    callId: targetItemId,
    assessment: null,
  });
  const event = { reviewId, turnId: turn.id, targetItemId };
  expect(
    await next.refusal('thread/approveGuardianDeniedAction', { threadId: thread.id, event }),
  ).toMatchObject({
    data: { code: 'review_not_denied', status: 'aborted' },
  });
  expect(await next.turn(thread.id, 'say hello')).toMatchObject({
    status: 'completed',
    error: null,
  });
});
