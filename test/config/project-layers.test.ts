import { symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { configErrorOf, sourcesIn, trustToml } from './load.ts';
import { tempFolder, tempRepository, writeFiles } from './temp-folder.ts';

const loadIn = (cwd: string, user: string) =>
  loadConfig(sourcesIn(tempFolder({ 'config.toml': user }), { cwd }));

describe('an untrusted project sets nothing', () => {
  const entries: [string, (folder: string) => string][] = [
    ['without an entry', () => ''],
    ['with the entry of another folder', (folder) => trustToml(`${folder}x`)],
    ['with the entry of a folder above the repository', (folder) => trustToml(join(folder, '..'))],
    ['called untrusted', (folder) => trustToml(folder, 'untrusted')],
    [
      'with a level of another type',
      (folder) => `[projects.${JSON.stringify(folder)}]\ntrust_level = true\n`,
    ],
    [
      'with an entry that is no table',
      (folder) => `[projects]\n${JSON.stringify(folder)} = "trusted"\n`,
    ],
    ['with a relative entry', (folder) => trustToml(relative(process.cwd(), folder))],
    ['projects is no table', () => 'projects = "trusted"\n'],
  ];
  test.each(entries)('%s', async (_, entry) => {
    const folder = tempRepository({ '.codex/config.toml': 'model = "theirs"\n' });
    const config = await loadIn(folder, entry(folder));
    expect(config.get('model')).toBe(null);
    expect(config.layers.at(-1)).toMatchObject({
      name: { type: 'project', dotCodexFolder: join(folder, '.codex') },
      config: {},
      disabledReason: expect.stringContaining(`${folder} is not trusted`),
    });
  });

  test('and is not even parsed', async () => {
    const folder = tempRepository({ '.codex/config.toml': 'model = [broken' });
    expect((await loadIn(folder, '')).get('model')).toBe(null);
  });

  test('and it cannot trust itself', async () => {
    const folder = tempRepository({});
    writeFiles(folder, {
      '.codex/config.toml': trustToml(folder),
      'a/.codex/config.toml': 'model = "theirs"\n',
    });
    expect((await loadIn(join(folder, 'a'), '')).get('model')).toBe(null);
  });
});

test('the folders from the root to the cwd count, inner ones override outer ones, and other folders do not count', async () => {
  const folder = tempRepository({
    '.codex/config.toml': 'model = "root"\nservice_tier = "flex"\n',
    'a/.codex/config.toml': 'model = "a"\n',
    'a/b/.codex/config.toml': 'model = "b"\n',
    'c/.codex/config.toml': 'model = "c"\n',
  });
  const config = await loadIn(join(folder, 'a'), `model = "user"\n${trustToml(folder)}`);
  expect([config.get('model'), config.get('service_tier')]).toEqual(['a', 'flex']);
});

test('the entry of the nearest folder decides', async () => {
  const folder = tempRepository({
    '.codex/config.toml': 'model = "root"\n',
    'a/.codex/config.toml': 'model = "a"\n',
  });
  const user = trustToml(folder) + trustToml(join(folder, 'a'), 'untrusted');
  expect((await loadIn(join(folder, 'a'), user)).get('model')).toBe('root');
});

test('without a repository, only the cwd counts', async () => {
  const folder = tempFolder({
    '.codex/config.toml': 'model = "outer"\n',
    'a/.codex/config.toml': 'model = "inner"\n',
  });
  expect(
    (await loadIn(join(folder, 'a'), trustToml(folder) + trustToml(join(folder, 'a')))).get(
      'model',
    ),
  ).toBe('inner');
});

test('symbolic links are resolved in the cwd and in the entry', async () => {
  const folder = tempRepository({ '.codex/config.toml': 'model = "project"\n' });
  const link = join(tempFolder(), 'link');
  symlinkSync(folder, link);
  expect((await loadIn(link, trustToml(folder))).get('model')).toBe('project');
  expect((await loadIn(folder, trustToml(link))).get('model')).toBe('project');
});

test('a home that is the .codex of the cwd is not a project too', async () => {
  const folder = tempRepository({ '.codex/config.toml': 'model = "mine"\n' });
  const config = await loadConfig(sourcesIn(join(folder, '.codex'), { cwd: folder }));
  expect(config.layers.map((layer) => layer.name.type)).toEqual(['user']);
});

test('a trusted file that does not parse is refused by its name', async () => {
  const folder = tempRepository({ '.codex/config.toml': 'model = [broken' });
  const error = await configErrorOf(() => loadIn(folder, trustToml(folder)));
  expect(error.message).toBe(
    `invalid config: ${join(folder, '.codex', 'config.toml')}:1:10: not valid TOML: invalid value`,
  );
});

test('a file that is a link out of a trusted project is not read', async () => {
  const folder = tempRepository({ '.codex/x': '' });
  symlinkSync(
    join(tempFolder({ 'config.toml': 'model = "theirs"\n' }), 'config.toml'),
    join(folder, '.codex', 'config.toml'),
  );
  const config = await loadIn(folder, trustToml(folder));
  expect(config.get('model')).toBe(null);
  expect(config.layers.at(-1)?.disabledReason).toBe(
    `${join(folder, '.codex', 'config.toml')} is a symbolic link that leads out of the project`,
  );
});
