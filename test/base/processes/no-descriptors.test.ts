import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { sourceUrl } from '../../support/source-url.ts';

/** Starts a program in each way while no file descriptor is left, and prints how each ended. */
const SCRIPT = `
import { openSync, closeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { Pipes } from ${sourceUrl('sandbox/processes/pipes.ts')};
import { spawnProgram } from ${sourceUrl('base/processes/spawn-program.ts')};
import { spawnChild } from ${sourceUrl('sandbox/processes/spawn-child.ts')};
import { Watchdog } from ${sourceUrl('sandbox/processes/watchdog.ts')};
import { LocalListeners } from ${sourceUrl('sandbox/local-listeners.ts')};
const clock = { setTimer: () => ({ clear() {} }) };
const options = { argv: ['/bin/true'], cwd: '/', env: {}, stdio: ['pipe', 'pipe', 'pipe'], hidden: new Set() };
const ways = {
  program: async () => spawnProgram('/bin/true', [], { stdio: 'pipe' }),
  command: () => spawnChild(options),
  pipes: () => new Pipes('linux').take(['reads']),
  watchdog: () => new Watchdog({ prefix: 'x', lockLimitPrefix: 1 }, '/bin').watch(new Set()),
  listener: () => new LocalListeners(clock).receive(['/bin/true'], 1),
};
const ends = {};
for (const spare of [0, 1, 2, 3, 4, 5, 6]) {
  for (const [name, start] of Object.entries(ways)) {
    const open = [];
    try { for (;;) open.push(openSync('/dev/null')); } catch {}
    for (const file of open.splice(0, spare)) closeSync(file);
    let end = 'started';
    try { await start(); } catch (error) { end = error.constructor.name; }
    for (const file of open) closeSync(file);
    await setImmediate();
    if (spare === 0) ends[name] = end;
  }
}
console.log(JSON.stringify(ends));
process.exit();
`;

test.runIf(process.platform === 'linux')(
  'without file descriptors, no way of starting a program ends this process',
  () => {
    const args = [
      '-c',
      'ulimit -n 80; exec "$@"',
      'sh',
      process.execPath,
      '--import',
      'tsx',
      '--input-type=module',
      '-e',
      SCRIPT,
    ];
    const { status, stdout, stderr } = spawnSync('/bin/sh', args, {
      encoding: 'utf8',
      timeout: 15_000,
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      program: 'Error',
      command: 'ProcessStartError',
      pipes: 'started',
      watchdog: 'started',
      listener: 'Error',
    });
  },
);
