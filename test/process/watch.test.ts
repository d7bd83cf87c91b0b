import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { linkOf } from '../support/proc-files.ts';
import { place, startHeddle } from './support.ts';

/** How many places the kernel watches for a process. */
function watchedPlaces(pid: number): number {
  const descriptors = readdirSync(`/proc/${pid}/fd`).filter(
    (fd) => linkOf(`/proc/${pid}/fd/${fd}`) === 'anon_inode:inotify',
  );
  const lines = descriptors.flatMap((fd) =>
    readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8').split('\n'),
  );
  return lines.filter((line) => line.startsWith('inotify wd:')).length;
}

test.runIf(process.platform === 'linux')(
  'a watch takes nothing once it is ended, and does not keep the server from its end',
  async () => {
    const where = place();
    const heddle = await startHeddle(where);
    const before = watchedPlaces(heddle.pid);
    const path = join(where.work, 'a');
    await heddle.request('fs/watch', { watchId: 'w', path });
    await heddle.request('fs/watch', { watchId: 'folder', path: where.temp });
    writeFileSync(path, '');
    expect(await heddle.waitFor('fs/changed')).toEqual({ watchId: 'w', changedPaths: [path] });
    expect(watchedPlaces(heddle.pid)).toBeGreaterThan(before);
    await heddle.request('fs/unwatch', { watchId: 'w' });
    await heddle.request('fs/unwatch', { watchId: 'folder' });
    expect(watchedPlaces(heddle.pid)).toBe(before);
    await heddle.request('fs/watch', { watchId: 'w', path });
    await heddle.finish();
  },
);
