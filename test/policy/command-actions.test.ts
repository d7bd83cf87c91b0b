import { describe, expect, test } from 'vitest';
import { commandActions } from '../../src/policy/command/command-actions.ts';
import { parseCommand } from '../../src/policy/parse/parse-command.ts';
import type { CommandAction } from '../../src/protocol/generated/types.ts';

const actions = async (script: string) =>
  commandActions(await parseCommand(['bash', '-lc', script]), '/w');
const readAction = (command: string, path: string): CommandAction => ({
  type: 'read',
  command,
  name: path.slice(path.lastIndexOf('/') + 1),
  path,
});
const list = (command: string, path: string | null = null): CommandAction => ({
  type: 'listFiles',
  command,
  path,
});
const search = (
  command: string,
  query: string | null,
  path: string | null = null,
): CommandAction => ({
  type: 'search',
  command,
  query,
  path,
});

describe('reads', () => {
  test.each([
    ['cat note.txt', '/w/note.txt'],
    ['cat -n note.txt', '/w/note.txt'],
    ['cat -- note.txt', '/w/note.txt'],
    ['cat ../note.txt', '/note.txt'],
    ['cat /etc/hosts', '/etc/hosts'],
    ["cat 'my note.txt'", '/w/my note.txt'],
    ['bat note.txt', '/w/note.txt'],
    ['head -n 3 note.txt', '/w/note.txt'],
    ['head -5 note.txt', '/w/note.txt'],
    ['head -n 1 note.txt other.txt', '/w/note.txt'],
    ['tail -n +2 note.txt', '/w/note.txt'],
    ["sed -n '1,5p' note.txt", '/w/note.txt'],
    ['nl -ba note.txt', '/w/note.txt'],
    ['less note.txt', '/w/note.txt'],
    ["awk '{print}' note.txt", '/w/note.txt'],
  ])('%s', async (script, path) => {
    expect(await actions(script)).toEqual([readAction(script, path)]);
  });

  test.each([
    ['cat note.txt | head -5', 'cat note.txt', '/w/note.txt'],
    ['cat note.txt | wc -l', 'cat note.txt', '/w/note.txt'],
    ['cat note.txt | sed -n 1,2p', 'cat note.txt', '/w/note.txt'],
    ['cd src && cat a.txt', 'cat a.txt', '/w/src/a.txt'],
    ['cd src && cd .. && cat note.txt', 'cat note.txt', '/w/note.txt'],
    ['echo hi && cat "note.txt"', 'cat note.txt', '/w/note.txt'],
    ["cat 'note.txt' || true", 'cat note.txt', '/w/note.txt'],
  ])('%s', async (script, command, path) => {
    expect(await actions(script)).toEqual([readAction(command, path)]);
  });
});

describe('lists of files', () => {
  test.each<[string, string | null]>([
    ['ls', null],
    ['ls -la', null],
    ['ls -la src', 'src'],
    ['ls -I x src', 'src'],
    ['tree -L 2 src', 'src'],
    ['du -sh src', 'src'],
    ['rg --files', null],
    ['rg --files src', 'src'],
    ['find src -type f', 'src'],
    ['find', null],
    ['fd', null],
    ['git ls-files src', 'src'],
  ])('%s', async (script, path) => {
    expect(await actions(script)).toEqual([list(script, path)]);
  });
});

describe('searches', () => {
  test.each<[string, string, string | null]>([
    ['rg needle', 'needle', null],
    ['rg -n needle src', 'needle', 'src'],
    ["rg -n needle -g '*.txt' src", 'needle', 'src'],
    ['rg -i -C 3 needle src', 'needle', 'src'],
    ['rg -e needle src', 'needle', 'src'],
    ["rg 'a b' src", 'a b', 'src'],
    ['grep -rn needle src', 'needle', 'src'],
    ["grep '--include=*.txt' -r needle .", 'needle', '.'],
    ['git grep -n needle src', 'needle', 'src'],
    ["find . -name '*.txt'", '*.txt', '.'],
    ['fd txt src', 'txt', 'src'],
    ['ag needle src', 'needle', 'src'],
  ])('%s', async (script, query, path) => {
    expect(await actions(script)).toEqual([search(script, query, path)]);
  });
});

test('several commands in one line are several actions', async () => {
  expect(await actions('cat note.txt\nls src; rg x | rg y')).toEqual([
    readAction('cat note.txt', '/w/note.txt'),
    list('ls src', 'src'),
    search('rg x', 'x'),
    search('rg y', 'y'),
  ]);
});

test.each([
  'git status',
  'touch x.txt && echo ok',
  'cat note.txt && touch y',
  'cat note.txt > out.txt',
  'cat note.txt 2>/dev/null',
  'cat < note.txt',
  'cat',
  'cat a b',
  'cat $HOME/x',
  'cat *.txt',
  '/bin/cat note.txt',
  'sudo cat note.txt',
  'A=1 cat note.txt',
  '(cat note.txt)',
  'echo hi',
  'cd src',
  "sed 's/a/b/' note.txt",
  "bash -lc 'cat note.txt'",
  'find . -delete',
  'find . -name x -exec cat {} +',
  'fd -x rm',
  "ls | awk '{system($1)}'",
  'ls | sed -i x',
  'ls | xargs rm',
])('the action of the whole line is unknown: %s', async (script) => {
  expect(await actions(script)).toEqual([{ type: 'unknown', command: script }]);
});
