// @module-tag slow
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { startServer } from '../support/test-server.ts';

/** The error code with which the system refuses to watch a folder; null if it does not. */
const system = vi.hoisted(() => ({ refuses: null as string | null }));

vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>();
  const watch = (...args: Parameters<typeof real.watch>) => {
    if (system.refuses !== null)
      throw Object.assign(new Error(`${system.refuses}: refused`), {
        code: system.refuses,
        errno: -28,
      });
    return real.watch(...args);
  };
  return { ...real, watch };
});

test.each(['ENOSPC', 'EMFILE'])(
  'if the system has no more watches (%s), fs/watch fails with the reason, and the id stays free',
  async (code) => {
    const { client, clock, cwd } = await startServer();
    const path = join(cwd, 'a');
    system.refuses = code;
    expect(await client.refusal('fs/watch', { watchId: 'w', path })).toEqual({
      code: -32603,
      message:
        `${path} cannot be watched: the system's limit of watches is reached (on Linux fs.inotify.max_user_watches and max_user_instances), ` +
        'or this process has too many open files (ulimit -n)',
      data: { code: 'watch_limit_reached', path },
    });
    system.refuses = null;
    await client.request('fs/watch', { watchId: 'w', path });
    writeFileSync(path, '');
    await clock.timerOf(100);
    clock.advance(100);
    expect(await client.waitFor('fs/changed')).toEqual({ watchId: 'w', changedPaths: [path] });
  },
);

test('a file that can no longer be followed is reported as changed, and logged', async () => {
  const { client, clock, cwd, log } = await startServer();
  const path = join(cwd, 'a');
  await client.request('fs/watch', { watchId: 'w', path });
  system.refuses = 'ENOSPC';
  writeFileSync(path, '');
  await clock.timerOf(100);
  clock.advance(100);
  expect(await client.waitFor('fs/changed')).toEqual({ watchId: 'w', changedPaths: [path] });
  expect(log.warnings()).toEqual(['a watched path can no longer be followed']);
  system.refuses = null;
});
