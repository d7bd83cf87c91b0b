import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { tempFolder, writeFiles } from '../config/temp-folder.ts';
import { livingWith, uniqueSleep } from '../sandbox/living-with.ts';
import type { TestServer } from '../support/test-server.ts';
import { commandServer, completed, done, FREE_CONFIG, runs, THREAD } from './command-server.ts';

const BEGIN_AFTER_MS = 500;
const WAIT_MS = 3_000;
const SNAPSHOT_MS = 10_000;

interface World {
  /** Start files, by their names in the home folder. */
  files: Record<string, string>;
  commands: string[];
  config?: string;
  env?: Record<string, string>;
}

/**
 * A server whose user has these start files, and a model that runs the commands one after the
 * other.
 */
async function start({ files, commands, config = '', env = {} }: World): Promise<TestServer> {
  const folder = tempFolder();
  writeFiles(
    folder,
    Object.fromEntries(
      Object.entries({ '.keep': '', ...files }).map(([name, text]) => [`user/${name}`, text]),
    ),
  );
  return commandServer([...commands.map((cmd, index) => runs(cmd, {}, `call_${index}`)), done], {
    folder,
    config: `${FREE_CONFIG}${config}`,
    env: { HOME: join(folder, 'user'), SHELL: '/bin/bash', ...env },
    readsShellExports: true,
  });
}

/** The outputs of the commands, in their order. */
async function outputs(world: World): Promise<string[]> {
  const server = await start(world);
  await server.client.turn(THREAD, 'go');
  return completed(server).map(({ aggregatedOutput }) => aggregatedOutput ?? '');
}

/** As Debian has it: what follows is only for terminals. */
const FOR_TERMINALS = 'case $- in *i*) ;; *) return ;; esac\n';

test('commands get what the start files export, also behind a guard for terminals, and no functions, aliases and other variables', async () => {
  const files = {
    '.bash_profile': 'export FROM_PROFILE=profile\nexport BOTH=profile\n',
    '.bashrc': `${FOR_TERMINALS}export FROM_RC='two\nlines' BOTH=rc; OTHER=other; greet() { echo hi; }; export -f greet; alias hello=greet\n`,
  };
  const command =
    'echo "$FROM_PROFILE|$FROM_RC|$BOTH|$OTHER|$(type greet hello >/dev/null 2>&1 || echo none)"';
  expect(await outputs({ files, commands: [command] })).toEqual(['profile|two\nlines|rc||none\n']);
});

test('of other shells than bash and zsh, the profile is read', async () => {
  const files = { '.profile': 'export FROM_PROFILE=profile\n', '.bashrc': 'export FROM_RC=rc\n' };
  const env = { SHELL: '/bin/sh' };
  expect(await outputs({ files, commands: ['echo "$FROM_PROFILE|$FROM_RC"'], env })).toEqual([
    'profile|\n',
  ]);
});

test('the folders of a PATH are joined: those of the server alone come first', async () => {
  const files = { '.bashrc': 'export PATH="$HOME/.nvm/bin:/usr/bin:/bin"\n' };
  const [path = ''] = await outputs({
    files,
    commands: ['echo "$PATH" | sed "s|$HOME|HOME|"'],
    env: { PATH: '/venv/bin:/usr/bin:/bin' },
  });
  expect(path).toBe('/venv/bin:HOME/.nvm/bin:/usr/bin:/bin\n');
});

test('the environment policy applies to them as to inherited variables', async () => {
  const files = { '.bashrc': 'export MY_API_KEY=a SAFE=b EXCLUDED=c SET_TOO=d KEPT_TOKEN=e\n' };
  const command = 'echo "$MY_API_KEY|$SAFE|$EXCLUDED|$SET_TOO|$KEPT_TOKEN"';
  const policy = (text: string) => `[shell_environment_policy]\n${text}\n`;
  const heard = async (text: string) =>
    (await outputs({ files, commands: [command], config: policy(text) }))[0];
  expect(await heard('exclude = ["EXCL*"]\nset = { SET_TOO = "set" }')).toBe('|b||set|\n');
  expect(await heard('ignore_default_excludes = true')).toBe('a|b|c|d|e\n');
  expect(await heard('include_only = ["KEPT_TOKEN", "PATH"]')).toBe('||||e\n');
  expect(await heard('inherit = "none"\nset = { PATH = "/usr/bin:/bin" }')).toBe('||||\n');
});

