import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { leavingDoubt } from '../../src/policy/outside/leaving-doubt.ts';
import { parseCommand } from '../../src/policy/parse/parse-command.ts';
import { leavingFacts } from '../../src/tools/command/outside/leaving-facts.ts';
import { tempFolder } from '../config/temp-folder.ts';

/** The doubt about `git status` in a plain repository, with these settings of the user. */
async function doubtWith(settings: string): Promise<string | null> {
  const base = tempFolder();
  const cwd = join(base, 'work');
  for (const folder of ['objects', 'refs', 'hooks'])
    mkdirSync(join(cwd, '.git', folder), { recursive: true });
  writeFileSync(join(cwd, '.git', 'HEAD'), 'ref: refs/heads/main\n');
  mkdirSync(join(base, 'home'));
  writeFileSync(join(base, 'home', '.gitconfig'), settings);
  const command = await parseCommand(['bash', '-lc', 'git status']);
  const facts = await leavingFacts({
    commands: command.commands ?? [],
    cwd,
    env: { HOME: join(base, 'home') },
    roots: [cwd],
  });
  return facts === null ? 'no facts' : leavingDoubt(command, cwd, facts);
}

test('git leaves the sandbox with settings of the user that name no hooks of commands', async () => {
  expect(await doubtWith('[user]\n\tname = Ada\n[core]\n\thooksPath = ~/hooks\n')).toBeNull();
});

test.each([
  ['are not understood', '[core\nhooksPath = hooks'],
  ['are too large', `#${'x'.repeat(2 ** 20)}\n`],
  [
    'include too many files',
    Array.from({ length: 40 }, (_, index) => `[include]\n\tpath = f${index}\n`).join(''),
  ],
  ['include something that is no file', '[include]\n\tpath = .\n'],
  ['name hooks in the home of another user', '[core]\n\thooksPath = ~root/hooks\n'],
])(
  'git does not leave the sandbox by a rule if the settings of the user %s',
  async (_what, settings) => {
    expect(await doubtWith(settings)).toContain(
      'git settings of the user or the machine cannot be read',
    );
  },
);
