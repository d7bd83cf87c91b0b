import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { arch, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import type { SandboxBounds } from '../../src/policy/permissions/sandbox-bounds.ts';
import { createBubblewrap } from '../../src/sandbox/linux/create-bubblewrap.ts';
import { createProcesses } from '../../src/sandbox/processes/create-processes.ts';
import type { Processes } from '../../src/sandbox/processes/processes.ts';
import { RecordingLog } from '../support/recording-log.ts';

// Measures the start and the end of `true` in the sandbox: without a managed network, with one and
// a namespace ready, with one and none ready. The three are measured in turn, so that other work of
// the machine affects all of them.

const ROUNDS = Number(process.argv[2] ?? 40);
/** The time to prepare a namespace, and more. */
const SETTLE_MS = 300;

const base = mkdtempSync(join(realpathSync(tmpdir()), 'heddle-bench-'));
const [home, workspace] = [join(base, 'home'), join(base, 'work')];
for (const folder of [home, workspace]) mkdirSync(folder);

const BOUNDS: SandboxBounds = {
  ...{
    readable: 'everything',
    writableRoots: [workspace],
    network: false,
    unixSockets: false,
    unprotected: [],
  },
  ...{ workspace: [workspace], home },
};

/** Processes whose sandbox has started one command, without a managed network. */
async function newProcesses(): Promise<Processes> {
  const installation = { manifest: join(base, 'package.json'), executable: process.execPath };
  const sandbox = createBubblewrap({
    arch: arch(),
    home,
    storeDir: home,
    clock: systemClock,
    installation,
    userHome: null,
  });
  const sendSignal = (pid: number, signal: NodeJS.Signals) => process.kill(pid, signal);
  const processes = createProcesses({
    sandbox,
    platform: process.platform,
    env: {},
    sendSignal,
    log: new RecordingLog(),
  });
  await runMs(processes, false);
  return processes;
}

async function runMs(processes: Processes, managedNetwork: boolean): Promise<number> {
  const spec = {
    argv: ['/bin/true'],
    cwd: workspace,
    env: {},
    owner: ['bench'],
    input: false,
    terminal: null,
    serve: () => {},
  };
  const startedAt = performance.now();
  const running = await processes.start(
    { ...spec, bounds: { ...BOUNDS, managedNetwork } },
    () => {},
  );
  await running.ended;
  return performance.now() - startedAt;
}

const rows: Record<string, number[]> = {
  'not managed': [],
  'managed, a namespace is ready': [],
  'managed, none is ready': [],
};
const lasting = await newProcesses();
await lasting.prepare({ ...BOUNDS, managedNetwork: true });
await sleep(SETTLE_MS);
for (let round = 0; round < ROUNDS; round++) {
  rows['not managed']?.push(await runMs(lasting, false));
  rows['managed, a namespace is ready']?.push(await runMs(lasting, true));
  const fresh = await newProcesses();
  rows['managed, none is ready']?.push(await runMs(fresh, true));
  await sleep(SETTLE_MS);
  await fresh.close();
}
for (const [name, values] of Object.entries(rows)) {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (part: number) => (sorted[Math.floor((sorted.length - 1) * part)] ?? 0).toFixed(1);
  process.stdout.write(
    `${name.padEnd(30)} median ${at(0.5)} ms, quartiles ${at(0.25)}–${at(0.75)} ms, lowest ${at(0)} ms\n`,
  );
}
await lasting.close();
rmSync(base, { recursive: true });