test('variables of a process, a terminal, a proxy or heddle do not come from the start files', async () => {
  const names =
    'HEDDLE_HOME http_proxy HTTPS_PROXY TMPDIR OLDPWD TERM_PROGRAM TMUX BASH_ENV USER CODEX_SANDBOX_NETWORK_DISABLED'.split(
      ' ',
    );
  const files = {
    '.bashrc': `${names.map((name) => `export ${name}=/from-rc`).join('\n')}\nexport SHLVL=77 FINE=1\n`,
  };
  expect(await outputs({ files, commands: ['env | grep -E "from-rc|SHLVL=7|FINE"'] })).toEqual([
    'FINE=1\n',
  ]);
});

test('the start files are read once, and what they print is in no output', async () => {
  const files = {
    '.bash_profile': 'echo noise $RANDOM; echo noise >&2; echo read >> "$HOME/reads"\n',
    '.bashrc': 'echo rc >> "$HOME/reads"\n',
  };
  expect(await outputs({ files, commands: ['echo one', 'echo two', 'cat "$HOME/reads"'] })).toEqual(
    ['one\n', 'two\n', 'read\nrc\n'],
  );
});

test('the item of a command shows the login shell that the call asks for', async () => {
  const server = await start({ files: { '.profile': 'echo noise' }, commands: ['echo one'] });
  await server.client.turn(THREAD, 'go');
  expect(completed(server)).toMatchObject([
    { command: "/bin/bash -lc 'echo one'", aggregatedOutput: 'one\n' },
  ]);
});

test('`features.shell_snapshot = false` leaves them to login shells', async () => {
  const files = {
    '.bash_profile': 'echo noise; export FROM_PROFILE=profile\n',
    '.bashrc': 'export FROM_RC=rc\n',
  };
  const config = '[features]\nshell_snapshot = false\n';
  expect(await outputs({ files, commands: ['echo "$FROM_PROFILE|$FROM_RC"'], config })).toEqual([
    'noise\nprofile|\n',
  ]);
});

test('a command of the user gets them too', async () => {
  const server = await start({ files: { '.bashrc': 'export FROM_RC=rc\n' }, commands: [] });
  await server.client.request('thread/shellCommand', {
    threadId: THREAD,
    command: 'echo "$FROM_RC"',
  });
  await server.client.waitFor('turn/completed', () => true);
  expect(completed(server)).toMatchObject([{ aggregatedOutput: 'rc\n' }]);
});

/**
 * Start files with a shell that ends by itself: without the variables, or with those that it
 * exported before.
 */
const ENDING: Record<string, [rc: (sleep: string) => string, heard: string]> = {
  'reads its input': [() => 'read line; export GOT=1\n', '1'],
  'prints 100 MB': [() => 'head -c 100000000 /dev/zero; export GOT=1\n', '1'],
  'exits with an error': [() => 'export GOT=1; exit 1\n', ''],
  'exits without one': [() => 'export GOT=1; exit 0\n', ''],
  'is another program from then on': [() => 'export GOT=1; exec cat\n', ''],
  'has an unset variable': [() => 'export GOT=1; set -u; echo "$NOT_SET"; export GOT=2\n', '1'],
  'has a syntax error': [() => 'export GOT=1\nif then fi\n', '1'],
  'closes its outputs': [() => 'export GOT=1; exec >&- 2>&-\n', '1'],
  'keeps a lock': [() => 'exec 9>lock; flock 9; export GOT=1\n', '1'],
  'has a background process': [(sleep) => `${sleep} & export GOT=1\n`, '1'],
  'has a daemon': [
    (sleep) => `(setsid ${sleep} >/dev/null 2>&1 7>&- 8>&- </dev/null &); export GOT=1\n`,
    '1',
  ],
  'exports too much': [
    () =>
      'for n in 1 2 3; do export BIG$n=$(head -c 100000 /dev/zero | tr "\\\\0" x); done; export GOT=1\n',
    '',
  ],
  'replaces commands': [
    () =>
      'env() { :; }; exec() { :; }; printf() { :; }; alias env=false; alias builtin=false; export GOT=1\n',
    '1',
  ],
  'kills itself': [() => 'export GOT=1; kill -9 $$\n', ''],
};

