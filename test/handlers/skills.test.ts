import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeFiles } from '../config/temp-folder.ts';
import { TestModel } from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';

const skillFile = (name: string, extra = '') =>
  `---\nname: ${name}\ndescription: The ${name} skill\n${extra}---\n\nBODY-OF-${name}\n`;

async function serverWith(
  files: Record<string, string> = {},
): Promise<TestServer & { skills: (cwd?: string) => Promise<string[]> }> {
  const server = await startServer({
    files: { 'home/skills/mine/SKILL.md': skillFile('mine'), ...files },
  });
  const skills = async (cwd = server.cwd) => {
    const { data } = await server.client.request('skills/list', { cwds: [cwd] });
    return (data[0]?.skills ?? []).map(({ name, enabled }) => (enabled ? name : `${name} off`));
  };
  return { ...server, skills };
}

/**
 * Resolves when skills/changed has come once more. The clock stands still, so the time for which
 * changes are collected is passed.
 */
async function changed({ client, clock }: TestServer, change: () => void): Promise<void> {
  const next = client.next('skills/changed', ({ method }) => method === 'skills/changed');
  const due = clock.timerOf(500);
  change();
  await due;
  clock.advance(500);
  await next;
}

describe('skills/list', () => {
  test('lists the skills of the user and of the project, with how to show them, and the files that cannot be used', async () => {
    const { client, home, cwd } = await serverWith({
      'home/skills/mine/agents/openai.yaml':
        'interface:\n  display_name: Mine!\n  short_description: short\n  icon_small: ./assets/s.png\n  icon_large: ../../out.png\n' +
        '  brand_color: "#11aaFF"\n  default_prompt: Do it\ndependencies:\n  tools:\n    - type: mcp\n      value: docs\n      url: https://docs.example\n    - 5\n',
      'home/skills/bad/SKILL.md': 'no front matter',
      'work/.git/HEAD': '',
      'work/.agents/skills/local/SKILL.md': skillFile(
        'local',
        'metadata:\n  short-description: For people\n',
      ),
      'work/.agents/skills/local/agents/openai.yaml': 'interface: [',
    });
    const plain = {
      shortDescription: null,
      interface: null,
      dependencies: null,
      enabled: true,
      pluginId: null,
    };
    const none = { iconLarge: null, iconSmallUrl: null, iconLargeUrl: null };
    const shown = {
      displayName: 'Mine!',
      shortDescription: 'short',
      brandColor: '#11aaFF',
      defaultPrompt: 'Do it',
      ...none,
    };
    const tool = {
      type: 'mcp',
      value: 'docs',
      description: null,
      transport: null,
      command: null,
      url: 'https://docs.example',
    };
    const local = join(cwd, '.agents', 'skills', 'local');
    const mine = join(home, 'skills', 'mine');
    expect(await client.request('skills/list', { cwds: [cwd] })).toEqual({
      data: [
        {
          cwd,
          skills: [
            {
              ...plain,
              name: 'local',
              description: 'The local skill',
              shortDescription: 'For people',
              path: join(local, 'SKILL.md'),
              scope: 'repo',
            },
            {
              ...plain,
              name: 'mine',
              description: 'The mine skill',
              interface: { ...shown, iconSmall: join(mine, 'assets', 's.png') },
              dependencies: { tools: [tool] },
              path: join(mine, 'SKILL.md'),
              scope: 'user',
            },
          ],
          errors: [
            {
              path: join(home, 'skills', 'bad', 'SKILL.md'),
              message: expect.stringContaining('no front matter'),
            },
            { path: join(local, 'agents', 'openai.yaml'), message: expect.any(String) },
          ],
        },
      ],
    });
  });

  test('lists them for several folders, and for that of the server by default; a folder need not exist', async () => {
    const { client, cwd } = await serverWith({
      'work/.git/HEAD': '',
      'work/.agents/skills/local/SKILL.md': skillFile('local'),
    });
    const names = async (cwds?: string[]) => {
      const { data } = await client.request('skills/list', cwds === undefined ? {} : { cwds });
      return data.map((entry) => [entry.cwd, entry.skills.map(({ name }) => name)]);
    };
    expect(await names()).toEqual([[cwd, ['local', 'mine']]]);
    expect(await names(['/nowhere', '.'])).toEqual([
      ['/nowhere', ['mine']],
      ['.', ['local', 'mine']],
    ]);
    expect(await client.refusal('skills/list', { cwds: Array(51).fill('/x') })).toMatchObject({
      message: expect.stringContaining('at most 50'),
    });
  });
});

