// @module-tag slow
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { COMMAND_NAMES, commandRow } from '../../src/cli/command-line/commands.ts';
import { COMMON_OPTIONS } from '../../src/cli/command-line/option-rows.ts';
import { CLEAR_LINE } from '../../src/cli/progress/progress-line.ts';
import { browse } from '../mcp/logging-in.ts';
import { startOauthServer } from '../mcp/oauth-server.ts';
import { atTerminal } from './at-terminal.ts';
import { TerminalRun } from './exec/terminal-run.ts';
import { startLogin } from './start-login.ts';
import { EXECUTABLE, environment, type Place, place, startHeddle } from './support.ts';

function heddle(where: Place, args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [EXECUTABLE, ...args], {
    cwd: where.work,
    env: environment(where),
    encoding: 'utf8',
    input: '',
    timeout: 60_000,
  });
  // On a busy machine, the server may take longer than a second.
  return { status, stdout, stderr: stderr.replace(PROGRESS, '') };
}

const PROGRESS = /^heddle: .* … (?:\d+ min )?\d+ s\n/gm;

/** A place with threads, one for each message, and their ids. */
async function withThreads(...messages: string[]): Promise<{ where: Place; ids: string[] }> {
  const where = place();
  const server = await startHeddle(where);
  const ids: string[] = [];
  for (const message of messages) {
    const { thread } = await server.request('thread/start', {});
    await server.turn(thread.id, message);
    ids.push(thread.id);
  }
  await server.finish();
  return { where, ids };
}

describe('heddle threads', () => {
  test('list and search print tables, show and export a thread', async () => {
    const { where, ids } = await withThreads('say first\u001b[31m words', 'say other things');
    const [first = '', second = ''] = ids;
    const listed = heddle(where, ['threads', 'list']);
    expect(listed).toMatchObject({ status: 0, stderr: '' });
    const rows = listed.stdout.trimEnd().split('\n');
    expect(rows[0]).toMatch(/^ID +LAST USED +FOLDER +TITLE$/);
    expect(rows.slice(1).sort()).toEqual([
      expect.stringMatching(
        new RegExp(
          `^${first}  \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d  ~ +say first\\\\x1b\\[31m words$`,
        ),
      ),
      expect.stringMatching(new RegExp(`^${second}  .*say other things$`)),
    ]);
    const json = JSON.parse(heddle(where, ['threads', 'list', '--json']).stdout);
    expect(json.data.map(({ id }: { id: string }) => id).sort()).toEqual([...ids].sort());
    const found = heddle(where, ['threads', 'search', 'other', 'things', '--json']);
    expect(JSON.parse(found.stdout).data).toMatchObject([{ id: second }]);
    expect(heddle(where, ['threads', 'search', 'nowhere'])).toEqual({
      status: 1,
      stdout: 'No name or preview of a thread has these words.\n',
      stderr: '',
    });
    const shown = heddle(where, ['threads', 'show', second]).stdout;
    expect(shown).toContain(`# say other things\n\n- id: ${second}\n- folder: ${where.work}\n`);
    expect(shown).toContain('\n## User\n\nsay other things\n\n## Agent\n\nother things\n');
    expect(heddle(where, ['threads', 'export', second, '--format', 'markdown']).stdout).toBe(shown);
    const [head, ...items] = heddle(where, ['threads', 'export', second])
      .stdout.trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(head).toMatchObject({ thread: { id: second } });
    expect(items.map(({ item }) => item.type)).toEqual(['userMessage', 'agentMessage']);
  });

  test('at a terminal of 80 columns, list shows the whole id, the end of the folder and the beginning of the title', async () => {
    const where = place();
    const folder = join(where.work, 'a-folder-with-a-long-name', 'inside-of-it');
    mkdirSync(folder, { recursive: true });
    const server = await startHeddle(where);
    const { thread } = await server.request('thread/start', { cwd: folder });
    await server.turn(thread.id, `say ${'words '.repeat(30)}`);
    await server.finish();
    const run = await TerminalRun.start(where, ['threads', 'list']);
    expect((await run.exit).code).toBe(0);
    const [head = '', row = ''] = run.lines();
    // On a busy machine, the progress was in this line before.
    expect(head.split(CLEAR_LINE).at(-1)).toBe(
      `${'ID'.padEnd(36)}  ${'LAST USED'.padEnd(16)}  ${'FOLDER'.padEnd(11)}  TITLE`,
    );
    expect(row).toMatch(
      new RegExp(`^${thread.id}  \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d  …side-of-it  say words …$`),
    );
    expect(row).toHaveLength(80);
  });

  test('delete asks at a terminal, needs --yes without one, and deletes', async () => {
    const { where, ids } = await withThreads('say a', 'say b');
    const [first = '', second = ''] = ids;
    const question = `Delete the thread ${first} (say a) with its history? [y/N] `;
    expect(heddle(where, ['threads', 'delete', first])).toEqual({
      status: 2,
      stdout: '',
      stderr:
        'heddle: threads delete: nobody can answer, because the input is not a terminal: use --yes (see "heddle help threads")\n',
    });
    expect(
      await atTerminal(where, ['threads', 'delete', first], { typed: 'n\n', when: question }),
    ).toMatchObject({ exitCode: 1 });
    const agreed = await atTerminal(where, ['threads', 'delete', first], {
      typed: 'y\n',
      when: question,
    });
    expect(agreed).toMatchObject({
      exitCode: 0,
      shown: expect.stringContaining(`Deleted ${first} (say a).`),
    });
    expect(heddle(where, ['threads', 'delete', second, '--yes'])).toMatchObject({
      status: 0,
      stdout: `Deleted ${second} (say b).\n`,
    });
    expect(heddle(where, ['threads', 'list'])).toEqual({
      status: 0,
      stdout: 'There are no threads.\n',
      stderr: '',
    });
    for (const id of [second, second.slice(0, 8)]) {
      const stderr = expect.stringMatching(
        new RegExp(`^heddle: .*${id}.*: "heddle threads list" prints the ids\\n$`),
      );
      expect(heddle(where, ['threads', 'show', id])).toEqual({ status: 1, stdout: '', stderr });
    }
  });
});

