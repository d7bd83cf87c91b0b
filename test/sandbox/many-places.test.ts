// @module-tag slow
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RefusedWrites } from '../../src/sandbox/read-only-note.ts';
import { ConfinedWorld } from './confined-world.ts';

/** Two such folders can be protected entry by entry, and a third one is read-only as a whole. */
const ENTRIES = 450;

let world: ConfinedWorld;

beforeEach(() => {
  world = new ConfinedWorld();
});

afterEach(() => world.close());

/** Folders of the workspace whose `.git` is a link, with many entries each. */
function linkedFolders(count: number, entries = ENTRIES): string[] {
  return Array.from({ length: count }, (_, index) => {
    const folder = world.folder('work', `linked-${index}`);
    for (let entry = 0; entry < entries; entry++) writeFileSync(join(folder, `file-${entry}`), '');
    symlinkSync(world.folder('outside', `git-${index}`), join(folder, '.git'));
    return folder;
  });
}

test('two linked folders: commands run, and the links are protected', async () => {
  const [folder = ''] = linkedFolders(2);
  const ran = await world.bash(
    'echo x > linked-1/file-7; rm linked-0/.git; mv linked-0/.git linked-0/moved; echo ran',
  );
  expect(ran.stdout).toBe('ran\n');
  expect(existsSync(join(folder, '.git'))).toBe(true);
});

test.each([7])(
  '%i linked folders: commands run, two folders can be changed, and a command that fails reads why',
  async (count) => {
    const folders = linkedFolders(count);
    const writes =
      'for folder in linked-*; do echo x 2>/dev/null > $folder/file-7 && echo $folder; done';
    const { exitCode, stdout, stderr } = await world.bash(
      `${writes}; rm -f linked-*/.git 2>/dev/null; exit 0`,
    );
    const changed = stdout.split('\n').filter((name) => name !== '');
    expect({ exitCode, stderr, changed: changed.length }).toEqual({
      exitCode: 0,
      stderr: '',
      changed: 2,
    });
    expect(folders.filter((folder) => !existsSync(join(folder, '.git')))).toEqual([]);
    const closed = folders.filter((folder) => !changed.includes(basename(folder)));
    const told = [...closed].sort().slice(0, 3).join(', ');
    const failed = await world.bash(`echo x > ${closed[0]}/file-7`);
    expect(failed.exitCode).toBe(1);
    expect(failed.stderr).toContain('Read-only file system');
    expect(failed.stderr).toContain(
      `\nheddle: commands in the sandbox cannot change anything in ${told}`,
    );
    expect(failed.stderr).toContain('`unprotected_folders` under [sandbox_workspace_write]');
    // A failure for another reason says nothing of the folders.
    expect((await world.bash('echo other >&2; exit 1')).stderr).toBe('other\n');
    world.sandboxAgain();
    const all = await world.bash(writes, { unprotected: folders });
    expect(all.stdout.split('\n').filter((name) => name !== '')).toHaveLength(count);
  },
);

test('a linked folder with very many entries is read-only, and commands run', async () => {
  const [folder = ''] = linkedFolders(1, 600);
  expect(await world.bash('echo x > plain.txt && cat linked-0/file-7')).toMatchObject({
    exitCode: 0,
    stderr: '',
  });
  expect((await world.bash('echo x > linked-0/file-7')).stderr).toContain(
    `cannot change anything in ${folder}:`,
  );
});

test('many writable roots, each with a link: the message is not that of bubblewrap', async () => {
  const roots = Array.from({ length: 34 }, (_, index) => {
    const root = world.folder('roots', `${index}`);
    for (let entry = 0; entry < 90; entry++) mkdirSync(join(root, `${entry}`));
    symlinkSync(world.outside, join(root, '.codex'));
    return root;
  });
  await expect(world.bash('echo ran', { writableRoots: roots })).rejects.toThrow(
    'the sandbox would have to mount 90 entries',
  );
});

test.each([8_000, 8_900, 8_950, 8_990, 9_000, 9_010, 20_000])(
  'a command with %i arguments runs, or is refused with the reason',
  async (count) => {
    const argv = ['bash', '-c', 'echo $#', 'bash', ...Array.from({ length: count }, String)];
    const ran = await world.run(argv).catch((error: Error) => error);
    if (ran instanceof Error)
      expect(ran.message).toMatch(
        /^the command has \d+ arguments, and in this sandbox at most 8\d{3} are possible\./,
      );
    else expect(ran).toMatchObject({ exitCode: 0, stdout: `${count}\n` });
    expect(ran instanceof Error).toBe(count > 8_900);
  },
);

test('the error that a folder is read-only is found in any chunks of one stream', () => {
  const text = 'EROFS: read-only file system, open x';
  for (let from = 0; from <= text.length; from += 1) {
    for (let to = from; to <= text.length; to += 1) {
      const parts = [text.slice(0, from), text.slice(from, to), text.slice(to)];
      const one = new RefusedWrites();
      for (const part of parts) one.take('stdout', Buffer.from(part));
      expect(one.areSeen, parts.join('|')).toBe(true);
    }
  }
  const two = new RefusedWrites();
  two.take('stdout', Buffer.from('Read-only '));
  two.take('stderr', Buffer.from('file system'));
  expect(two.areSeen).toBe(false);
});
