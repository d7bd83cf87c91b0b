import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { blocksOf, codeIn, ROOT, section, sourceFiles, textOf } from '../docs/pages.ts';
import { shortPath } from '../listen/short-path.ts';
import { shellPlace } from './page-examples.ts';
import { EXECUTABLE } from './support.ts';

const TOKENS = blocksOf('docs/listening/tokens.md');
const textsIn = (language: string) =>
  TOKENS.filter((block) => block.language === language).map(({ text }) => text);
const ASK = blocksOf('docs/listening.md').find(({ language }) => language === 'js')?.text ?? '';
const [SIGN = ''] = textsIn('js');

/** A folder with the programs of the pages, whose home is where the pages say. */
function world() {
  const { where, env } = shellPlace();
  const home = join(shortPath(where.work), '.heddle');
  mkdirSync(home);
  writeFileSync(join(where.work, 'ask.mjs'), ASK);
  writeFileSync(join(where.work, 'sign.mjs'), SIGN);
  symlinkSync(join(ROOT, 'node_modules'), join(where.work, 'node_modules'));
  const options = { cwd: where.work, env: { ...env, HEDDLE_HOME: home } };
  /** Runs lines of a page. */
  const run = (lines: string) =>
    execFileSync('sh', ['-c', lines.replace('openssl rand -hex 32', 'printf %064d 7')], {
      ...options,
      encoding: 'utf8',
    }).trim();
  /** Runs the client of the page. Resolves with all that it prints. */
  const ask = (address: string, question: string, token = '') =>
    new Promise<string>((resolve) => {
      execFile(
        process.execPath,
        ['ask.mjs', address, question],
        { ...options, env: { ...options.env, HEDDLE_TOKEN: token } },
        (_, stdout, stderr) => resolve(`${stdout}${stderr}`.trim()),
      );
    });
  /** Starts the server of a command of a page. Resolves with the addresses that it writes. */
  const listen = async (command: string) => {
    const args = command.replaceAll('~', where.work).replace(':4500', ':0').split(/\s+/).slice(1);
    const server = spawn(process.execPath, [EXECUTABLE, ...args], { ...options, stdio: 'pipe' });
    onTestFinished(async () => {
      server.kill();
      if (server.exitCode === null) await once(server, 'exit');
      expect(server.exitCode).toBe(0);
    });
    for await (const line of createInterface({ input: server.stderr })) {
      const [, address] = /listening on: (ws:.*)$/.exec(line) ?? [];
      if (address !== undefined) return address;
    }
    throw new Error(`${command} ended`);
  };
  return { home, run, ask, listen };
}

/** The lines of the block with this word, without the last one, and the last one. */
function linesWith(word: string): { before: string; command: string } {
  const text = textsIn('sh').find((each) => each.includes(word)) ?? '';
  const lines = text.trim().split('\n');
  return { before: lines.slice(0, -1).join('\n'), command: lines.at(-1) ?? '' };
}

test('the client of docs/listening.md asks over a port and a Unix socket', async () => {
  const { home, ask, listen } = world();
  const address = await listen('heddle app-server --listen unix:// --listen ws://127.0.0.1:4500');
  expect(await ask(address, 'say Good morning.')).toBe('Good morning.');
  const socket = join(home, 'app-server-control', 'app-server-control.sock');
  expect(await ask(`unix://${socket}`, 'say Good evening.')).toBe('Good evening.');
});

test('a token of docs/listening/tokens.md lets a client in, and is replaced', async () => {
  const { run, ask, listen } = world();
  const { before, command } = linesWith('capability-token');
  run(before);
  const address = await listen(command);
  const token = run('cat ~/.heddle/listen.token');
  expect(await ask(address, 'say yes', token)).toBe('yes');
  expect(await ask(address, 'say yes')).toBe('Unexpected server response: 401');
  run(linesWith('new.token').command.replace('openssl rand -hex 32', 'echo another'));
  expect(await ask(address, 'say yes', token)).toBe('Unexpected server response: 401');
  expect(await ask(address, 'say yes', 'another')).toBe('yes');
});

test('the program of docs/listening/tokens.md signs tokens for one audience', async () => {
  const { run, ask, listen } = world();
  const { before, command } = linesWith('signed-bearer-token');
  run(before);
  const address = await listen(command);
  const [, call = ''] = /^\/\/ sign\.mjs: (.*)$/m.exec(SIGN) ?? [];
  expect(await ask(address, 'say yes', run(call))).toBe('yes');
  expect(await ask(address, 'say yes', run(call.replace('my-laptop', 'other')))).toBe(
    'Unexpected server response: 401',
  );
});

test('the messages in docs/listening/running.md are in the source', () => {
  const source = sourceFiles().map(textOf).join('\n');
  const page = section('docs/listening/running.md', 'Clients that cannot connect');
  const cells = page.split('\n').flatMap((line) => {
    const [, first = '', second = ''] = line.split('|');
    return /^ \d{3} $/.test(first) ? codeIn(second) : codeIn(line.startsWith('|') ? first : '');
  });
  const parts = cells.flatMap((cell) =>
    cell.split('…').map((part) => part.trim().replace(/:$/, '')),
  );
  expect(parts.length).toBeGreaterThan(15);
  expect(parts.filter((part) => part !== '' && !source.includes(part))).toEqual([]);
});