test('heddle models lists the models of the provider, which -c can choose', () => {
  const where = place();
  const { status, stdout } = heddle(where, ['models']);
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^MODEL .*\nembedded {2}default {2}.*\n$/),
  });
  expect(JSON.parse(heddle(where, ['models', '--json']).stdout).data).toMatchObject([
    { id: 'embedded', isDefault: true },
  ]);
  const none = {
    status: 1,
    stdout:
      'No model is known. "heddle doctor", with the same -c and -p, says what is wrong with the provider.\n',
    stderr: '',
  };
  expect(heddle(where, ['models', '-c', 'model_provider=nope'])).toEqual(none);
  const silent = heddle(where, [
    'models',
    '-c',
    'model_provider=ollama',
    '-c',
    'model=m',
    '-c',
    'model_providers.ollama.base_url="http://127.0.0.1:9"',
  ]);
  expect(silent).toMatchObject({ status: 0, stdout: expect.stringMatching(/\nm +default +.*\n$/) });
  expect(silent.stderr).toMatch(/^Only the configured model is listed. "heddle doctor" says/);
});

test('wrong settings of the command line are refused in one line, with the help of the command', () => {
  const where = place();
  const settings: [string[], string][] = [
    [['-c', 'model=5'], '-c model: expected a non-empty string, found 5'],
    [['-c', 'model'], '-c model: expected key=value'],
    [
      ['-p', 'nope'],
      `--profile nope: there is no such profile: config.toml has no profiles, and there is no nope.config.toml in ${where.home}`,
    ],
  ];
  for (const command of [['models'], ['mcp', 'list'], ['exec', 'hi'], ['wire']])
    for (const [options, problem] of settings) {
      const stderr = `heddle: ${problem} (see "heddle help ${command[0]}")\n`;
      expect(heddle(where, [...command, ...options])).toEqual({ status: 2, stdout: '', stderr });
    }
});

