// @module-tag slow
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMMAND_NAMES, commandRow } from '../../src/cli/command-line/commands.ts';
import { browse } from '../mcp/logging-in.ts';
import { startOauthServer } from '../mcp/oauth-server.ts';
import { atTerminal } from './at-terminal.ts';
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
  return { status, stdout, stderr };
}

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
    expect(heddle(where, ['threads', 'show', second])).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining(second),
    });
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
    stdout: 'No model is known. "heddle doctor" says what is wrong with the provider.\n',
    stderr: '',
  };
  expect(heddle(where, ['models', '-c', 'model_provider=nope'])).toEqual(none);
  expect(heddle(where, ['models', '-c', 'model=5']).stderr).toContain(
    '-c model: expected a non-empty string, found 5',
  );
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
  /** What bash offers for the last word. */
  function offered(...words: string[]): string[] {
    const { stdout: script } = heddle(place(), ['completion', 'bash']);
    const line = `COMP_WORDS=(heddle ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _heddle; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', `${script}\n${line}`], {
      cwd: '/',
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    return stdout.split('\n').filter((word) => word !== '');
  }

  test('bash completes commands, actions, options and values', () => {
    expect(offered('do')).toEqual(['doctor']);
    expect(offered('threads', 'e')).toEqual(['export']);
    expect(offered('threads', 'export', 'x', '--fo')).toEqual(['--format']);
    expect(offered('-s', 'read')).toEqual(['read-only']);
    expect(offered('app-server', '--log-level', 'w')).toEqual(['warn']);
    expect(offered('help', 'tru')).toEqual(['trust']);
    expect(offered('completion', 'f')).toEqual(['fish']);
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
          .filter((line) => line.includes(shell === 'fish' ? ` ${name}` : `${name})`));
        for (const word of [...Object.keys(actions), ...Object.keys(options), ...own])
          expect(lines.join('\n')).toContain(word);
      }
    },
  );
});
