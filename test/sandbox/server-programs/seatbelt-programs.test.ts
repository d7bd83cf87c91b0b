import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { createSeatbelt } from '../../../src/sandbox/macos/create-seatbelt.ts';
import { ServerPrograms } from '../../../src/sandbox/server-programs/server-programs.ts';
import { ConfinedWorld } from '../confined-world.ts';

test('on macOS, the profile denies writing what programs outside the sandbox run, whether it exists or not, and the links to it', async () => {
  const world = new ConfinedWorld();
  onTestFinished(() => world.close());
  const { workspace } = world;
  world.file('work/lib/one.sh');
  symlinkSync('lib/one.sh', join(workspace, 'one.sh'));
  const env = { HOME: workspace, PATH: '/usr/bin:/bin' };
  const serverPrograms = new ServerPrograms({ clock: systemClock, env });
  const argv = ['/bin/sh', '-c', 'sh one.sh; sh absent/two.sh; sh free/three.sh'];
  serverPrograms.listBy(() => [{ of: 'a hook', argv, cwd: workspace, env, kind: 'configured' }]);
  const installation = {
    manifest: join(world.base, 'app/package.json'),
    executable: process.execPath,
  };
  const sandbox = createSeatbelt({
    installation,
    serverPrograms,
    program: '/usr/bin/sandbox-exec',
  });
  const bounds = world.bounds({ unprotected: [join(workspace, 'free')] });
  const { argv: made } = await sandbox.confine(
    { argv: ['true'], cwd: workspace, env: {}, terminal: false },
    bounds,
  );
  const denied =
    made[2]?.split('\n').findLast((rule) => rule.startsWith('(deny file-write* (subpath')) ?? '';
  const isDenied = (path: string) => denied.includes(`(subpath "${join(workspace, path)}")`);
  const paths = [
    'one.sh',
    'lib/one.sh',
    'absent/two.sh',
    '.profile',
    '.zshenv',
    '.bash_profile',
    'free/three.sh',
    'other',
  ];
  expect(paths.filter(isDenied)).toEqual(paths.slice(0, 6));
  const protectedAs = await sandbox.protects(bounds);
  expect(protectedAs(join(workspace, 'lib/one.sh'))).toBe(
    'is protected by the sandbox: a hook runs it outside the sandbox',
  );
  expect(protectedAs(join(workspace, 'free/three.sh'))).toBeNull();
});
