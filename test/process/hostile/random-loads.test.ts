// @module-tag slow
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { busyServer } from './busy-server.ts';
import { MEASURED_TIMES_MAX } from './hostile-server.ts';
import { Random } from './random.ts';
import { randomLoads } from './random-loads.ts';
import { WORKED_MS_MAX } from './run-workspace.ts';

/**
 * The number of loads, and the seed of their order and sizes: `HEDDLE_LOADS=200
 * HEDDLE_LOADS_SEED=17` runs others. By default one of each kind.
 */
const COUNT = Number(process.env.HEDDLE_LOADS ?? 21);
const SEED = Number(process.env.HEDDLE_LOADS_SEED ?? 1);

test('large requests and events of all kinds, in random order and sizes: none makes another request wait', {
  timeout: 300_000,
}, async () => {
  const { server, ...busy } = await busyServer();
  const config = join(busy.home, 'config.toml');
  const before = readFileSync(config);
  const loads = randomLoads(new Random(SEED));
  const slow: string[] = [];
  let folders = 0;
  for (let count = 0; count < COUNT; count++) {
    const { name, load, workedMsMax = WORKED_MS_MAX } = loads.next().value;
    const workedMs: number[] = [];
    while (workedMs.length < MEASURED_TIMES_MAX && !workedMs.some((ms) => ms <= workedMsMax)) {
      const folder = join(busy.home, '..', 'work', `${folders++}`);
      mkdirSync(folder);
      const run = await load(busy, folder);
      await server.load();
      await run();
      workedMs.push((await server.load()).workedMs);
      server.heddle.messages.length = 0;
      server.heddle.lines.length = 0;
      writeFileSync(config, before);
      for (const path of [join(busy.home, 'hooks.json'), folder])
        rmSync(path, { recursive: true, force: true });
    }
    if (!workedMs.some((ms) => ms <= workedMsMax))
      slow.push(`${name}: ${workedMs.map(Math.round).join(', ')} ms`);
  }
  expect(slow.join('\n'), `with the seed ${SEED}`).toBe('');
});
