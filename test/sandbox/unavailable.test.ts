import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSandbox } from '../../src/sandbox/create-sandbox.ts';
import { createBubblewrap } from '../../src/sandbox/linux/create-bubblewrap.ts';
import { seccompFilter } from '../../src/sandbox/linux/seccomp-filter.ts';
import { SandboxUnavailableError } from '../../src/sandbox/processes/processes.ts';
import { ConfinedWorld } from './confined-world.ts';
import { systemProcesses } from './processes.ts';

let world: ConfinedWorld;

beforeEach(() => {
  world = new ConfinedWorld();
});

afterEach(() => world.close());

/** Creates a bubblewrap that prints this instead of starting. */
function broken(says: string): string {
  const path = join(world.base, 'bwrap');
  writeFileSync(path, `#!/bin/sh\necho 'bwrap: ${says}' >&2\nexit 1\n`);
  chmodSync(path, 0o755);
  return path;
}

async function problemOf(program: string | null): Promise<string> {
  const sandbox = createBubblewrap({ ...world.sandboxDeps(), program });
  const available = await sandbox.available();
  const spec = {
    argv: ['touch', 'file'],
    cwd: world.workspace,
    env: {},
    bounds: world.bounds(),
    owner: [],
    input: false,
    terminal: null,
  };
  const refusal = systemProcesses({ sandbox }).start(spec, () => {});
  await expect(refusal).rejects.toThrow(SandboxUnavailableError);
  await expect(refusal).rejects.toThrow('problem' in available ? available.problem : 'it works');
  return 'problem' in available ? available.problem : 'it works';
}

test.each([
  ['missing', null, /^Commands cannot be sandboxed: bubblewrap is missing\. Run: .*bubblewrap/],
  [
    'too old',
    'Unknown option --disable-userns',
    /too old \(bwrap: Unknown option --disable-userns\)\. Version 0\.8 or later is needed\. Run: /,
  ],
  [
    'forbidden user namespaces',
    'setting up uid map: Permission denied',
    /user namespace \(bwrap: setting up uid map: Permission denied\)\. (Run: sudo sysctl|Start the container with)/,
  ],
  [
    'broken otherwise',
    'loading shared libraries',
    /bubblewrap does not start \(bwrap: loading shared libraries\)/,
  ],
])(
  'a command with bounds is refused if bubblewrap is %s, and the refusal says what to do',
  async (_case, says, told) => {
    expect(await problemOf(says === null ? null : broken(says))).toMatch(told);
  },
);

test('the check is repeated after a failure, and not after a success', async () => {
  const path = broken('loading shared libraries');
  const sandbox = createBubblewrap({ ...world.sandboxDeps(), program: path });
  expect(await sandbox.available()).toHaveProperty('problem');
  writeFileSync(path, '#!/bin/sh\nexec bwrap "$@"\n');
  expect(await sandbox.available()).toEqual({ name: 'bubblewrap' });
  broken('loading shared libraries');
  expect(await sandbox.available()).toEqual({ name: 'bubblewrap' });
});

test('an unknown processor has no sandbox', async () => {
  expect(seccompFilter({ arch: 'mips', unixSockets: false })).toBe(null);
  const sandbox = createBubblewrap({ ...world.sandboxDeps(), arch: 'mips' });
  await expect(
    sandbox.confine({ argv: ['true'], cwd: '/', env: {}, terminal: false }, world.bounds()),
  ).rejects.toThrow('mips');
});

test('a system without a sandbox says so, and runs nothing', async () => {
  const sandbox = createSandbox({ ...world.sandboxDeps(), platform: 'win32' });
  expect(await sandbox.available()).toEqual({
    problem: 'Commands cannot be sandboxed on this system (win32).',
  });
  await expect(
    sandbox.confine({ argv: ['x'], cwd: '/', env: {}, terminal: false }, world.bounds()),
  ).rejects.toThrow(SandboxUnavailableError);
});

test('a home in which no file can be created is reported', async () => {
  const home = world.file('not-a-folder');
  const sandbox = createBubblewrap({ ...world.sandboxDeps(), home, storeDir: home });
  await expect(sandbox.available()).rejects.toThrow(
    `a file that the sandbox needs cannot be created in ${home}`,
  );
});

test('the filter is not longer than the kernel allows, for each processor', () => {
  for (const processor of ['x64', 'arm64']) {
    for (const unixSockets of [true, false]) {
      const filter = seccompFilter({ arch: processor, unixSockets }) ?? Buffer.alloc(0);
      expect(filter.length % 8).toBe(0);
      expect(filter.length / 8).toBeGreaterThan(100);
      expect(filter.length / 8).toBeLessThan(4096);
    }
  }
});
