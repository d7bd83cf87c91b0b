// @module-tag slow
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LOADS } from './busy-loads.ts';
import { busyServer } from './busy-server.ts';
import { MEASURED_TIMES_MAX } from './hostile-server.ts';
import { WORKED_MS_MAX } from './run-workspace.ts';

/**
 * Loads that are known to take longer than `WORKED_MS_MAX`: docs/performance/waiting.md names them.
 */
const SLOWER_MS_MAX: Record<string, number> = {
  '20 MB of arguments with escapes': 40,
};

test.each(Object.keys(LOADS))(
  '%s: the main loop of the server is not blocked',
  { timeout: 300_000 },
  async (name) => {
    const workedMsMax = SLOWER_MS_MAX[name] ?? WORKED_MS_MAX;
    const busy = await busyServer();
    const workedMs: number[] = [];
    for (
      let times = 1;
      times <= MEASURED_TIMES_MAX && Math.min(...workedMs) > workedMsMax;
      times++
    ) {
      const folder = join(busy.home, '..', 'work', `${times}`);
      mkdirSync(folder);
      const run = await LOADS[name]?.(busy, folder);
      await busy.server.load();
      await run?.();
      workedMs.push((await busy.server.load()).workedMs);
      busy.server.heddle.messages.length = 0;
      busy.server.heddle.lines.length = 0;
    }
    expect(
      Math.min(...workedMs),
      `worked without a pause, in milliseconds: ${workedMs.map(Math.round)}`,
    ).toBeLessThan(workedMsMax);
  },
);
