import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load-config.ts';
import { sourcesIn } from '../load.ts';
import { tempFolder, writeFiles } from '../temp-folder.ts';

/** A folder, and what its `.git` is. `of` is a position in the list of repositories. */
type Folder =
  | { kind: 'repository' | 'plain'; of: null }
  | {
      kind:
        | 'worktree'
        | 'submodule'
        | 'moved'
        | 'names the repository'
        | 'names a worktree'
        | 'own commondir';
      of: number;
    };

const kinds = [
  'worktree',
  'submodule',
  'moved',
  'names the repository',
  'names a worktree',
  'own commondir',
] as const;
const folder: fc.Arbitrary<Folder> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('repository' as const, 'plain' as const),
    of: fc.constant(null),
  }),
  fc.record({ kind: fc.constantFrom('worktree' as const), of: fc.nat(1) }),
  fc.record({ kind: fc.constantFrom(...kinds), of: fc.nat(1) }),
);
const SUBFOLDERS = ['', 'a', 'a/b'];
const LEVELS = ['trusted', 'untrusted'] as const;
const entryOf = (count: number) =>
  fc.record({
    at: fc.nat(count - 1),
    sub: fc.constantFrom(...SUBFOLDERS),
    level: fc.constantFrom(...LEVELS),
    byLink: fc.boolean(),
  });

/** Makes the folder `at`. The first two repositories are those that the others belong to. */
function make(at: string, one: Folder, repositories: readonly string[]): void {
  mkdirSync(join(at, 'a/b'), { recursive: true });
  if (one.kind === 'repository') writeFiles(at, { '.git/HEAD': 'ref: refs/heads/x\n' });
  if (one.of === null) return;
  const git = join(repositories[one.of] ?? '', '.git');
  const name = at.replaceAll('/', '-');
  const worktree = join(git, 'worktrees', name);
  const linked = { gitdir: `${at}/.git\n`, commondir: '../..\n', HEAD: 'ref: refs/heads/y\n' };
  const made: Record<(typeof kinds)[number], { named: string; files: Record<string, string> }> = {
    worktree: { named: worktree, files: linked },
    // The repository names the place at which the worktree was before.
    moved: { named: worktree, files: { ...linked, gitdir: `${at}-before/.git\n` } },
    submodule: {
      named: join(git, 'modules', name),
      files: { config: `[core]\n\tworktree = ${at}\n` },
    },
    'names the repository': { named: git, files: {} },
    'names a worktree': { named: join(git, 'worktrees', 'other'), files: {} },
    'own commondir': { named: join(at, 'gd'), files: { ...linked, commondir: `${git}\n` } },
  };
  const { named, files } = made[one.kind];
  writeFiles(named, files);
  writeFiles(at, { '.git': `gitdir: ${named}\n` });
}

/**
 * The level of a folder by the entries: of itself or the nearest folder above it in its tree, else
 * of the same place in the main checkout.
 */
function expectedLevel(
  cwd: string,
  tree: string,
  entries: ReadonlyMap<string, string>,
  main: string | null,
): string | null {
  const isRepository = tree !== cwd;
  for (let at = cwd; ; at = dirname(at)) {
    const level = entries.get(at);
    if (level !== undefined) return level;
    if (at === tree || !isRepository) break;
  }
  return main === null ? null : expectedLevel(join(main, relative(tree, cwd)), main, entries, null);
}

interface World {
  folders: readonly Folder[];
  entries: readonly { at: number; sub: string; level: string; byLink: boolean }[];
}

/** Makes the folders and the home, and returns the levels of the entries by path. */
function makeWorld(base: string, { folders, entries }: World): ReadonlyMap<string, string> {
  const at = (index: number) => join(base, `f${index}`);
  for (const [index, one] of folders.entries()) make(at(index), one, [at(0), at(1)]);
  const levels = new Map<string, string>();
  let config = '';
  for (const [index, { at: of, sub, level, byLink }] of entries.entries()) {
    const path = join(at(of), sub);
    if (levels.has(path)) continue;
    const link = join(base, `link${index}`);
    if (byLink) symlinkSync(path, link);
    config += `[projects.${JSON.stringify(byLink ? link : path)}]\ntrust_level = "${level}"\n`;
    levels.set(path, level);
  }
  writeFiles(join(base, 'home'), { 'config.toml': config });
  return levels;
}

const worlds: fc.Arbitrary<World> = fc
  .array(folder, { minLength: 2, maxLength: 5 })
  .map((others): Folder[] => [
    { kind: 'repository', of: null },
    { kind: 'repository', of: null },
    ...others,
  ])
  .chain((folders) =>
    fc.record({
      folders: fc.constant(folders),
      entries: fc.array(entryOf(folders.length), { maxLength: 5 }),
    }),
  );

test('any tree of repositories, linked worktrees and folders that look like them has the trust of its entries', async () => {
  const all = tempFolder();
  const seen = new Set<string>();
  let run = 0;
  const check = async (world: World) => {
    const base = join(all, `${++run}`);
    const levels = makeWorld(base, world);
    const places = world.folders.flatMap((one, index) =>
      SUBFOLDERS.map((sub) => ({ one, tree: join(base, `f${index}`), sub })),
    );
    for (const { one, tree, sub } of places) {
      const cwd = join(tree, sub);
      const main = one.kind === 'worktree' ? join(base, `f${one.of}`) : null;
      // A folder without a repository is a project of its own, as is each folder in it.
      const level = expectedLevel(cwd, one.kind === 'plain' ? cwd : tree, levels, main);
      seen.add(`${one.kind} ${level}`);
      const config = await loadConfig(sourcesIn(join(base, 'home'), { cwd }));
      const expected = [
        level === 'untrusted' ? 'untrusted' : 'on-request',
        level === null ? 'read-only' : 'workspace-write',
      ];
      expect([one.kind, sub, config.get('approval_policy'), config.get('sandbox_mode')]).toEqual([
        one.kind,
        sub,
        ...expected,
      ]);
    }
  };
  await fc.assert(fc.asyncProperty(worlds, check), { seed: 23, numRuns: 40 });
  // The generator has reached what it is for.
  const wanted = [
    ...['repository', 'plain', ...kinds].map((kind) => `${kind} null`),
    ...LEVELS.map((level) => `worktree ${level}`),
  ];
  expect(wanted.filter((one) => !seen.has(one))).toEqual([]);
});