test.each(Object.entries(ENDING))('a start file that %s', async (_what, [rc, heard]) => {
  const sleep = uniqueSleep();
  const server = await start({ files: { '.bashrc': rc(sleep) }, commands: ['echo "[$GOT]"'] });
  await server.client.turn(THREAD, 'go');
  expect(completed(server)).toMatchObject([{ aggregatedOutput: `[${heard}]\n`, exitCode: 0 }]);
  expect(livingWith(sleep)).toEqual([]);
});

test.each([7, 8])(
  'no variable goes to a file that a start file opens by descriptor %d',
  async (descriptor) => {
    const files = { '.bashrc': `exec ${descriptor}>"$HOME/opened"; export GOT=1\n` };
    expect(await outputs({ files, commands: ['echo "[$GOT]"; cat "$HOME/opened"'] })).toEqual([
      '[]\n',
    ]);
  },
);

const HANGING: Record<string, (sleep: string) => string> = {
  sleeps: (sleep) => `export GOT=1; ${sleep}\n`,
  'ignores signals': (sleep) => `trap "" TERM INT HUP; export GOT=1; while :; do ${sleep}; done\n`,
  'waits for what it has started': (sleep) => `${sleep} & ${sleep} & wait\n`,
};

test.each(Object.entries(HANGING))(
  'a start file that %s holds commands for a short time, and is ended',
  async (_what, rc) => {
    const sleep = uniqueSleep();
    const server = await start({
      files: { '.bashrc': rc(sleep) },
      commands: ['echo "[$GOT]"', 'echo "[$GOT]"'],
    });
    const turn = server.client.turn(THREAD, 'go');
    await vi.waitFor(() => expect(livingWith(sleep)).not.toEqual([]), { timeout: 20_000 });
    await server.clock.timerOf(WAIT_MS);
    server.clock.advance(WAIT_MS);
    await turn;
    expect(completed(server)).toMatchObject([
      { aggregatedOutput: '[]\n' },
      { aggregatedOutput: '[]\n' },
    ]);
    server.clock.advance(SNAPSHOT_MS - WAIT_MS);
    await vi.waitFor(() => expect(livingWith(sleep)).toEqual([]), { timeout: 20_000 });
  },
);

test('the shell ends with the server', async () => {
  const sleep = uniqueSleep();
  const server = await start({ files: { '.bashrc': `${sleep}\n` }, commands: [] });
  server.clock.advance(BEGIN_AFTER_MS);
  await vi.waitFor(() => expect(livingWith(sleep)).not.toEqual([]), { timeout: 20_000 });
  await server.close();
  expect(livingWith(sleep)).toEqual([]);
});

test('the shell and its programs remove their locks when the server ends while they start', async () => {
  const server = await start({
    files: { '.bashrc': `( : > ~/lock; trap 'rm ~/lock' EXIT; ${uniqueSleep()} )\n` },
    commands: [],
  });
  const home = join(server.folder, 'user');
  server.clock.advance(BEGIN_AFTER_MS);
  await vi.waitFor(() => expect(readdirSync(home)).toContain('lock'), { timeout: 20_000 });
  await server.close();
  expect(readdirSync(home)).toEqual(['.bashrc', '.keep']);
});

/** Only the workspace can be written: what other programs have in /tmp does not matter. */
const CONFINED = `${FREE_CONFIG.replace('danger-full-access', 'workspace-write')}[sandbox_workspace_write]
exclude_slash_tmp = true
exclude_tmpdir_env_var = true
`;

