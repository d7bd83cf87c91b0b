// @module-tag slow
import { expect, test } from 'vitest';
import { HostileServer } from '../hostile/hostile-server.ts';
import { WORKED_MS_MAX } from '../hostile/run-workspace.ts';

const THREADS = 10_000;
const AT_ONCE = 500;
/**
 * Linear work takes a fraction of it. If each thread looked at all others, it would be several
 * times as much.
 */
const CLOSE_MS_MAX = 5_000;

/** Starts threads, which one connection then follows. */
async function startThreads({ heddle }: HostileServer): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < THREADS) {
    const started = await Promise.all(
      Array.from({ length: AT_ONCE }, () => heddle.request('thread/start', {})),
    );
    ids.push(...started.map(({ thread }) => thread.id));
    heddle.messages.length = 0;
    heddle.lines.length = 0;
  }
  return ids;
}

test('10,000 loaded threads are listed, left and closed in linear time, and nothing blocks the main loop', {
  timeout: 300_000,
}, async () => {
  const server = await HostileServer.start();
  const { heddle } = server;
  const ids = await startThreads(server);
  await server.unblocked(WORKED_MS_MAX, async () =>
    expect((await heddle.request('thread/loaded/list', {})).data).toEqual(ids.toSorted()),
  );
  const loaded = [...ids];
  while (loaded.length > 0) {
    await server.unblocked(WORKED_MS_MAX, () =>
      Promise.all(
        loaded
          .splice(0, AT_ONCE)
          .map((threadId) => heddle.request('thread/unsubscribe', { threadId })),
      ),
    );
  }
  const closedAtMs = performance.now();
  expect(await heddle.finish()).toEqual({ code: 0, signal: null });
  expect(performance.now() - closedAtMs).toBeLessThan(CLOSE_MS_MAX);
});
