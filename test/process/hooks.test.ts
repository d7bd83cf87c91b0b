// @module-tag slow
import { describe, expect, test } from 'vitest';
import { place, startHeddle } from './support.ts';

/** The process exits by itself before its last resort, a timer of five seconds. */
const CLOSED_MS_MAX = 4_500;

const hooks = (event: string, command: string, timeout: number) =>
  JSON.stringify({ hooks: { [event]: [{ hooks: [{ type: 'command', command, timeout }] }] } });

describe('a hook that hangs does not take the clean end of the server with it:', () => {
  test.each(['SIGTERM', 'end of input'])('SessionEnd, %s', async (how) => {
    const heddle = await startHeddle(place({ 'hooks.json': hooks('SessionEnd', 'sleep 100', 30) }));
    const { thread } = await heddle.request('thread/start', {});
    await heddle.turn(thread.id, 'say hi');
    const beganMs = performance.now();
    if (how === 'SIGTERM') heddle.signal('SIGTERM');
    else heddle.stdin.end();
    await heddle.exit;
    expect(performance.now() - beganMs).toBeLessThan(CLOSED_MS_MAX);
    // Nothing is sent to a client that has left.
    const ends = how === 'SIGTERM' ? [{ run: { eventName: 'sessionEnd', status: 'failed' } }] : [];
    expect(heddle.notifications('hook/completed')).toMatchObject(ends);
  });

  test('Interrupt: the end of its turn is stored', async () => {
    const where = place({ 'hooks.json': hooks('Interrupt', 'sleep 100', 60) });
    const heddle = await startHeddle(where);
    const { thread } = await heddle.request('thread/start', {});
    await heddle.request('thread/shellCommand', { threadId: thread.id, command: 'sleep 100' });
    const { turn } = await heddle.waitFor('turn/started');
    await heddle.request('turn/interrupt', { threadId: thread.id, turnId: turn.id });
    await heddle.waitFor('hook/started');
    const beganMs = performance.now();
    heddle.stdin.end();
    await heddle.exit;
    expect(performance.now() - beganMs).toBeLessThan(CLOSED_MS_MAX);
    const next = await startHeddle(where);
    const read = await next.request('thread/read', { threadId: thread.id, includeTurns: true });
    expect(read.thread.turns).toMatchObject([
      { id: turn.id, status: 'interrupted', durationMs: expect.any(Number) },
    ]);
  });
});
