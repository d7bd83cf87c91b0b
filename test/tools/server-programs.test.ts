import { chmodSync, lstatSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/json-value.ts';
import type { HookRunSummary } from '../../src/protocol/generated/types.ts';
import { tempFolder, writeFiles } from '../config/temp-folder.ts';
import { functionCall, message, response } from '../support/test-model.ts';
import type { TestServer } from '../support/test-server.ts';
import { ApprovalSession, confinedConfig, OUTSIDE } from './approval-session.ts';
import { done, runs, says, THREAD, told } from './command-server.ts';

/** How a configuration starts a program. A shell runs the lines of hooks. */
const STARTERS: Record<string, (argv: readonly string[]) => JsonObject> = {
  hook: (argv) => ({ hooks: { Stop: [{ hooks: [{ type: 'command', command: argv.join(' ') }] }] } }),
  'longer hook': (argv) => ({
    hooks: { PreCompact: [{ hooks: [{ type: 'command', command: `cat | env A=1 ${argv.join(' ')} > out.txt || exit 2` }] }] },
  }),
  'MCP server': ([command = '', ...args]) => ({ mcp_servers: { one: { command, args } } }),
  notify: (argv) => ({ notify: [...argv] }),
  'safety check': ([command = '', ...args]) => ({ mcp_safety_check: { command, args } }),
};

interface World {
  folder: string;
  work: string;
}

/** A path that commands must not write, and what is there before: a script, a link or nothing. */
interface Target {
  path: string;
  isThere: boolean;
  isLink?: true;
}

interface Way {
  argv: readonly string[];
  targets: readonly Target[];
}

/** How the program's code is named. The folder is that of the workspace. */
const WAYS: Record<string, (name: string, isThere: boolean, world: World) => Way> = {
  'a script': (name, isThere, { work }) => {
    const path = join(work, 'tools', `${name}.sh`);
    return { argv: ['sh', path], targets: [{ path, isThere }] };
  },
  'a script in a new folder': (name, isThere, { work }) => {
    const path = join(work, `deep-${name}`, 'er', 'run.py');
    return { argv: ['python3', '-u', path, '--flag'], targets: [{ path, isThere }] };
  },
  'a program by its path': (name, isThere, { work }) => {
    const path = join(work, 'tools', name);
    return { argv: [path, 'x'], targets: [{ path, isThere }] };
  },
  'a program in the PATH': (name, isThere, { work }) => ({
    argv: [name, 'x'],
    targets: [
      { path: join(work, 'early', name), isThere: false },
      { path: join(work, 'bin', name), isThere },
    ],
  }),
  'a link': (name, isThere, { work }) => {
    const link = join(work, 'links', name);
    symlinkSync(`../lib/${name}`, link);
    return {
      argv: [link],
      targets: [
        { path: link, isThere: true, isLink: true },
        { path: join(work, 'lib', name), isThere },
      ],
    };
  },
};

const SCRIPT = '#!/bin/sh\nexit 0\n';

/** Attempts to change, replace, create or remove each path of its arguments. Prints the codes of the errors. */
const ATTACK = `
const fs = require("fs"), { dirname } = require("path");
const codes = new Set();
const attempt = (act) => { try { act(); } catch ({ code }) { codes.add(code); } };
for (const path of process.argv.slice(1)) {
  const folder = dirname(path);
  attempt(() => fs.mkdirSync(folder, { recursive: true }));
  attempt(() => fs.writeFileSync(path, "evil"));
  attempt(() => fs.appendFileSync(path, "evil"));
  fs.writeFileSync("evil.tmp", "evil");
  attempt(() => fs.linkSync("evil.tmp", path));
  attempt(() => fs.renameSync("evil.tmp", path));
  attempt(() => fs.rmSync(path, { recursive: true }));
  attempt(() => fs.symlinkSync("/bin/true", path));
  attempt(() => fs.mkdirSync(path));
  attempt(() => fs.chmodSync(path, 0o777));
  attempt(() => { fs.renameSync(folder, folder + ".moved"); fs.mkdirSync(folder); fs.writeFileSync(path, "evil"); });
}
console.log([...codes].join(" "));
`;

function attack(...paths: string[]): string {
  return `'${process.execPath}' -e '${ATTACK}' ${paths.map((path) => `'${path}'`).join(' ')}`;
}

function stateOf(path: string): string | null {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  return stat.isSymbolicLink() ? `-> ${readlinkSync(path)}` : stat.isDirectory() ? 'folder' : readFileSync(path, 'utf8');
}

async function startWorld(isHome: boolean, approvals = 'never'): Promise<World & { session: ApprovalSession }> {
  const folder = tempFolder();
  const work = join(folder, 'work');
  writeFiles(folder, { 'user/x': '', 'work/early/x': '', 'work/bin/x': '', 'work/tools/x': '', 'work/lib/x': '', 'work/links/x': '' });
  const env = { HOME: isHome ? work : join(folder, 'user'), PATH: `${work}/early:${work}/bin:/usr/bin:/bin` };
  const session = await ApprovalSession.start({ folder, env, config: confinedConfig(approvals) });
  return { folder, work, session };
}

/** Starts a thread for each way, in which everything starts a program of its own that is named so. Returns the paths to protect. */
async function startPrograms(world: World, { client }: TestServer): Promise<Target[]> {
  const targets: Target[] = [];
  for (const [way, make] of Object.entries(WAYS)) {
    for (const isThere of [true, false]) {
      const configs = Object.entries(STARTERS).map(([starter, configOf]) => {
        const made = make(`${starter} ${way} ${isThere}`.replace(/\W+/g, '-'), isThere, world);
        targets.push(...made.targets);
        return configOf(made.argv);
      });
      for (const { path } of targets.filter((target) => target.isThere && target.isLink !== true)) {
        writeFiles('/', { [path.slice(1)]: SCRIPT });
        chmodSync(path, 0o755);
      }
      const hooks = Object.assign({}, ...configs.map((config) => config.hooks ?? {})) as JsonObject;
      await client.request('thread/start', { config: Object.assign({}, ...configs, { hooks }) as JsonObject });
    }
  }
  return targets;
}

/** Makes all patches in one turn. Returns their outputs. */
async function patches({ client, model }: TestServer, changes: readonly string[]): Promise<string[]> {
  const ids = changes.map((_, index) => `patch_${index}`);
  const calls = changes.map((change, index) =>
    functionCall('apply_patch', { input: `*** Begin Patch\n${change}\n*** End Patch` }, { callId: ids[index] ?? '' }),
  );
  model.push(response(...calls), done);
  const { turn } = await client.request('turn/start', { threadId: THREAD, input: [] });
  await client.waitFor('turn/completed', (params) => params.turn.id === turn.id);
  return ids.map((id) => told({ model } as TestServer, id));
}

describe.each([
  ['a project', false],
  ['the home folder of the user', true],
])('in a workspace that is %s', (_, isHome) => {
  test('no command and no patch writes what the server starts, whatever starts it, however it is named, also if it does not exist', async () => {
    const world = await startWorld(isHome);
    const { work, session } = world;
    const targets = await startPrograms(world, session.server);
    const now = () => Object.fromEntries(targets.map(({ path }) => [path, stateOf(path)]));
    const before = now();
    const { output } = await session.run(attack(...targets.map(({ path }) => path)), { yield_time_ms: 60_000 });
    expect(now()).toEqual(before);
    expect(output).toContain('EROFS');
    const patchable = targets.filter(({ isLink }) => isLink !== true);
    const refused = await patches(
      session.server,
      patchable.map(({ path, isThere }) => (isThere ? `*** Update File: ${path}\n@@\n-exit 0\n+evil` : `*** Add File: ${path}\n+evil`)),
    );
    const reasons = refused.map((text) => /is protected by the sandbox: (.*) runs it outside the sandbox\./.exec(text)?.[1] ?? text);
    expect(new Set(reasons)).toEqual(
      new Set([
        ...['PreCompact', 'Stop'].map((event) => `a hook for ${event} (/<request>/config.toml)`),
        ...['the MCP server one', '`notify`', 'the safety check of MCP calls'],
      ]),
    );
    expect(now()).toEqual(before);
    const free = ['tools/free.sh', 'bin/free', 'early/free', 'src/new/free.ts', 'package.json'];
    const written = await session.run(free.map((path) => `mkdir -p $(dirname ${path}) && echo free > ${path}`).join(' && '));
    expect(written.item?.exitCode).toBe(0);
    expect(free.map((path) => stateOf(join(work, path)))).toEqual(free.map(() => 'free\n'));
  });
});

test('a hook that runs a tool of the project leaves the project as it is, except the program', async () => {
  const { work, session } = await startWorld(false);
  const program = join(work, 'node_modules/lint/cli.js');
  writeFiles(work, { 'node_modules/lint/cli.js': SCRIPT, 'node_modules/.bin/x': '', '.venv/pyvenv.cfg': '', '.venv/bin/tool': SCRIPT });
  writeFiles(work, { 'tsconfig.json': '{}', 'bin/mytool': SCRIPT });
  for (const path of [program, join(work, '.venv/bin/tool'), join(work, 'bin/mytool')]) chmodSync(path, 0o755);
  symlinkSync('../lint/cli.js', join(work, 'node_modules/.bin/lint'));
  symlinkSync('/usr/bin/env', join(work, '.venv/bin/python'));
  const lines = [
    'node_modules/.bin/lint --fix .',
    '.venv/bin/tool check .; .venv/bin/python x',
    'tsc -p tsconfig.json',
    'PATH=./bin:$PATH mytool',
  ];
  const hooks = { Stop: [{ hooks: lines.map((command) => ({ type: 'command', command })) }] };
  const { thread } = await session.server.client.request('thread/start', { config: { hooks } });
  const kept = [program, join(work, '.venv/bin/tool'), join(work, 'bin/mytool')];
  await session.run(attack(...kept));
  expect(kept.map(stateOf)).toEqual(kept.map(() => SCRIPT));
  const free = ['node_modules/lint/lib.js', 'node_modules/.bin/other', 'node_modules/other/x.js', '.venv/bin/other', '.venv/lib/x.py']
    .concat(['tsconfig.json', 'bin/other'])
    .map((path) => join(work, path));
  const { item } = await session.run(free.map((path) => `mkdir -p $(dirname ${path}) && echo free > ${path}`).join(' && '));
  expect(item?.exitCode).toBe(0);
  expect(free.map(stateOf)).toEqual(free.map(() => 'free\n'));
  // The link may be written, but not be another one.
  const link = join(work, 'node_modules/.bin/lint');
  const replaced = async (line: string) => {
    expect((await session.run(`rm ${link}; ${line} ${link}`)).item?.exitCode).toBe(0);
    await endOfHook(session.server, thread.id);
    const ends = session.server.client.notifications('hook/completed').slice(-lines.length);
    return ends.some(({ run }) =>
      run.entries.some(({ text }) => text.includes(`${link} (`) || text.includes(`${link} is new or has changed`)),
    );
  };
  expect(await replaced('ln -s ../lint/cli.js')).toBe(false);
  expect(await replaced('cp /bin/true')).toBe(true);
});

describe('a login shell outside the sandbox', () => {
  const HOME_FILES = {
    'work/.profile': '. "$HOME/.bashrc"\n',
    'work/.bashrc': 'TOOLS=~/.tools\n[ -f "$TOOLS/env" ] && . "$TOOLS/env"\nfor file in ~/.bashrc.d/*.sh; do . "$file"; done\n',
    'work/.tools/env': 'eval "$(~/.tools/bin/shim init)"\n',
    'work/.tools/bin/shim': '#!/bin/sh\n',
    'work/.bashrc.d/one.sh': '',
  };

  async function startHome(files: Record<string, string>): Promise<World & { session: ApprovalSession; canary: string }> {
    const folder = tempFolder(files);
    const work = join(folder, 'work');
    if (files['work/.tools/bin/shim'] !== undefined) chmodSync(join(work, '.tools/bin/shim'), 0o755);
    const env = { HOME: work, SHELL: '/bin/bash', PATH: '/usr/bin:/bin' };
    const session = await ApprovalSession.start({ folder, env, config: confinedConfig('on-request') });
    return { folder, work, session, canary: join(folder, 'canary') };
  }

  test('reads no file that commands could write: those that exist are protected, with what they read', async () => {
    const { work, session } = await startHome(HOME_FILES);
    const paths = [...Object.keys(HOME_FILES).map((path) => path.slice('work/'.length)), '.bashrc.d/two.sh'].map((path) =>
      join(work, path),
    );
    const before = paths.map(stateOf);
    await session.run(attack(...paths));
    expect(paths.map(stateOf)).toEqual(before);
    const { asked } = await session.patch('*** Begin Patch\n*** Add File: .bash_profile\n+evil\n*** End Patch', { decision: 'decline' });
    expect(asked.map(({ reason }) => reason)).toEqual([
      `${join(work, '.bash_profile')} is protected by the sandbox: a login shell runs it outside the sandbox.`,
    ]);
  });

  test('is not started if a command has made a file that it reads first', async () => {
    const { folder, work, session, canary } = await startHome({ 'work/.profile': '' });
    await session.run(`echo 'echo started >> ${canary}' > .bash_profile`);
    const refused = await session.run('echo ran', OUTSIDE);
    expect(refused.output).toContain(`${join(work, '.bash_profile')} is new or has changed while commands in the sandbox could write it`);
    expect(stateOf(canary)).toBeNull();
    expect((await session.run('echo ran', { ...OUTSIDE, login: false })).output).toContain('ran');
    // In the sandbox, it is only a file of the workspace.
    expect((await session.run('echo ran')).output).toContain('ran');
    expect(stateOf(join(folder, 'canary'))).toBeNull();
  });

  test('is started if nothing has changed, and with start files in a workspace of dotfiles that are linked', async () => {
    const folder = tempFolder({ 'work/profile': 'echo from the profile\n', 'user/x': '' });
    symlinkSync('../work/profile', join(folder, 'user/.profile'));
    const env = { HOME: join(folder, 'user'), SHELL: '/bin/bash', PATH: '/usr/bin:/bin' };
    const session = await ApprovalSession.start({ folder, env, config: confinedConfig('on-request') });
    await session.run(`${attack(join(folder, 'work/profile'))}; touch free`);
    expect(stateOf(join(folder, 'work/profile'))).toBe('echo from the profile\n');
    expect(stateOf(join(folder, 'work/free'))).toBe('');
    expect((await session.run('echo ran', OUTSIDE)).output).toMatch(/from the profile\nran\n/);
    // The user may change it.
    writeFiles(folder, { 'work/profile': 'echo from the new profile\n' });
    expect((await session.run('echo ran', OUTSIDE)).output).toMatch(/from the new profile\nran\n/);
  });
});

/** Runs a turn of a thread. Returns the end of its last hook. */
async function endOfHook({ client, model }: TestServer, threadId: string): Promise<HookRunSummary | undefined> {
  model.push(done);
  const { turn } = await client.request('turn/start', { threadId, input: [] });
  await client.waitFor('turn/completed', (params) => params.turn.id === turn.id);
  return client.notifications('hook/completed').at(-1)?.run;
}

test('a hook that is not started for this reason refuses, so that no command can switch it off', async () => {
  const { work, session } = await startWorld(false);
  const { client, model } = session.server;
  writeFiles(work, { 'lib/check': SCRIPT });
  chmodSync(join(work, 'lib/check'), 0o755);
  symlinkSync('lib/check', join(work, 'check'));
  const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: './check' }] }] };
  const { thread } = await client.request('thread/start', { config: { hooks } });
  const run = async (cmd: string, callId: string) => {
    model.push(runs(cmd, {}, callId), done);
    const { turn } = await client.request('turn/start', { threadId: thread.id, input: [] });
    await client.waitFor('turn/completed', (params) => params.turn.id === turn.id);
    return told(session.server, callId);
  };
  expect(await run('rm check; cp /bin/true check; echo one', 'a')).toContain('one');
  expect(await run('echo two', 'b')).toMatch(/counts as no: .*work\/check.* is new or has changed/);
});

