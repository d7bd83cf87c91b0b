import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TerminalRun } from '../exec/terminal-run.ts';
import { examplesIn, linesOf, pattern, shellPlace } from '../page-examples.ts';

const PAGE = 'docs/wire.md';

test('the examples of the page print what it says', () => {
  const { where, env } = shellPlace();
  const examples = linesOf(PAGE, 'console').flatMap(examplesIn);
  expect(examples.length).toBeGreaterThan(6);
  for (const { command, output } of examples) {
    const { stdout, status } = spawnSync('sh', ['-c', `exec 2>&1\n${command}`], {
      cwd: where.work,
      env,
      encoding: 'utf8',
      input: '',
    });
    const lines = stdout.trimEnd().split('\n');
    expect({ command, status, lines: stdout === '' ? [] : lines }).toEqual({
      command,
      status: 0,
      lines: output.map((line) => expect.stringMatching(pattern(line))),
    });
  }
});

test('the example at a terminal goes as the page says', async () => {
  const { where, env } = shellPlace();
  const [[first = '', ...rest] = []] = linesOf(PAGE, 'terminal');
  const run = await TerminalRun.start(where, [], {
    env: { PATH: env.PATH ?? '' },
    script: first.slice(2),
  });
  for (const line of rest) {
    if (line.startsWith('> ')) run.type(`${line.slice(2)}\n`);
    else for (const part of line.split('…').filter(Boolean)) await run.until(part);
  }
  expect(await run.exit).toEqual({ code: 0, signal: null });
  expect(existsSync(join(where.work, 'made.txt'))).toBe(true);
});
