import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EventLoopYield } from '../../../src/base/event-loop-yield.ts';
import { TurnDiff } from '../../../src/tools/apply-patch/diff/turn-diff.ts';
import { parsePatch } from '../../../src/tools/apply-patch/parse-patch.ts';
import { PinnedFolders } from '../../../src/tools/apply-patch/pinned-folders.ts';
import { planPatch } from '../../../src/tools/apply-patch/plan-patch.ts';
import { writePlan } from '../../../src/tools/apply-patch/write-plan.ts';
import { folderWith, patchOf, tree } from './apply-to-files.ts';

/**
 * Applies patches in order and returns their diff, after checking that git makes the same files
 * from it.
 */
async function diffOf(files: Record<string, string>, ...patches: string[][]): Promise<string> {
  const cwd = folderWith(files);
  const copy = join(cwd, '..', 'copy');
  cpSync(cwd, copy, { recursive: true });
  const diff = new TurnDiff();
  for (const patch of patches) {
    const folders = new PinnedFolders();
    const { written } = await writePlan(
      await planPatch(await parsePatch(patchOf(...patch), new EventLoopYield()), {
        cwd,
        folders,
        mayRead: () => true,
        breaks: new EventLoopYield(),
      }),
      folders,
    );
    diff.take(written);
    await diff.text(cwd, new EventLoopYield());
    await folders.close();
  }
  const text = await diff.text(cwd, new EventLoopYield());
  if (text !== '')
    execFileSync('git', ['apply', '--whitespace=nowarn'], { cwd: copy, input: text });
  expect(withoutFolders(tree(copy))).toEqual(withoutFolders(tree(cwd)));
  rmSync(copy, { recursive: true });
  return text;
}

function withoutFolders(files: Record<string, string | null>) {
  return Object.fromEntries(Object.entries(files).filter(([, content]) => content !== null));
}

function update(path: string, from: string, to: string, moveTo?: string): string[] {
  return [
    `*** Update File: ${path}`,
    ...(moveTo === undefined ? [] : [`*** Move to: ${moveTo}`]),
    '@@',
    `-${from}`,
    `+${to}`,
  ];
}

test("added, updated and deleted files in git's format", async () => {
  const diff = await diffOf({ 'del.txt': 'gone\n', 'up.txt': 'a\nb\nc\n' }, [
    '*** Add File: new.txt',
    '+one',
    '*** Delete File: del.txt',
    ...update('up.txt', 'b', 'B'),
  ]);
  expect(diff).toBe(`diff --git a/del.txt b/del.txt
deleted file mode 100644
index 286c5f5776916d7d7d5849988ca9d83e722cf9c2..0000000000000000000000000000000000000000
--- a/del.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/new.txt b/new.txt
new file mode 100644
index 0000000000000000000000000000000000000000..5626abf0f72e58d7a153368ba57db4c673c0e171
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+one
diff --git a/up.txt b/up.txt
index de980441c3ab03a8c07dda1ad27b8a11f39deb1e..7be73ce3c1b1cdaea86e8168dfee8575175953bf
--- a/up.txt
+++ b/up.txt
@@ -1,3 +1,3 @@
 a
-b
+B
 c
`);
});

test('a rename shows both paths', async () => {
  const diff = await diffOf({ 'a.txt': 'x\ny\n' }, update('a.txt', 'x', 'X', 'to/b.txt'));
  expect(diff).toBe(
    `diff --git a/a.txt b/to/b.txt
rename from a.txt
rename to to/b.txt
index 80a84af..5cbd0dc
--- a/a.txt
+++ b/to/b.txt
@@ -1,2 +1,2 @@
-x
+X
 y
`.replace(/^index .*$/m, /^index .*$/m.exec(diff)?.[0] ?? ''),
  );
});

test('intermediate states are not shown', async () => {
  const diff = await diffOf({ a: '0\n' }, update('a', '0', '1'), update('a', '1', '2'));
  expect(diff).toContain('-0\n+2\n');
  expect(diff).not.toContain('1\n+');
});

test('changes that were undone are not shown', async () => {
  expect(await diffOf({ a: '0\n' }, update('a', '0', '1'), update('a', '1', '0'))).toBe('');
  expect(await diffOf({}, ['*** Add File: n', '+x'], ['*** Delete File: n'])).toBe('');
  expect(await diffOf({ a: '0\n' }, ['*** Delete File: a'], ['*** Add File: a', '+0'])).toBe('');
  expect(await diffOf({ a: '0\n' }, update('a', '0', '1', 'b'), update('b', '1', '0', 'a'))).toBe(
    '',
  );
});

test('renames start from the first path of a file, also in a circle and over other files', async () => {
  expect(
    await diffOf({ a: '0\n' }, update('a', '0', '1', 'b'), update('b', '1', '2', 'c')),
  ).toMatch(/^diff --git a\/a b\/c\nrename from a\n/);
  expect(
    await diffOf({ a: 'A\n', b: 'B\n' }, [
      ...update('a', 'A', 'x', 'b'),
      ...update('b', 'B', 'y', 'a'),
    ]),
  ).not.toContain('rename');
  expect(await diffOf({ a: 'A\n', b: 'B\n' }, update('a', 'A', 'x', 'b'))).not.toContain('rename');
  expect(
    await diffOf({ a: 'A\n' }, update('a', 'A', 'x', 'b'), ['*** Add File: a', '+new']),
  ).not.toContain('rename');
});

test('a missing line end at the end of a file is marked', async () => {
  expect(await diffOf({ a: 'A' }, ['*** Delete File: a'])).toContain(
    '\\ No newline at end of file\n',
  );
});

test('a new file at an intermediate path of a renamed file is not a rename', async () => {
  const diff = await diffOf(
    { a: 'A\n' },
    update('a', 'A', 'A1', 'b'),
    update('b', 'A1', 'A2', 'c'),
    ['*** Add File: b', '+new'],
  );
  expect(diff.match(/^(diff|rename|new|deleted).*/gm)).toEqual([
    'diff --git a/b b/b',
    'new file mode 100644',
    'diff --git a/a b/c',
    'rename from a',
    'rename to c',
  ]);
});

test('a deleted executable file has mode 100755', async () => {
  const cwd = folderWith({ run: 'x\n' });
  chmodSync(join(cwd, 'run'), 0o755);
  const folders = new PinnedFolders();
  const plan = await planPatch(
    await parsePatch(patchOf('*** Delete File: run'), new EventLoopYield()),
    {
      cwd,
      folders,
      mayRead: () => true,
      breaks: new EventLoopYield(),
    },
  );
  await folders.close();
  const diff = new TurnDiff();
  diff.take(plan);
  expect(await diff.text(cwd, new EventLoopYield())).toContain('deleted file mode 100755\n');
});
