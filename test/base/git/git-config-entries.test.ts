import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { gitConfigEntries } from '../../../src/base/git/git-config-entries.ts';
import { runs } from '../../support/runs.ts';

const folder = mkdtempSync(join(tmpdir(), 'heddle-git-'));
const file = join(folder, 'config');

afterAll(() => rmSync(folder, { recursive: true }));

/**
 * The settings as git itself lists them. Null: git refuses the text. Blanks in values are spaces,
 * as in older versions of git.
 */
function listedByGit(text: string): string[] | null {
  writeFileSync(file, text);
  const { status, stdout } = spawnSync(
    'git',
    ['config', '--file', file, '--no-includes', '--list', '-z'],
    { encoding: 'utf8' },
  );
  return status === 0 ? stdout.split('\0').slice(0, -1).map(plain) : null;
}

function listedByHeddle(text: string): string[] | null {
  const { entries, isUnderstood } = gitConfigEntries(text);
  if (!isUnderstood) return null;
  return entries.map(({ section, subsection, key, value }) => {
    const name =
      section === ''
        ? key
        : subsection === null
          ? `${section}.${key}`
          : `${section}.${subsection}.${key}`;
    return plain(value === null ? name : `${name}\n${value}`);
  });
}

function plain(setting: string): string {
  const end = setting.indexOf('\n');
  return end === -1
    ? setting
    : setting.slice(0, end + 1) + setting.slice(end + 1).replace(/[\t\r\v\f]/g, ' ');
}

test('the settings of a text are those that git reads', () => {
  const text = `[core] bare = false
[Include]
\tpath = "a b" ; comment
[includeIf "gitdir:~/x/"] path = one\\
two
[includeif.older]
  path=" kept "  
[a][b "c\\"d"] flag = 1 # note \\
[core] sshCommand = x
`;
  expect(gitConfigEntries(text)).toEqual({
    isUnderstood: true,
    entries: [
      { section: 'core', subsection: null, key: 'bare', value: 'false' },
      { section: 'include', subsection: null, key: 'path', value: 'a b' },
      { section: 'includeif', subsection: 'gitdir:~/x/', key: 'path', value: 'onetwo' },
      { section: 'includeif', subsection: 'older', key: 'path', value: ' kept ' },
      { section: 'b', subsection: 'c"d', key: 'flag', value: '1' },
      { section: 'core', subsection: null, key: 'sshcommand', value: 'x' },
    ],
  });
});

test('any text is read as git reads it', { tags: 'seeded' }, () => {
  const parts = [
    '[a]',
    '[b "c"]',
    '[include]',
    'path = x',
    'k=v',
    'k',
    ' ',
    '\t',
    '\n',
    '\r\n',
    '\\',
    '\\\n',
    '\\n',
    '"',
    '#',
    ';',
    ']',
    '=',
    '-1',
    'ä',
  ];
  const texts = fc.array(fc.constantFrom(...parts), { maxLength: 14 }).map((some) => some.join(''));
  fc.assert(
    fc.property(texts, (text) => {
      expect(listedByHeddle(text)).toEqual(listedByGit(text));
    }),
    {
      numRuns: runs(300),
      examples: [
        ['[a]\nk = v # c \\\n[include]\npath = x'],
        ['[a]\n# c \\\nk = v'],
        ['[a]k="x\\\ny"'],
        ['[a]k = a\\\n # b'],
      ],
    },
  );
});

test('a hostile text is read quickly', () => {
  const started = performance.now();
  for (const unit of ['"', '\\"', '\\\n', '#"', '[a]', 'a="x', ' '])
    gitConfigEntries(`[a]\nk = ${unit.repeat(Math.floor((128 * 1024) / unit.length))}`);
  expect(performance.now() - started).toBeLessThan(1000);
});