test.each([
  ['of the home', (home: string) => join(home, 'config.toml')],
  ['of a trusted project', (_home: string, cwd: string) => join(cwd, '.codex', 'config.toml')],
])(
  'skills/list tells that the config.toml %s cannot be parsed, and lists the skills',
  async (_, fileIn) => {
    const { client, home, cwd } = await serverWith({
      'work/.git/HEAD': '',
      'work/.agents/skills/local/SKILL.md': skillFile('local'),
    });
    const file = fileIn(home, cwd);
    const config = join(home, 'config.toml');
    writeFileSync(
      config,
      `${readFileSync(config, 'utf8')}\n[projects."${cwd}"]\ntrust_level = "trusted"\n`,
    );
    mkdirSync(join(cwd, '.codex'));
    writeFileSync(file, 'model = \n');
    const { data } = await client.request('skills/list', { cwds: [cwd, '/nowhere'] });
    const problem = { path: file, message: expect.stringContaining(`${file}:1:`) };
    const isHome = file === config;
    expect(data.map(({ skills, errors }) => [skills.map(({ name }) => name), errors])).toEqual([
      [['local', 'mine'], [problem]],
      [['mine'], isHome ? [problem] : []],
    ]);
  },
);

describe('skills/config/write', () => {
  test('switches a skill off and on by its path: config.toml, the list, the model, and $name', async () => {
    const server = await serverWith();
    const { client, home, cwd, model, skills } = server;
    const path = join(home, 'skills', 'mine', 'SKILL.md');
    const config = () => readFileSync(join(home, 'config.toml'), 'utf8');
    const before = config();
    expect(await client.request('skills/config/write', { path, enabled: false })).toEqual({
      effectiveEnabled: false,
    });
    expect(config()).toContain(`config = [ { path = "${path}", enabled = false } ]`);
    expect(await skills(cwd)).toEqual(['mine off']);
    await client.waitFor('skills/changed');

    const { thread } = await client.request('thread/start', {});
    await client.turn(thread.id, 'use $mine');
    expect(JSON.stringify(model.requests.at(-1)?.input)).not.toContain('The mine skill');
    expect(JSON.stringify(model.requests.at(-1)?.input)).not.toContain('BODY-OF-mine');

    expect(await client.request('skills/config/write', { path, enabled: true })).toEqual({
      effectiveEnabled: true,
    });
    expect(config()).not.toContain(path);
    expect(config().startsWith(before.trimEnd())).toBe(true);
    expect(await skills(cwd)).toEqual(['mine']);
  });

  test('by name, for all skills of that name; entries about other skills stay', async () => {
    const other = '# Mine.\n[[skills.config]]\nname = "other"\nenabled = false # for now\n';
    const { client, home, skills } = await serverWith({
      'home/skills/more/SKILL.md': skillFile('mine'),
    });
    writeFileSync(
      join(home, 'config.toml'),
      `${readFileSync(join(home, 'config.toml'), 'utf8')}${other}`,
    );
    expect(await client.request('skills/config/write', { name: 'mine', enabled: false })).toEqual({
      effectiveEnabled: false,
    });
    expect(await skills()).toEqual(['mine off', 'mine off']);
    expect(readFileSync(join(home, 'config.toml'), 'utf8')).toContain(
      'name = "other"\nenabled = false',
    );
    expect(await client.request('skills/config/write', { name: 'mine', enabled: true })).toEqual({
      effectiveEnabled: true,
    });
    expect(await skills()).toEqual(['mine', 'mine']);
  });

  test('tells if another entry keeps the skill off', async () => {
    const { client, home } = await serverWith();
    const path = join(home, 'skills', 'mine', 'SKILL.md');
    await client.request('skills/config/write', { name: 'mine', enabled: false });
    expect(await client.request('skills/config/write', { path, enabled: true })).toEqual({
      effectiveEnabled: false,
    });
  });

  test.each([
    [{ enabled: false }, -32602],
    [{ enabled: false, name: 'x', path: '/x' }, -32602],
    [{ enabled: false, name: ' ' }, -32602],
    [{ enabled: false, path: 'x' }, -32600],
  ])('refuses %j', async (params, code) => {
    const { client } = await serverWith();
    expect(await client.refusal('skills/config/write', params)).toMatchObject({ code });
  });

  test('an invalid skills.config is named in a configWarning, and blocks no thread', async () => {
    const server = await startServer({
      config:
        'model = "m"\nmodel_provider = "test"\n[model_providers.test]\nbase_url = "http://127.0.0.1:9"\n[skills]\nconfig = [{ enabled = 1 }]\n',
    });
    const warning = await server.client.waitFor('configWarning');
    expect(warning.summary).toContain('skills.config: expected a list of tables');
    await server.client.request('thread/start', {});
  });
});

