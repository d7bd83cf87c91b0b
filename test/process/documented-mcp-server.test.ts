import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { blocksOf } from '../docs/pages.ts';
import { examplesIn, pattern, shellPlace } from './page-examples.ts';

const PAGE = 'docs/mcp.md';

test('the whole example of a server in docs/mcp.md starts, and its tool answers as the page says', () => {
  const { where, env } = shellPlace();
  const blocks = blocksOf(PAGE);
  const start = blocks.findIndex(({ language }) => language === 'js');
  const [server, config, session] = blocks.slice(start, start + 3);
  const file = join(where.home, 'greeter.mjs');
  writeFileSync(file, server?.text ?? '');
  writeFileSync(
    join(where.home, 'config.toml'),
    config?.text.replace('/home/me/mcp/greeter.mjs', file) ?? '',
  );
  const examples = examplesIn(session?.text.trimEnd().split('\n') ?? []);
  expect(examples.map(({ command }) => command.split(' ')[1])).toEqual(['mcp', 'exec']);
  for (const { command, output } of examples) {
    const { stdout, status } = spawnSync('sh', ['-c', command], {
      cwd: where.work,
      env,
      encoding: 'utf8',
      input: '',
    });
    const lines = stdout.trimEnd().split('\n');
    expect({ command, status, lines }).toEqual({
      command,
      status: 0,
      lines: output.map((line) => expect.stringMatching(pattern(line))),
    });
  }
});
