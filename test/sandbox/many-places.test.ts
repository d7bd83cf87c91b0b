import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfinedWorld } from './confined-world.ts';

/** A folder with a protected link and more entries than this is refused by itself. */
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
  const ran = await world.bash('echo x > linked-1/file-7; rm linked-0/.git; mv linked-0/.git linked-0/moved; echo ran');
  expect(ran.stdout).toBe('ran\n');
  expect(existsSync(join(folder, '.git'))).toBe(true);
});

test.each([7, 20])('%i linked folders: the command is refused, with the folder and the setting that allows it', async (count) => {
  const [folder = '', ...others] = linkedFolders(count);
  writeFileSync(join(folder, 'one-more'), '');
  const start = world.bash('echo ran');
  await expect(start).rejects.toThrow(`${folder}: the sandbox would have to mount ${ENTRIES + 1} entries`);
  await expect(start).rejects.toThrow('`unprotected_folders` under [sandbox_workspace_write]');
  world.sandboxAgain();
  expect(await world.bash('echo ran', { unprotected: [folder, ...others] })).toMatchObject({ exitCode: 0, stdout: 'ran\n' });
});

test('many writable roots, each with a link: the message is not that of bubblewrap', async () => {
  const roots = Array.from({ length: 34 }, (_, index) => {
    const root = world.folder('roots', `${index}`);
    for (let entry = 0; entry < 90; entry++) mkdirSync(join(root, `${entry}`));
    symlinkSync(world.outside, join(root, '.codex'));
    return root;
  });
  await expect(world.bash('echo ran', { writableRoots: roots })).rejects.toThrow('the sandbox would have to mount 90 entries');
});

test.each([8_000, 8_900, 8_950, 8_990, 9_000, 9_010, 20_000])(
  'a command with %i arguments runs, or is refused with the reason',
  async (count) => {
    const argv = ['bash', '-c', 'echo $#', 'bash', ...Array.from({ length: count }, String)];
    const ran = await world.run(argv).catch((error: Error) => error);
    if (ran instanceof Error)
      expect(ran.message).toMatch(/^the command has \d+ arguments, and in this sandbox at most 8\d{3} are possible\./);
    else expect(ran).toMatchObject({ exitCode: 0, stdout: `${count}\n` });
    expect(ran instanceof Error).toBe(count > 8_900);
  },
);
