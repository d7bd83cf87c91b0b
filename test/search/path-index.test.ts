import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LocalPathIndex, MATCHES_MAX } from '../../src/search/worker/path-index.ts';

function indexOf(paths: readonly string[], cuts: readonly number[] = []): LocalPathIndex {
  const index = new LocalPathIndex(['/r']);
  const bytes = Buffer.from(paths.map((path) => `${path}\n`).join(''));
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b).filter((at) => at < bytes.length)) {
    index.add(0, bytes.subarray(from, cut));
    from = cut;
  }
  index.add(0, bytes.subarray(from));
  return index;
}

async function found(paths: readonly string[], query: string): Promise<string[]> {
  return ((await indexOf(paths).rank(query)) ?? []).map(({ path }) => path);
}

describe('the ranking of paths', () => {
  test('prefers a name that is the query, then matches within names, then others; then shorter paths', async () => {
    const paths = ['alpha/x.ts', 'src/alphabet.ts', 'a-l-p-h-a/z', 'b/alpha', 'xalphax'];
    expect(await found(paths, 'alpha')).toEqual([
      'alpha',
      'b/alpha',
      'src/alphabet.ts',
      'a-l-p-h-a',
      'xalphax',
      'alpha/x.ts',
      'a-l-p-h-a/z',
    ]);
  });

  test('finds words in any order and in any case, and understands the terms of fzf', async () => {
    const paths = ['src/Store/open.ts', 'src/store/open.test.ts', 'docs/store.md'];
    expect(await found(paths, 'ts STORE')).toEqual(['src/Store/open.ts', 'src/store/open.test.ts']);
    expect(await found(paths, 'store !test .ts$')).toEqual(['src/Store/open.ts']);
    expect(await found(paths, '^docs md$')).toEqual(['docs/store.md']);
    expect(await found(paths, 'zq')).toEqual([]);
    expect(await found(paths, '  ')).toEqual([]);
  });

  test('knows each folder once, by the files in it', async () => {
    const all = await indexOf(['a/b/c.ts', 'a/b/d.ts', 'a/e.ts']).rank('a');
    expect(
      all
        ?.filter(({ match_type: type }) => type === 'directory')
        .map(({ path, file_name: name }) => [path, name]),
    ).toEqual([
      ['a', 'a'],
      ['a/b', 'b'],
    ]);
  });

  test('returns 50 matches at most', async () => {
    expect(
      await found(
        Array.from({ length: 3000 }, (_, n) => `file${n}`),
        'file',
      ),
    ).toHaveLength(MATCHES_MAX);
  });

  test('counts characters, not UTF-16 units', async () => {
    expect(await indexOf(['😀😀/ö-alp.txt']).rank('alp')).toMatchObject([
      { path: '😀😀/ö-alp.txt', indices: [5, 6, 7] },
    ]);
  });

  test('a newer query ends an older one, which returns null', async () => {
    const index = indexOf(Array.from({ length: 5000 }, (_, n) => `file${n}`));
    const older = index.rank('file1');
    expect((await index.rank('file2'))?.length).toBe(MATCHES_MAX);
    expect(await older).toBeNull();
  });

  test('does not depend on how the bytes are cut', async () => {
    const word = fc.string({
      unit: fc.constantFrom('a', 'b', 'ö', '😀', '-', '.', ' '),
      minLength: 1,
      maxLength: 5,
    });
    const path = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join('/'));
    const paths = fc.uniqueArray(path, { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(paths, fc.array(fc.nat(400)), word, async (all, cuts, query) => {
        const whole = await indexOf(all).rank(query);
        const found = await indexOf(all, cuts).rank(query);
        // The library may mark other letters of the same path.
        expect(found?.map(({ path: of }) => of).sort()).toEqual(
          whole?.map(({ path: of }) => of).sort(),
        );
        for (const match of whole ?? [])
          expect(match.indices?.every((at) => at < [...match.path].length)).toBe(true);
      }),
    );
  });
});