describe('a program is not started if what it runs has changed while commands could write it', () => {
  test.each([true, false])(
    'because a command was running before the server knew of the program (which ran before: %s)',
    async (runsBefore) => {
      const { work, session } = await startWorld(false);
      const { client, clock } = session.server;
      const script = join(work, 'tools', 'late.sh');
      writeFiles(work, { 'tools/late.sh': SCRIPT });
      const running = session.run('mkfifo p; echo up; read x < p; echo evil > tools/late.sh; echo over; read x < p');
      await says(session.server, 'up');
      await clock.timerOf(10_000);
      clock.advance(10_000);
      await running;
      const hooks = { Stop: [{ hooks: [{ type: 'command', command: 'sh tools/late.sh' }] }] };
      const { thread } = await client.request('thread/start', { config: { hooks } });
      const turn = () => endOfHook(session.server, thread.id);
      // The hook is known as soon as its thread is loaded, also if it does not run before the change.
      if (runsBefore) expect(await turn()).toMatchObject({ status: 'completed', entries: [] });
      else await session.run('true');
      await writeFile(join(work, 'p'), 'go\n');
      await says(session.server, 'over');
      const why = `${script} is new or has changed while commands in the sandbox could write it`;
      expect(await turn()).toMatchObject({ status: 'failed', entries: [{ kind: 'error', text: expect.stringContaining(why) as string }] });
      await client.request('thread/backgroundTerminals/clean', { threadId: THREAD });
    },
  );

  test('because the program is a link directly in the workspace, and a command has replaced it', async () => {
    const { work, session } = await startWorld(false);
    const { client } = session.server;
    writeFiles(work, { 'lib/lint': SCRIPT, 'lib/python': SCRIPT, 'pyvenv.cfg': '' });
    chmodSync(join(work, 'lib/lint'), 0o755);
    symlinkSync('lib/lint', join(work, 'lint'));
    const hooks = { Stop: [{ hooks: [{ type: 'command', command: './lint; lib/python' }] }] };
    const { thread } = await client.request('thread/start', { config: { hooks } });
    await session.run(`${attack(join(work, 'lib/lint'))}; rm lint; cp /bin/true lint; touch free`);
    expect(stateOf(join(work, 'lib/lint'))).toBe(SCRIPT);
    expect(stateOf(join(work, 'free'))).toBe('');
    // A workspace that is a virtual environment itself stays writable.
    expect((await session.patch('*** Begin Patch\n*** Add File: also-free\n+x\n*** End Patch')).output).toContain('Success');
    expect(await endOfHook(session.server, thread.id)).toMatchObject({
      status: 'failed',
      entries: [{ kind: 'error', text: expect.stringContaining(`${join(work, 'lint')} is new or has changed`) as string }],
    });
  });

  test('such as a package that a command has installed where an MCP server would find it first', async () => {
    const { folder, work, session } = await startWorld(false);
    const { client } = session.server;
    writeFiles(folder, { 'outside/npx': `#!/bin/sh\ntouch ${folder}/started\n` });
    chmodSync(join(folder, 'outside/npx'), 0o755);
    const config = (name: string) => ({
      mcp_servers: { [name]: { command: join(folder, 'outside/npx'), args: ['-y', '@example/docs@latest'] } },
    });
    const failure = async (name: string) => {
      await client.request('thread/start', { config: config(name) });
      const failed = await client.waitFor(
        'mcpServer/startupStatus/updated',
        (params) => params.name === name && params.status === 'failed',
      );
      return failed.error ?? '';
    };
    await failure('before');
    expect(stateOf(join(folder, 'started'))).toBe('');
    await session.run('rm -f started; mkdir -p node_modules/@example/docs; touch node_modules/@example/docs/package.json');
    expect(await failure('after')).toContain(`${join(work, 'node_modules/@example/docs')} is new or has changed`);
  });

  test('but not because of the files that a message names', async () => {
    const { folder, work, session } = await startWorld(false);
    const { client, model } = session.server;
    const told = join(folder, 'told.txt');
    const program = join(folder, 'outside/notify');
    writeFiles(folder, { 'work/answer.sh': 'one', 'told.txt': '', 'outside/notify': `#!/bin/sh\necho told >> ${told}\n` });
    chmodSync(program, 0o755);
    const { thread } = await client.request('thread/start', { config: { notify: [program] } });
    const answers = async () => {
      model.push(response(message(`See ${work}/answer.sh and answer.sh`)));
      expect(await client.turn(thread.id, 'Edit answer.sh')).toMatchObject({ status: 'completed' });
    };
    const running = session.run('mkfifo p; echo up; read x < p; echo two > answer.sh; echo over; read x < p');
    await says(session.server, 'up');
    await session.server.clock.timerOf(10_000);
    session.server.clock.advance(10_000);
    await running;
    await answers();
    await writeFile(join(work, 'p'), 'go\n');
    await says(session.server, 'over');
    await answers();
    await session.server.close();
    expect(client.notifications('warning')).toEqual([]);
    expect(stateOf(told)).toBe('told\ntold\n');
  });

  test('unless the user has left its folder out', async () => {
    const folder = tempFolder({ 'work/tools/free.sh': SCRIPT });
    const unprotected = `unprotected_folders = ["${join(folder, 'work/tools')}"]\n`;
    const session = await ApprovalSession.start({ folder, config: `${confinedConfig('never')}${unprotected}` });
    const hooks = { Stop: [{ hooks: [{ type: 'command', command: 'sh tools/free.sh' }] }] };
    await session.server.client.request('thread/start', { config: { hooks } });
    await session.run('echo changed > tools/free.sh');
    expect(stateOf(join(folder, 'work/tools/free.sh'))).toBe('changed\n');
  });
});