/** A server whose workspace is the home folder, and whose commands are confined to it. */
async function atHome(files: Record<string, string>, commands: string[], features = '') {
  const folder = tempFolder();
  writeFiles(
    folder,
    Object.fromEntries(
      Object.entries({ '.keep': '', ...files }).map(([name, text]) => [`work/${name}`, text]),
    ),
  );
  const server = await commandServer(
    [...commands.map((cmd, index) => runs(cmd, { login: false }, `call_${index}`)), done],
    {
      folder,
      config: `${CONFINED}${features}`,
      env: { HOME: join(folder, 'work'), SHELL: '/bin/bash' },
      readsShellExports: true,
    },
  );
  return { server, folder };
}

test('commands cannot change the files that it reads, if the workspace is the home folder', async () => {
  const names = [
    '.bashrc',
    '.bash_profile',
    '.profile',
    '.zshenv',
    '.zshrc',
    '.zprofile',
    'more.sh',
  ];
  const files = Object.fromEntries(
    names.map((name) => [name, name === '.bashrc' ? '. ~/more.sh\n' : '\n']),
  );
  const attack = names
    .map((name) => `echo 'export EVIL=1' >> ${name}; mv ${name} x-${name}; rm -f ${name}`)
    .join('; ');
  const { server, folder } = await atHome(files, [`(${attack}) 2>/dev/null; echo over`]);
  await server.client.turn(THREAD, 'go');
  expect(completed(server)).toMatchObject([{ aggregatedOutput: 'over\n' }]);
  expect(names.map((name) => readFileSync(join(folder, 'work', name), 'utf8'))).toEqual(
    names.map((name) => files[name]),
  );
});

test('files that a command has created before are not read', async () => {
  const write = "echo 'export EVIL=1; touch ~/read' > .bashrc; echo done";
  const { server } = await atHome({}, [write], '[features]\nshell_snapshot = false\n');
  server.model.push(
    runs('echo "[$EVIL]"; ls read 2>/dev/null; cat .bashrc', { login: false }),
    done,
  );
  await server.client.turn(THREAD, 'go');
  const { thread } = await server.client.request('thread/start', {
    config: { 'features.shell_snapshot': true },
  });
  await server.client.turn(thread.id, 'go');
  expect(completed(server).at(-1)).toMatchObject({
    aggregatedOutput: '[]\nexport EVIL=1; touch ~/read\n',
  });
});

test('a command that starts while the shell still reads cannot give it a file to read', async () => {
  const sleep = uniqueSleep();
  const write = `echo 'touch ../read' > .bashrc; touch go; echo done`;
  const { server, folder } = await atHome(
    { '.bash_profile': `(${sleep}) & until test -e ~/go; do :; done\n` },
    [write],
  );
  const turn = server.client.turn(THREAD, 'go');
  await vi.waitFor(() => expect(livingWith(sleep)).not.toEqual([]), { timeout: 20_000 });
  await server.clock.timerOf(WAIT_MS);
  server.clock.advance(WAIT_MS);
  await turn;
  expect(completed(server)).toMatchObject([{ aggregatedOutput: 'done\n', exitCode: 0 }]);
  await vi.waitFor(() => expect(livingWith(sleep)).toEqual([]), { timeout: 20_000 });
  expect(readdirSync(folder)).not.toContain('read');
});

test('the shell is not started while a command runs that could give it a file to read', async () => {
  const { server } = await atHome(
    { '.bashrc': 'export GOT=1\n' },
    ['echo "[$GOT]"'],
    '[features]\nshell_snapshot = false\n',
  );
  const params = {
    command: ['sh', '-c', 'echo up; cat'],
    disableTimeout: true,
    streamStdin: true,
    streamStdoutStderr: true,
    processId: 'p',
  };
  const running = server.client.request('command/exec', params);
  await server.client.waitFor('command/exec/outputDelta', () => true);
  const { thread } = await server.client.request('thread/start', {
    config: { 'features.shell_snapshot': true },
  });
  await server.client.turn(thread.id, 'go');
  expect(completed(server)).toMatchObject([{ aggregatedOutput: '[]\n' }]);
  await server.client.request('command/exec/write', { processId: 'p', closeStdin: true });
  await running;
});
