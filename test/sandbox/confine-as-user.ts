import { spawnSync } from 'node:child_process';
import { arch } from 'node:os';
import { systemClock } from '../../src/base/clock.ts';
import { hiddenFiles } from '../../src/policy/permissions/hidden-files.ts';
import { createBubblewrap } from '../../src/sandbox/linux/create-bubblewrap.ts';

/**
 * Runs a script in the sandbox as the current user. Its arguments are `workspace home script
 * pattern`. Without a pattern, no file is hidden.
 */
const [workspace = '', home = '', script = '', pattern] = process.argv.slice(2);
const sandbox = createBubblewrap({
  arch: arch(),
  home,
  storeDir: home,
  clock: systemClock,
  installation: { manifest: '/nonexistent/package.json', executable: process.execPath },
  userHome: null,
});
const what = {
  argv: ['bash', '-c', script],
  cwd: workspace,
  env: { PATH: '/usr/bin:/bin' },
  terminal: false,
};
const { argv, env, files, release } = await sandbox.confine(what, {
  readable: 'everything',
  writableRoots: [workspace],
  network: false,
  unixSockets: false,
  unprotected: [],
  workspace: [],
  home,
  ...(pattern === undefined
    ? {}
    : { hidden: hiddenFiles([{ path: pattern, depthMax: null }], [workspace]) }),
});
const [program = '', ...args] = argv;
const { status } = spawnSync(program, args, {
  cwd: workspace,
  env: { ...env },
  stdio: ['ignore', 'inherit', 'inherit', ...files],
});
await release();
process.exitCode = status ?? 1;
