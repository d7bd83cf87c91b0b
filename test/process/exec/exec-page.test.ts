import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { EXECUTABLE, environment, type Place, place } from '../support.ts';
import { TerminalRun } from './terminal-run.ts';

const page = readFileSync(join(dirname(dirname(EXECUTABLE)), 'docs', 'exec.md'), 'utf8');

/** A command of a block, and the lines that follow it. */
interface Example {
  command: string;
  output: string[];
}

function blocks(language: string): string[][] {
  const found = page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'));
  return [...found].map(([, text = '']) => text.trimEnd().split('\n'));
}

/** A command begins with `$ heddle`, `$ answer`, … in a block, and goes on in lines with `>`. Output that begins with `$ /` is of heddle. */
function examplesIn(lines: readonly string[]): Example[] {
  const examples: Example[] = [];
  for (const line of lines) {
    const last = examples.at(-1);
    if (/^\$ (?!\/)/.test(line)) examples.push({ command: line.slice(2), output: [] });
    else if (line.startsWith('> ') && last?.output.length === 0) last.command += `\n${line.slice(2)}`;
    else last?.output.push(line);
  }
  return examples;
}

/** Every `…` stands for anything. */
function pattern(line: string): RegExp {
  const parts = line.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`);
}

/** A place with `heddle` in its path. */
function shell(): { where: Place; env: Record<string, string> } {
  const where = place();
  const folder = join(where.home, 'bin');
  mkdirSync(folder);
  writeFileSync(join(folder, 'heddle'), `#!/bin/sh\nexec "${process.execPath}" "${EXECUTABLE}" "$@"\n`);
  chmodSync(join(folder, 'heddle'), 0o755);
  const given = environment(where);
  return { where, env: { ...given, PATH: `${folder}:${given.PATH}` } };
}

test('the examples of the page print what it says', () => {
  const { where, env } = shell();
  const examples = blocks('console').flatMap(examplesIn);
  expect(examples.length).toBeGreaterThan(7);
  for (const { command, output } of examples) {
    const { stdout, status } = spawnSync('sh', ['-c', `exec 2>&1\n${command}`], { cwd: where.work, env, encoding: 'utf8', input: '' });
    expect({ command, status, lines: stdout.trimEnd().split('\n').sort() }).toEqual({
      command,
      status: 0,
      // stdout and stderr are not in a fixed order.
      lines: [...output].sort().map((line) => expect.stringMatching(pattern(line))),
    });
  }
});

test('the example at a terminal goes as the page says', async () => {
  const { where, env } = shell();
  const [lines = []] = blocks('terminal');
  const [first = '', second = '', ...rest] = lines;
  const run = await TerminalRun.start(where, [], { env: { PATH: env.PATH ?? '' }, script: `${first.slice(2)}\n${second}` });
  for (const [, key] of rest.join('\n').matchAll(/^\[[^\]]+\]: (.)$/gm)) {
    await run.until(']: ');
    run.type(`${key}\n`);
  }
  expect((await run.exit).code).toBe(0);
  expect(run.lines().slice(0, -1)).toEqual(rest.map((line) => expect.stringMatching(pattern(line))));
  expect(existsSync(join(where.work, 'made.txt'))).toBe(true);
});
