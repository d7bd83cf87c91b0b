import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { trustProject } from '../../src/cli/trust-project.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { sourcesIn } from '../config/load.ts';
import { tempFolder, writeFiles } from '../config/temp-folder.ts';

const FILE = '.codex/config.toml';

/**
 * A project that the user trusts and that heddle has seen, and the command in one of its folders.
 */
async function seenProject(seen: Record<string, string>) {
  const base = tempFolder({ 'project/.git/HEAD': '' });
  const [home, project] = [join(base, 'home'), join(base, 'project')];
  writeFiles(project, seen);
  writeFiles(home, {
    'config.toml': `[projects.${JSON.stringify(project)}]\ntrust_level = "trusted"\n`,
  });
  const layersIn = async (folder = '') =>
    (await loadConfig(sourcesIn(home, { cwd: join(project, folder) }))).layers.slice(1);
  await layersIn();
  const questions: string[] = [];
  const run = async (
    answer: (() => boolean) | null,
    { folder = '', yes = false, systemDir = null as string | null } = {},
  ) => {
    let shown = '';
    const confirm = async (question: string) => {
      questions.push(question);
      return answer?.() === true;
    };
    const print = (text: string) => {
      shown += text;
    };
    const terminal = {
      print,
      note: print,
      columns: null,
      confirm: answer === null ? null : confirm,
    };
    const isDone = await trustProject(
      { home, systemDir, folder: join(project, folder), yes },
      terminal,
    );
    return { isDone, shown };
  };
  return { home, project, record: join(home, 'heddle-trust.jsonl'), layersIn, questions, run };
}

test('shows each new and changed file with its content, asks, and trusts them', async () => {
  const { project, questions, run, layersIn } = await seenProject({ [FILE]: 'model = "a"\n' });
  writeFiles(project, {
    [FILE]: 'model = "b"\n',
    [`sub/${FILE}`]: 'model = "c"\n\npersonality = "friendly"\n',
  });
  const { isDone, shown } = await run(() => true, { folder: 'sub' });
  expect(shown).toBe(`${join(project, FILE)} has changed since you trusted it:
  | model = "b"

${join(project, 'sub', FILE)} is new:
  | model = "c"
  | 
  | personality = "friendly"

Trusted. It applies to threads that are started, resumed or forked from now on.
`);
  expect([isDone, questions]).toEqual([true, ['Trust these 2 contents? [y/N] ']]);
  expect(
    (await layersIn('sub')).map(({ config, disabledReason }) => [config.model, disabledReason]),
  ).toEqual([
    ['b', null],
    ['c', null],
  ]);
});

test('no is the answer unless the user says yes, and then nothing is recorded', async () => {
  const { project, record, questions, run, layersIn } = await seenProject({});
  writeFiles(project, { [FILE]: 'model = "b"\n' });
  const before = readFileSync(record, 'utf8');
  expect((await run(() => false)).isDone).toBe(false);
  expect([questions, readFileSync(record, 'utf8')]).toEqual([
    ['Trust this content? [y/N] '],
    before,
  ]);
  expect(await layersIn()).toMatchObject([
    { config: {}, disabledReason: expect.stringContaining('you have not trusted its content yet') },
  ]);
});

test('trusts the content that it has shown, even if the file changes while it asks', async () => {
  const { project, run, layersIn } = await seenProject({});
  writeFiles(project, { [FILE]: 'model = "shown"\n' });
  const { isDone, shown } = await run(() => {
    writeFiles(project, { [FILE]: 'model = "swapped"\n' });
    return true;
  });
  expect([isDone, shown.includes('shown"')]).toEqual([true, true]);
  expect(await layersIn()).toMatchObject([{ config: {} }]);
  writeFiles(project, { [FILE]: 'model = "shown"\n' });
  expect(await layersIn()).toMatchObject([{ config: { model: 'shown' } }]);
});

test('control and invisible characters of a content and of a path are visible', async () => {
  const { project, run } = await seenProject({});
  const folder = 's\u001b[2Jub\n';
  writeFiles(project, { [`${folder}/${FILE}`]: '# \u001b[2J\u202e\u200bx\r\nmodel = "ü"\t# 東\n' });
  const { shown } = await run(() => false, { folder });
  expect(shown).toBe(`${project}/s\\x1b[2Jub\\n/${FILE} is new:
  | # \\x1b[2J\\u{202e}\\u{200b}x\\r
  | model = "ü"\t# 東

`);
});

test('--yes trusts without asking; without it and without a person, nothing happens', async () => {
  const { project, record, questions, run } = await seenProject({});
  writeFiles(project, { [FILE]: 'model = "b"\n' });
  const before = readFileSync(record, 'utf8');
  await expect(run(null)).rejects.toThrow(
    'trust: nobody can answer, because the input is not a terminal: use --yes',
  );
  expect(readFileSync(record, 'utf8')).toBe(before);
  expect(await run(null, { yes: true })).toMatchObject({
    isDone: true,
    shown: expect.stringContaining('| model = "b"'),
  });
  expect(questions).toEqual([]);
});

test('says so if there is nothing to trust', async () => {
  const { project, run } = await seenProject({ [FILE]: '' });
  expect(await run(null)).toEqual({
    isDone: true,
    shown: `There is nothing to trust. These files are in force:\n  ${join(project, FILE)}\n`,
  });
  const empty = await seenProject({});
  expect(await empty.run(null)).toEqual({
    isDone: true,
    shown: 'There is nothing to trust: no file of the project sets anything here.\n',
  });
});

test('a project that config.toml does not trust: says what to add, and records nothing', async () => {
  const { home, project, run, record } = await seenProject({ [FILE]: 'model = "b"\n' });
  writeFileSync(join(home, 'config.toml'), '');
  const before = readFileSync(record, 'utf8');
  expect(await run(null, { yes: true })).toEqual({
    isDone: false,
    shown: `${project} is not trusted. To trust it, set trust_level = "trusted" under [projects."${project}"] in the config.toml in your heddle home.\n\n`,
  });
  expect(readFileSync(record, 'utf8')).toBe(before);
});

test('a missing folder and a broken record are errors', async () => {
  const { project, record, run } = await seenProject({});
  await expect(run(null, { folder: 'missing' })).rejects.toThrow(
    `trust ${join(project, 'missing')}: there is no such folder`,
  );
  writeFileSync(record, 'broken');
  await expect(run(null, { yes: true })).rejects.toThrow(
    `${record} cannot be read: line 1 is not valid`,
  );
  expect(existsSync(record)).toBe(true);
});

test('trusts the files of a project that the administrator trusts for all users', async () => {
  const { home, project, run } = await seenProject({});
  writeFiles(home, { 'config.toml': '' });
  const systemDir = tempFolder({
    'config.toml': `[projects.${JSON.stringify(project)}]\ntrust_level = "trusted"\n`,
  });
  writeFiles(project, { [FILE]: 'model = "b"\n' });
  expect(await run(() => true, { systemDir })).toMatchObject({
    isDone: true,
    shown: expect.stringContaining('| model = "b"'),
  });
  const { layers } = await loadConfig({ ...sourcesIn(home, { cwd: project }), systemDir });
  expect(layers.find(({ name }) => name.type === 'project')).toMatchObject({
    disabledReason: null,
    config: { model: 'b' },
  });
});