test('heddle mcp list starts the servers and prints their tools; login says why it cannot be', () => {
  const script = join(import.meta.dirname, '..', 'mcp', 'example-server.js');
  const server = `[mcp_servers.mine]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(script)}]\n`;
  const others =
    '[mcp_servers.off]\ncommand = "x"\nenabled = false\n[mcp_servers.wrong]\ncommand = "x --y"\n';
  const where = place({ 'config.toml': `${server}${others}` });
  const { status, stdout } = heddle(where, ['mcp', 'list']);
  const ready = String.raw`mine +ready +unsupported +[1-9]\d*`;
  const off = 'off +disabled +unsupported +0';
  const wrong = 'wrong +failed +unknown +0 +.*expected only the program: .* in args';
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: expect.stringMatching(new RegExp(`^SERVER .*\n${ready}\n${off}\n${wrong}\n$`)),
  });
  expect(JSON.parse(heddle(where, ['mcp', 'list', '--json']).stdout).data).toMatchObject([
    { name: 'mine' },
    { name: 'off' },
    { name: 'wrong' },
  ]);
  expect(heddle(where, ['mcp', 'login', 'other'])).toMatchObject({
    status: 1,
    stderr: "heddle: No MCP server named 'other' found. The servers are: mine, off, wrong\n",
  });
  expect(heddle(place(), ['mcp', 'list']).stdout).toContain('config.toml has no MCP servers');
});

