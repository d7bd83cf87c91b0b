import { expect, test } from 'vitest';
import { gitConfigEntries } from '../../src/git/git-config-entries.ts';

test('settings are read with their sections, in each form that git accepts', () => {
  const text = `[core] bare = false
[Include]
\tpath = "a b" ; comment
[includeIf "gitdir:~/x/"] path = one\\
two
[includeif.older]
  path=" kept "  
[a][b "c\\"d"] flag
no section here = is fine
broken line !
`;
  expect(gitConfigEntries(text).isUnderstood).toBe(false);
  expect(gitConfigEntries(text).entries).toEqual([
    { section: 'core', subsection: null, key: 'bare', value: 'false' },
    { section: 'include', subsection: null, key: 'path', value: 'a b' },
    { section: 'includeif', subsection: 'gitdir:~/x/', key: 'path', value: 'onetwo' },
    { section: 'includeif', subsection: 'older', key: 'path', value: ' kept ' },
    { section: 'b', subsection: 'c"d', key: 'flag', value: null },
  ]);
});

test('a hostile text is read quickly', () => {
  const started = performance.now();
  for (const unit of ['"', '\\"', '\\\n', '#"', '[a]', 'a="x', ' '])
    gitConfigEntries(`[a]\nk = ${unit.repeat(Math.floor((128 * 1024) / unit.length))}`);
  expect(performance.now() - started).toBeLessThan(1000);
});
