import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { examplesIn, linesOf, pattern, shellPlace } from '../page-examples.ts';
import { TerminalRun } from './terminal-run.ts';

const PAGE = 'docs/exec.md';

test('the examples of the page print what it says', () => {
  const { where, env } = shellPlace();
  const examples = linesOf(PAGE, 'console').flatMap(examplesIn);
  expect(examples.length).toBeGreaterThan(7);
  for (const { command, output } of examples) {
    const { stdout, status } = spawnSync('sh', ['-c', `exec 2>&1\n${command}`], {
      cwd: where.work,
      env,
      encoding: 'utf8',
      input: '',
    });
    expect({ command, status, lines: stdout.trimEnd().split('\n').sort() }).toEqual({
      command,
      status: 0,
      // stdout and stderr are not in a fixed order.
      lines: [...output].sort().map((line) => expect.stringMatching(pattern(line))),
    });
  }
});

test('the example at a terminal goes as the page says', async () => {
  const { where, env } = shellPlace();
  const [lines = []] = linesOf(PAGE, 'terminal');
  const [first = '', second = '', ...rest] = lines;
  const run = await TerminalRun.start(where, [], {
    env: { PATH: env.PATH ?? '' },
    script: `${first.slice(2)}\n${second}`,
  });
  for (const [, key] of rest.join('\n').matchAll(/^\[[^\]]+\]: (.)$/gm)) {
    await run.until(']: ');
    run.type(`${key}\n`);
  }
  expect((await run.exit).code).toBe(0);
  expect(run.lines().slice(0, -1)).toEqual(
    rest.map((line) => expect.stringMatching(pattern(line))),
  );
  expect(existsSync(join(where.work, 'made.txt'))).toBe(true);
});