describe('while an MCP server starts', () => {
  /** A place whose MCP server starts when the test opens a gate. */
  function heldPlace(): { where: Place; release(): void } {
    const script = join(import.meta.dirname, '..', 'mcp', 'example-server.js');
    const where = place();
    const gate = join(where.temp, 'gate');
    execFileSync('mkfifo', [gate]);
    const args = ['-c', `read line < '${gate}'; exec '${process.execPath}' '${script}'`];
    const server = `[mcp_servers.slow]\ncommand = "sh"\nargs = ${JSON.stringify(args)}\nstartup_timeout_sec = 60\n`;
    writeFileSync(join(where.home, 'config.toml'), server);
    return { where, release: () => writeFileSync(gate, 'open\n') };
  }

  test('mcp list says so in one line of a terminal, which goes away', async () => {
    const { where, release } = heldPlace();
    const run = await TerminalRun.start(where, ['mcp', 'list']);
    await run.until(`${CLEAR_LINE}starting the MCP servers … `);
    release();
    expect((await run.exit).code).toBe(0);
    const [head = '', row = ''] = run.lines();
    expect(head.replaceAll(CLEAR_LINE, '|')).toMatch(
      /^(?:\|starting the MCP servers … \d+ s)+\|SERVER +STATUS/,
    );
    expect(row).toMatch(/^slow +ready /);
  });

  test('without a terminal it says so in lines of stderr, and with --json it does not', async () => {
    const runs = [[], ['--json']].map((more) => {
      const { where, release } = heldPlace();
      const child = spawn(process.execPath, [EXECUTABLE, 'mcp', 'list', ...more], {
        cwd: where.work,
        env: environment(where),
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      const run = {
        stdout: '',
        stderr: '',
        release,
        ended: once(child, 'close'),
        spoken: once(child.stderr, 'data'),
      };
      child.stdout.setEncoding('utf8').on('data', (text: string) => (run.stdout += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (run.stderr += text));
      return run;
    });
    const [shown, silent] = runs as [(typeof runs)[0], (typeof runs)[0]];
    await shown.spoken;
    for (const { release } of runs) release();
    expect([await shown.ended, await silent.ended]).toEqual([
      [0, null],
      [0, null],
    ]);
    expect(shown).toMatchObject({
      stdout: expect.stringMatching(/^SERVER /),
      stderr: expect.stringMatching(/^(?:heddle: starting the MCP servers … \d+ s\n)+$/),
    });
    expect(silent).toMatchObject({
      stdout: expect.stringMatching(/^\{"data":\[\{"name":"slow"/),
      stderr: '',
    });
  });
});

test('heddle mcp login prints the address, and ends when the user has logged in; logout removes the login', async () => {
  const { url } = await startOauthServer();
  const where = place({ 'config.toml': `[mcp_servers.web]\nurl = "${url}"\n` });
  const started = startLogin(where, 'web');
  await browse(await started.address);
  const { code, shown } = await started.ended;
  expect(code).toBe(0);
  expect(shown).toMatch(
    /^Open this address in a browser and log in:\n\n {2}http:\S+\n\nLogged in to web\.\n$/,
  );
  expect(existsSync(join(where.home, 'heddle-mcp.credentials.json'))).toBe(true);
  expect(heddle(where, ['mcp', 'logout', 'web'])).toMatchObject({
    status: 0,
    stdout: 'Logged out of web.\n',
  });
  expect(heddle(where, ['mcp', 'logout', 'web'])).toMatchObject({
    status: 0,
    stdout: 'There was no login to web.\n',
  });
});

describe('heddle completion', () => {
  /** The words that bash offers for the last one, for each of these command lines. */
  function offered(...lines: string[][]): string[][] {
    const { stdout: script } = heddle(place(), ['completion', 'bash']);
    const runs = lines.map((words) => {
      const typed = words.map((word) => `'${word}'`).join(' ');
      return `COMP_WORDS=(heddle ${typed}); COMP_CWORD=${words.length}; _heddle; printf '%s ' "\${COMPREPLY[@]}"; echo`;
    });
    const { stdout, stderr } = spawnSync('bash', ['--norc'], {
      cwd: '/',
      encoding: 'utf8',
      input: [script, ...runs, ''].join('\n'),
    });
    expect(stderr).toBe('');
    return stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => line.split(' ').filter((word) => word !== ''));
  }

  test('bash completes commands, actions, options and values', () => {
    expect(offered(['do'])).toEqual([['doctor']]);
    expect(
      offered(
        ['threads', 'e'],
        ['threads', 'export', 'x', '--fo'],
        ['threads', 'list', '--'],
        ['-s', 'read'],
        ['-m', 'exec', '--framing', 'c'],
        ['exec', '--approve', '=', 'accept'],
        ['exec', '--approve', '='],
        ['exec', 're'],
        ['exec', 'resume', '--la'],
        ['e', '--epheme'],
        ['app-server', 'generate-ts', '--ex'],
        ['help', 'tru'],
        ['init', '--provider', 'oll'],
        ['--enable', 'goa'],
      ),
    ).toEqual([
      ['export'],
      ['--format'],
      ['--json', '--help', '--version'],
      ['read-only'],
      ['content-length'],
      ['accept', 'acceptForSession'],
      ['ask', 'accept', 'acceptForSession', 'decline', 'cancel'],
      ['resume'],
      ['--last'],
      ['--ephemeral'],
      ['--experimental'],
      ['trust'],
      ['ollama'],
      ['goals'],
    ]);
  });

  test('bash completes each option of each command and action, and each value of a set', () => {
    const cases = COMMAND_NAMES.flatMap((name) => {
      const { options, actions } = commandRow(name);
      const places =
        actions === undefined
          ? [{ words: [name], own: {} }]
          : Object.entries(actions).map(([action, own]) => ({
              words: [name, action],
              own: own.options,
            }));
      return places.flatMap(({ words, own }) => {
        const rows = Object.entries({ ...options, ...own, ...COMMON_OPTIONS });
        const names = rows.map(([option]) => `--${option}`);
        const values = rows.flatMap(([option, { choices }]) =>
          (choices ?? []).map((choice) => ({
            typed: [...words, `--${option}`, choice],
            completed: choices?.filter((each) => each.startsWith(choice)),
          })),
        );
        const whole = names.map((option) => ({
          typed: [...words, option],
          completed: names.filter((each) => each.startsWith(option)),
        }));
        return [...whole, ...values];
      });
    });
    const completed = offered(...cases.map(({ typed }) => typed)).map((words) => words.sort());
    expect(completed).toEqual(cases.map((one) => [...(one.completed ?? [])].sort()));
  });

  test.each(['bash', 'zsh', 'fish'])(
    '%s has every command with its actions and options',
    (shell) => {
      const { status, stdout, stderr } = heddle(place(), ['completion', shell]);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      for (const name of COMMAND_NAMES) {
        const { options, actions = {} } = commandRow(name);
        const own = Object.values(actions).flatMap((action) => Object.keys(action.options));
        const lines = stdout
          .split('\n')
          .filter((line) => line.includes(shell === 'fish' ? ` ${name}` : `'${name} `));
        for (const word of [...Object.keys(actions), ...Object.keys(options), ...own])
          expect(lines.join('\n')).toContain(word);
      }
    },
  );
});
