import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/base/json-value.ts';
import { writeFiles } from '../../config/temp-folder.ts';
import { functionCall, response } from '../../support/test-model.ts';
import type { TestServer } from '../../support/test-server.ts';
import { done, modelOutput, THREAD } from '../command-server.ts';
import { attack, endOfHook, SCRIPT, startWorld, stateOf, type World } from './programs-world.ts';

/** How a configuration starts a program. A shell runs the lines of hooks. */
const STARTERS: Record<string, (argv: readonly string[]) => JsonObject> = {
  hook: (argv) => ({
    hooks: { Stop: [{ hooks: [{ type: 'command', command: argv.join(' ') }] }] },
  }),
  'longer hook': (argv) => ({
    hooks: {
      PreCompact: [
        {
          hooks: [
            { type: 'command', command: `cat | env A=1 ${argv.join(' ')} > out.txt || exit 2` },
          ],
        },
      ],
    },
  }),
  'MCP server': ([command = '', ...args]) => ({ mcp_servers: { one: { command, args } } }),
  notify: (argv) => ({ notify: [...argv] }),
  'safety check': ([command = '', ...args]) => ({ mcp_safety_check: { command, args } }),
};

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

/**
 * Starts a thread for each way, in which everything starts a program of its own that is named so.
 * Returns the paths to protect.
 */
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
      await client.request('thread/start', {
        config: Object.assign({}, ...configs, { hooks }) as JsonObject,
      });
    }
  }
  return targets;
}

/** Makes all patches in one turn. Returns their outputs. */
async function patches(
  { client, model }: TestServer,
  changes: readonly string[],
): Promise<string[]> {
  const ids = changes.map((_, index) => `patch_${index}`);
  const calls = changes.map((change, index) =>
    functionCall(
      'apply_patch',
      { input: `*** Begin Patch\n${change}\n*** End Patch` },
      { callId: ids[index] ?? '' },
    ),
  );
  model.push(response(...calls), done);
  const { turn } = await client.request('turn/start', { threadId: THREAD, input: [] });
  await client.waitFor('turn/completed', (params) => params.turn.id === turn.id);
  return ids.map((id) => modelOutput({ model } as TestServer, id));
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
    const { output } = await session.run(attack(...targets.map(({ path }) => path)), {
      yield_time_ms: 60_000,
    });
    expect(now()).toEqual(before);
    expect(output).toContain('EROFS');
    const patchable = targets.filter(({ isLink }) => isLink !== true);
    const refused = await patches(
      session.server,
      patchable.map(({ path, isThere }) =>
        isThere ? `*** Update File: ${path}\n@@\n-exit 0\n+evil` : `*** Add File: ${path}\n+evil`,
      ),
    );
    const reasons = refused.map(
      (text) =>
        /is protected by the sandbox: (.*) runs it outside the sandbox\./.exec(text)?.[1] ?? text,
    );
    expect(new Set(reasons)).toEqual(
      new Set([
        ...['PreCompact', 'Stop'].map((event) => `a hook for ${event} (/<request>/config.toml)`),
        ...['the MCP server one', '`notify`', 'the safety check of MCP calls'],
      ]),
    );
    expect(now()).toEqual(before);
    const free = ['tools/free.sh', 'bin/free', 'early/free', 'src/new/free.ts', 'package.json'];
    const written = await session.run(
      free.map((path) => `mkdir -p $(dirname ${path}) && echo free > ${path}`).join(' && '),
    );
    expect(written.item?.exitCode).toBe(0);
    expect(free.map((path) => stateOf(join(work, path)))).toEqual(free.map(() => 'free\n'));
  });
});

test('a hook that runs a tool of the project leaves the project as it is, except the program', async () => {
  const { work, session } = await startWorld(false);
  const program = join(work, 'node_modules/lint/cli.js');
  writeFiles(work, {
    'node_modules/lint/cli.js': SCRIPT,
    'node_modules/.bin/x': '',
    '.venv/pyvenv.cfg': '',
    '.venv/bin/tool': SCRIPT,
  });
  writeFiles(work, { 'tsconfig.json': '{}', 'bin/mytool': SCRIPT });
  for (const path of [program, join(work, '.venv/bin/tool'), join(work, 'bin/mytool')])
    chmodSync(path, 0o755);
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
  const free = [
    'node_modules/lint/lib.js',
    'node_modules/.bin/other',
    'node_modules/other/x.js',
    '.venv/bin/other',
    '.venv/lib/x.py',
  ]
    .concat(['tsconfig.json', 'bin/other'])
    .map((path) => join(work, path));
  const { item } = await session.run(
    free.map((path) => `mkdir -p $(dirname ${path}) && echo free > ${path}`).join(' && '),
  );
  expect(item?.exitCode).toBe(0);
  expect(free.map(stateOf)).toEqual(free.map(() => 'free\n'));
  // The link may be written, but not be another one.
  const link = join(work, 'node_modules/.bin/lint');
  const replaced = async (line: string) => {
    expect((await session.run(`rm ${link}; ${line} ${link}`)).item?.exitCode).toBe(0);
    await endOfHook(session.server, thread.id);
    const ends = session.server.client.notifications('hook/completed').slice(-lines.length);
    return ends.some(({ run }) =>
      run.entries.some(
        ({ text }) => text.includes(`${link} (`) || text.includes(`${link} is new or has changed`),
      ),
    );
  };
  expect(await replaced('ln -s ../lint/cli.js')).toBe(false);
  expect(await replaced('cp /bin/true')).toBe(true);
});

test('no command makes a script that a hook names by turning its folder into a virtual environment', async () => {
  const { work, session } = await startWorld(false);
  writeFiles(work, { 'deep/bin/x': '' });
  const lines = ['sh tools/absent.sh', 'tools/absent', 'deep/bin/absent', 'absent-program'];
  const hooks = { Stop: [{ hooks: lines.map((command) => ({ type: 'command', command })) }] };
  await session.server.client.request('thread/start', { config: { hooks } });
  const paths = [
    'tools/absent.sh',
    'tools/absent',
    'deep/bin/absent',
    'early/absent-program',
    'bin/absent-program',
  ];
  await session.run('touch pyvenv.cfg tools/pyvenv.cfg deep/pyvenv.cfg');
  // The files of a hook are looked for again.
  session.server.clock.advance(60_000);
  await session.run(paths.map((path) => `echo evil > ${path}`).join('; '));
  expect(paths.map((path) => stateOf(join(work, path)))).toEqual(paths.map(() => null));
});
