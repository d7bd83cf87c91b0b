import { arch } from 'node:os';
import { systemClock } from '../../src/base/clock.ts';
import type { SandboxBounds } from '../../src/policy/permissions/sandbox-bounds.ts';
import { createBubblewrap } from '../../src/sandbox/linux/create-bubblewrap.ts';
import { createProcesses } from '../../src/sandbox/processes/create-processes.ts';
import { RecordingLog } from '../support/recording-log.ts';

/**
 * A server with one command whose network is managed. Its arguments are `workspace home script`.
 * Without a script, it only prepares for commands. It runs until it is killed.
 */
const [workspace = '', home = '', script] = process.argv.slice(2);
const sandbox = createBubblewrap({
  arch: arch(),
  home,
  storeDir: home,
  clock: systemClock,
  installation: { manifest: '/nonexistent/package.json', executable: process.execPath },
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
const bounds: SandboxBounds = {
  readable: 'everything',
  writableRoots: [workspace],
  network: false,
  managedNetwork: true,
  unixSockets: false,
  unprotected: [],
  workspace: [],
  home,
};
process.stdin.resume();
if (script === undefined) {
  await processes.prepare(bounds);
} else {
  const spec = {
    ...{
      argv: ['bash', '-c', script],
      cwd: workspace,
      env: { PATH: '/usr/bin:/bin' },
      owner: ['test'],
      input: false,
      terminal: null,
    },
    ...{ bounds, serve: () => {} },
  };
  await processes.start(spec, (_stream, bytes) => process.stdout.write(bytes));
}
