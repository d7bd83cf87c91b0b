import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startServer } from '../../support/test-server.ts';
import { completed, THREAD } from '../../tools/command-server.ts';
import { GUARDED_CONFIG, reviewsCompleted } from './guardian-server.ts';

const own = GUARDED_CONFIG.replace(
  /model = "test-model"\nmodel_provider = "test"/,
  'model_provider = "scripted"',
);

test('the embedded model guards: it lets a harmless command pass, and denies a risky one', async () => {
  const server = await startServer({ model: null, config: own });
  await server.client.request('thread/start', {});
  await server.client.turn(
    THREAD,
    'call exec_command {"cmd":"touch a","login":false}\ncall exec_command {"cmd":"rm -rf b","login":false}',
  );
  const reviews = reviewsCompleted(server).map(({ review }) => [review.status, review.riskLevel]);
  expect(reviews.sort()).toEqual([
    ['approved', 'low'],
    ['denied', 'high'],
  ]);
  expect(
    completed(server)
      .map(({ status }) => status)
      .sort(),
  ).toEqual(['completed', 'declined']);
});

test('another provider than that of the thread guards: here a script', async () => {
  const script = `responses:
  - match: { prompt: You are the safety reviewer, model: guard }
    reply: { message: '{"outcome":"deny","rationale":"by the script"}' }
`;
  const config = `${own}
[model_providers.guard]
name = "Guard"
wire_api = "scripted"
script = "guard.yaml"
[auto_review]
model_provider = "guard"
model = "guard"
`;
  const server = await startServer({
    model: null,
    config,
    files: { [join('home', 'guard.yaml')]: script },
  });
  await server.client.request('thread/start', {});
  await server.client.turn(THREAD, 'call exec_command {"cmd":"touch a","login":false}');
  expect(reviewsCompleted(server)).toMatchObject([
    { review: { status: 'denied', rationale: 'by the script' } },
  ]);
});

test('a provider that is not defined: only actions that need a review are denied, and the rationale names it', async () => {
  const server = await startServer({
    model: null,
    config: `${own}[auto_review]\nmodel_provider = "nowhere"\n`,
  });
  await server.client.request('thread/start', {});
  await server.client.turn(THREAD, 'call exec_command {"cmd":"touch a","login":false}');
  expect(reviewsCompleted(server)).toMatchObject([
    { review: { status: 'denied', rationale: expect.stringContaining('nowhere') } },
  ]);
});