describe('skills/extraRoots/set', () => {
  test('adds folders for lists and for threads, until it is set again', async () => {
    const server = await serverWith({ 'extra/x/SKILL.md': skillFile('extra') });
    const { client, folder, model, skills } = server;
    expect(
      await client.request('skills/extraRoots/set', { extraRoots: [join(folder, 'extra')] }),
    ).toEqual({});
    await client.waitFor('skills/changed');
    expect(await skills()).toEqual(['extra', 'mine']);
    const { thread } = await client.request('thread/start', {});
    await client.turn(thread.id, 'hi');
    expect(JSON.stringify(model.requests.at(-1)?.input)).toContain('- extra: The extra skill');
    await client.request('skills/extraRoots/set', { extraRoots: [] });
    expect(await skills()).toEqual(['mine']);
  });

  test('refuses relative folders and too many', async () => {
    const { client } = await serverWith();
    expect(await client.refusal('skills/extraRoots/set', { extraRoots: ['x'] })).toMatchObject({
      code: -32600,
    });
    expect(
      await client.refusal('skills/extraRoots/set', { extraRoots: Array(51).fill('/x') }),
    ).toMatchObject({ code: -32600 });
  });
});

describe('skills/changed', () => {
  test('comes when a listed skill is added, changed or removed, also in a folder that is new', async () => {
    const server = await serverWith();
    const { cwd, home, skills } = server;
    await skills();
    await changed(server, () =>
      writeFileSync(join(home, 'skills', 'mine', 'SKILL.md'), skillFile('renamed')),
    );
    expect(await skills()).toEqual(['renamed']);
    await changed(server, () => writeFiles(home, { 'skills/new/SKILL.md': skillFile('new') }));
    expect(await skills()).toEqual(['new', 'renamed']);
    await changed(server, () => rmSync(join(home, 'skills', 'new'), { recursive: true }));
    expect(await skills()).toEqual(['renamed']);
    await changed(server, () =>
      mkdirSync(join(cwd, '.agents', 'skills', 'local'), { recursive: true }),
    );
  });
});

test('skills beyond the limit are told by skills/list and by a thread', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 501 }, (_, n) => [`home/skills/s${n}/SKILL.md`, skillFile(`s${n}`)]),
  );
  const { client, home } = await startServer({ files: many, model: new TestModel() });
  const path = join(home, 'skills');
  const message = '1 skills are left out, because there are more than 500';
  const { data } = await client.request('skills/list', {});
  expect(data.map(({ errors }) => errors)).toEqual([[{ path, message }]]);
  await client.request('thread/start', {});
  await client.waitFor('warning', ({ message: text }) => text === `Skills in ${path}: ${message}.`);
});

test('a thread whose list of skills is too long says which skills the model gets no description of', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 400 }, (_, n) => [
      `home/skills/s${n}/SKILL.md`,
      skillFile(`s${n}`, '').replace('The', 'x'.repeat(100)),
    ]),
  );
  const { client } = await startServer({ files: many, model: new TestModel() });
  await client.request('thread/start', {});
  const { message } = await client.waitFor('warning', ({ message: text }) =>
    text.includes('skills'),
  );
  expect(message).toMatch(
    /^The list of skills is too long\. The model does not get the descriptions of \d+ of them: s\d+, /,
  );
});
