// @module-tag slow
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ServerProgram } from '../../../src/sandbox/server-programs/server-program.ts';
import { ServerPrograms } from '../../../src/sandbox/server-programs/server-programs.ts';
import { tempFolder } from '../../config/temp-folder.ts';

const FILES = { 'a/run.js': '', 'b/run.js': '', 'user/x': '' };
/** Commands that can write everything. */
const COMMANDS = { canWrite: () => true, isGuard: () => false };

function world() {
  const folder = tempFolder(FILES);
  let time = 0;
  let list: ServerProgram[] = [];
  const known = new ServerPrograms({
    clock: { monotonic: () => time },
    env: { HOME: join(folder, 'user') },
  });
  known.listBy(() => list);
  const program = (argv: readonly string[], env: Record<string, string> = {}): ServerProgram => {
    return {
      of: 'a test',
      argv,
      cwd: folder,
      env: { PATH: join(folder, 'bin'), ...env },
      kind: 'configured',
    };
  };
  const load = (
    programs: ServerProgram[],
    commands: typeof COMMANDS | Parameters<typeof known.note>[0] = COMMANDS,
  ) => {
    list = programs;
    time += 60_000;
    return known.note(commands);
  };
  return { folder, known, program, load };
}

test('programs that differ only in a variable have files of their own', async () => {
  const { folder, known, program, load } = world();
  const argv = ['/bin/sh', '-c', 'node "$TOOLS/run.js"'];
  const both = ['a', 'b'].map((name) => program(argv, { TOOLS: join(folder, name) }));
  await load(both);
  const found = (await known.files()).map(({ path }) => path);
  expect(found.filter((path) => path.endsWith('run.js')).sort()).toEqual([
    join(folder, 'a/run.js'),
    join(folder, 'b/run.js'),
  ]);
  writeFileSync(join(folder, 'b/run.js'), 'changed');
  const refusals = await Promise.all(both.map((one) => known.refusal(one, COMMANDS)));
  expect(refusals).toEqual([null, expect.stringContaining('b/run.js is new or has changed')]);
});

/** Programs that name 1,000 files each. */
function many(
  program: (argv: readonly string[]) => ServerProgram,
  from: number,
  count: number,
): ServerProgram[] {
  const scripts = (index: number) =>
    Array.from({ length: 990 }, (_, file) => `${index}/${file}.js`);
  return Array.from({ length: count }, (_, index) => program(['node', ...scripts(from + index)]));
}

test('beyond the most files that are remembered, a program whose files are not known is not started', async () => {
  const { folder, known, program, load } = world();
  const one = program(['node', 'a/run.js']);
  await load([one, ...many(program, 0, 10)]);
  expect(await known.refusal(one, COMMANDS)).toBeNull();
  const other = program(['node', 'b/run.js']);
  const all = [one, ...many(program, 0, 11)];
  await load(all);
  await load([...all, other]);
  writeFileSync(join(folder, 'b/run.js'), 'changed');
  expect(await known.refusal(one, COMMANDS)).toBeNull();
  expect(await known.refusal(other, COMMANDS)).toContain(
    'heddle cannot tell whether those of a test have changed',
  );
  // Nor when there is room again, which others get.
  await load([one]);
  const late = program(['node', 'user/late.js']);
  expect(await known.refusal(late, COMMANDS)).toBeNull();
  expect(await known.refusal(other, COMMANDS)).toContain(
    'heddle cannot tell whether those of a test have changed',
  );
});

test('beyond the most files that are remembered, a program that commands cannot write is started', async () => {
  const { folder, known, program, load } = world();
  const commands = {
    canWrite: (paths: readonly string[]) => paths.some((path) => path.startsWith(folder)),
    isGuard: () => false,
  };
  const installed = program(['/bin/sh', '-c', '/bin/true'], { PATH: '/bin' });
  await load([installed, ...many(program, 0, 11)], commands);
  expect(await known.refusal(program(['node', 'b/run.js']), commands)).toContain(
    'heddle cannot tell whether those of a test have changed',
  );
  expect(await known.refusal(installed, commands)).toBeNull();
});

test('the files of programs that are not loaded any more are forgotten, unless they have changed', async () => {
  const { folder, known, program, load } = world();
  const changed = program(['node', 'a/run.js']);
  const one = program(['node', 'b/run.js']);
  await load([changed]);
  writeFileSync(join(folder, 'a/run.js'), 'changed');
  for (let round = 0; round < 3; round += 1) await load([one, ...many(program, 6 * round, 6)]);
  expect(await known.refusal(one, COMMANDS)).toBeNull();
  expect(await known.refusal(changed, COMMANDS)).toContain('a/run.js is new or has changed');
  expect(await known.refusal(program(['node', 'absent.js']), COMMANDS)).toBeNull();
});
