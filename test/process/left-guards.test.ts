import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import {
  EXECUTABLE,
  environment,
  type HeddleProcess,
  type Place,
  place,
  startHeddle,
} from './support.ts';

/** The workspace is the only writable root. */
const CONFIG = `sandbox_mode = "workspace-write"
[sandbox_workspace_write]
exclude_slash_tmp = true
exclude_tmpdir_env_var = true
`;
const GUARDS = ['.agents', '.codex', '.git', '.hg', 'HEAD'];

interface World extends Place {
  /** The folder of the user's state, which all servers share. */
  state: string;
}

function world(): World {
  const where = place({ 'config.toml': CONFIG });
  return { ...where, state: join(dirname(where.home), 'state') };
}

const stateOf = ({ state }: World) => ({ XDG_STATE_HOME: state });

/** Another server of the same user, with another home and another working directory. */
function elsewhere(world: World): Promise<HeddleProcess> {
  return startHeddle(place(), { env: stateOf(world) });
}

/** Starts a server with a command that runs in its sandbox, so that the workspace has guards. */
async function withCommand(world: World): Promise<HeddleProcess> {
  const heddle = await startHeddle(world, { env: stateOf(world) });
  const params = {
    command: ['sh', '-c', 'echo up; cat'],
    disableTimeout: true,
    streamStdin: true,
    streamStdoutStderr: true,
  };
  heddle.call('command/exec', { ...params, processId: 'p' }).catch(() => {});
  await heddle.waitFor('command/exec/outputDelta', ({ processId }) => processId === 'p');
  expect(readdirSync(world.work)).toEqual(expect.arrayContaining(GUARDS));
  return heddle;
}

async function kill(heddle: HeddleProcess): Promise<void> {
  heddle.signal('SIGKILL');
  await heddle.exit;
}

const lists = ({ state }: World) => readdirSync(join(state, 'heddle', 'guards'));

test('the guards of a killed server are removed by the next one, with another home and elsewhere', async () => {
  const where = world();
  await kill(await withCommand(where));
  expect(readdirSync(where.work)).toEqual(GUARDS);
  const next = await elsewhere(where);
  await expect.poll(() => readdirSync(where.work), { timeout: 10_000 }).toEqual([]);
  await next.finish();
  expect(lists(where)).toEqual([]);
});

test('and by the doctor, which says so', async () => {
  const where = world();
  await kill(await withCommand(where));
  const env = { ...environment(place()), ...stateOf(where) };
  const { stdout } = spawnSync(process.execPath, [EXECUTABLE, 'doctor', '--json'], {
    cwd: where.temp,
    env,
    encoding: 'utf8',
  });
  expect(
    JSON.parse(stdout).checks.find(({ name }: { name: string }) => name === 'sandbox'),
  ).toEqual({
    name: 'sandbox',
    summary: 'bubblewrap, 5 guards of killed servers removed',
    facts: { sandbox: 'bubblewrap', guardsRemoved: 5 },
    problems: [],
  });
  expect(readdirSync(where.work)).toEqual([]);
});

test('what looks like a guard and is not one of a killed server stays', async () => {
  const [where, other] = [world(), world()];
  const living = await withCommand({ ...other, state: where.state });
  await kill(await withCommand(where));
  const [hold = ''] = readdirSync(join(where.work, '.hg'));
  // Used meanwhile, replaced by a folder of the user, and a folder with the names of a guard that
  // no server has listed.
  writeFileSync(join(where.work, '.agents', 'mine'), '');
  rmdirSync(join(where.work, '.hg', hold));
  rmdirSync(join(where.work, '.hg'));
  mkdirSync(join(where.work, '.hg'));
  mkdirSync(join(where.work, 'sub', '.git', hold), { recursive: true });
  const next = await elsewhere(where);
  await expect
    .poll(() => readdirSync(where.work), { timeout: 10_000 })
    .toEqual(['.agents', '.hg', 'sub']);
  await next.finish();
  expect(readdirSync(join(where.work, '.agents'))).toEqual(['mine']);
  expect(existsSync(join(where.work, 'sub', '.git', hold))).toBe(true);
  expect(readdirSync(other.work)).toEqual(GUARDS);
  expect(lists(where)).toHaveLength(1);
  await living.finish();
  expect(readdirSync(other.work)).toEqual([]);
  expect(lists(where)).toEqual([]);
});

test('lists of other starts of the system count only on the same machine, and damaged ones not at all', async () => {
  const where = world();
  await kill(await withCommand(where));
  const folder = join(where.state, 'heddle', 'guards');
  const [name = ''] = lists(where);
  const lines = readFileSync(join(folder, name), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const machine = lines[0].machine as string | null;
  const earlier = `ffffffff${name.slice(8)}`;
  const write = (file: string, change: object) =>
    writeFileSync(
      join(folder, file),
      lines.map((line) => `${JSON.stringify({ ...line, ...change })}\n`).join(''),
    );
  spawnSync('rm', [join(folder, name)]);
  write(earlier, { machine: 'another' });
  writeFileSync(join(folder, name), '{"path": 5}\nnot JSON\n[]\n');
  const next = await elsewhere(where);
  await expect.poll(() => lists(where), { timeout: 10_000 }).toEqual([earlier]);
  await next.finish();
  expect(readdirSync(where.work)).toEqual(GUARDS);
  if (machine === null) return;
  write(earlier, {});
  const last = await elsewhere(where);
  await expect.poll(() => readdirSync(where.work), { timeout: 10_000 }).toEqual([]);
  await last.finish();
});

test('no command changes a list, also where the home folder is the workspace', async () => {
  const where = world();
  const own = { XDG_STATE_HOME: '' };
  const heddle = await startHeddle(where, { env: own });
  const attempts =
    'for f in .local/state/heddle/guards/*; do echo x >> $f; rm $f; done; mv .local elsewhere; ls -A .local/state/heddle/guards';
  const { stdout } = await heddle.request('command/exec', {
    command: ['sh', '-c', `${attempts} 2>/dev/null`],
  });
  expect(stdout.trim().split('\n')).toEqual([expect.stringMatching(/\.guards$/)]);
  expect(
    readFileSync(join(where.work, '.local', 'state', 'heddle', 'guards', stdout.trim()), 'utf8'),
  ).not.toContain('x\n');
  await heddle.finish();
  expect(readdirSync(where.work)).toEqual(['.local']);
});

test('a home folder that does not exist is not made for the list', async () => {
  const where = world();
  const gone = join(where.temp, 'gone');
  const heddle = await startHeddle(where, { env: { XDG_STATE_HOME: '', HOME: gone } });
  expect(await heddle.request('command/exec', { command: ['echo', 'ran'] })).toMatchObject({
    stdout: 'ran\n',
  });
  expect(existsSync(gone)).toBe(false);
  await heddle.finish();
});

test.skipIf(process.getuid?.() === 0)(
  'guards in a folder that cannot be written now are removed later',
  async () => {
    const where = world();
    await kill(await withCommand(where));
    chmodSync(where.work, 0o500);
    await (await elsewhere(where)).finish();
    expect(readdirSync(where.work)).toEqual(GUARDS);
    chmodSync(where.work, 0o700);
    await (await elsewhere(where)).finish();
    expect(readdirSync(where.work)).toEqual([]);
  },
);
