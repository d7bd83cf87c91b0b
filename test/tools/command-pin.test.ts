import { appendFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCommand } from '../../src/policy/command/parse-command.ts';
import { CommandPin } from '../../src/tools/command/outside/command-pin.ts';
import { tempFolder } from '../config/temp-folder.ts';

const FILES = ['run.sh', 'lib/x.py', 'Makefile', 'data'];
/** Commands in the folder `work`, with the files that decide what they do. */
const COMMANDS: [script: string, code: string[]][] = [
  ['./run.sh', ['run.sh']],
  ['python3 lib/x.py data', ['lib/x.py', 'data']],
  ['timeout 5 make -j2', ['Makefile']],
  ['make --file=data', ['Makefile', 'data']],
  ['cd lib && ./x.py', ['lib/x.py', 'lib']],
  ['env A=1 sh -c "./run.sh 2>&1"', ['run.sh']],
  ['if true; then . lib/x.py; fi', ['lib/x.py']],
  ['cat run.sh lib/x.py data', []],
  ['touch new run.sh', []],
  ['git commit -am "Change it"', []],
];
const CHANGES: Record<string, (path: string) => void> = {
  rewritten: (path) => {
    renameSync(path, `${path}.old`);
    writeFileSync(path, 'other');
  },
  extended: (path) => appendFileSync(path, 'more'),
  'a link elsewhere': (path) => {
    renameSync(path, `${path}.old`);
    symlinkSync('/etc/hostname', path);
  },
  gone: (path) => rmSync(path),
};

test('a pin notices every change of what decides what a command does, and no other', async () => {
  const base = tempFolder();
  let count = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...COMMANDS),
      fc.option(fc.constantFrom(...FILES, 'lib', '.', 'unrelated'), { nil: null }),
      fc.constantFrom(...Object.keys(CHANGES)),
      async ([script, code], changed, how) => {
        const cwd = join(base, String(count++));
        mkdirSync(join(cwd, 'lib'), { recursive: true });
        for (const file of FILES) writeFileSync(join(cwd, file), file);
        const command = await parseCommand(['bash', '-lc', script]);
        const pin = await CommandPin.take({ command, cwd, searchPath: '/usr/bin:/bin' }, [cwd]);
        try {
          change(cwd, changed, how);
          const isData = code.length === 0 && how === 'a link elsewhere' && changed !== null && script.includes(changed);
          const isBelowChanged = (file: string) => file === changed || file.startsWith(`${changed}/`);
          expect((await pin.changed()) !== null).toBe(changed === '.' || isData || code.some(isBelowChanged));
          // Whatever has the name now, the pinned folder is the one that was judged.
          if (changed === '.') expect([statSync(`${pin.folder}/data`).isFile(), existsSync(join(cwd, 'data'))]).toEqual([true, false]);
        } finally {
          await pin.close();
        }
      },
    ),
    { seed: 11, numRuns: 300 },
  );
});

function change(cwd: string, changed: string | null, how: string): void {
  if (changed === null) return;
  const path = changed === '.' ? cwd : join(cwd, changed);
  if (changed === 'unrelated') writeFileSync(path, 'x');
  else if (changed === '.' || changed === 'lib') {
    renameSync(path, `${path}.old`);
    if (how === 'a link elsewhere') symlinkSync('/etc', path);
    else mkdirSync(path);
  } else CHANGES[how]?.(path);
}
