import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type {
  ExternalAgentConfigImportTypeResult,
  ExternalAgentConfigWantedItem,
} from '../../src/protocol/generated/types.ts';
import { tempFolder, writeFiles } from '../config/temp-folder.ts';
import { startServer, type TestServer } from '../support/test-server.ts';

const CONFIG =
  'model = "m"\nmodel_provider = "test"\n\n[model_providers.test]\nbase_url = "http://127.0.0.1:9"\n';

async function start(
  files: Record<string, string>,
): Promise<TestServer & { user: string; repo: string }> {
  const folder = tempFolder({ 'repo/.git/HEAD': 'ref: refs/heads/x\n', 'user/x': '', ...files });
  const repo = join(folder, 'repo');
  const config = `${CONFIG}[projects.${JSON.stringify(repo)}]\ntrust_level = "trusted"\n`;
  const server = await startServer({ folder, config, env: { HOME: join(folder, 'user') } });
  return { ...server, user: join(folder, 'user'), repo };
}

async function imported(
  { client }: TestServer,
  items: Pick<ExternalAgentConfigWantedItem, 'itemType' | 'cwd'>[],
) {
  const migrationItems = items.map((each) => ({ description: '', ...each }));
  const { importId } = await client.request('externalAgentConfig/import', { migrationItems });
  const done = await client.waitFor(
    'externalAgentConfig/import/completed',
    (told) => told.importId === importId,
  );
  return done.itemTypeResults.map(shortResult);
}

const shortResult = ({ successes, failures }: ExternalAgentConfigImportTypeResult) => ({
  taken: successes.map(({ source, target, title }) => [source, target, title]),
  refused: failures.map(({ source, message, failureStage }) => [source, message, failureStage]),
});

test('sub-agents become roles of sub-agents', async () => {
  const reviewer = [
    'name: reviewer',
    'description: |\n  Reviews code.\n  Well.',
    'tools: Read, Grep',
    'model: opus',
    'permissionMode: plan',
  ].join('\n');
  const body = 'You review \\ code.\n"""\nTab\tand \x07 bell. """"';
  const server = await start({
    'user/.claude/agents/a.md': `---\n${reviewer}\n---\n${body}\n`,
    'user/.claude/agents/again.md': '---\nname: reviewer\ndescription: x\n---\nx\n',
    'user/.claude/agents/bare.md': 'Only text.\n',
    'user/.claude/agents/deep/one.md': '---\nname: deep\ndescription: x\n---\nx\n',
    'user/.claude/agents/empty.md': '---\nname: empty\ndescription: x\n---\n\n',
    'user/.claude/agents/explore.md': '---\nname: explorer\ndescription: x\n---\nx\n',
    'user/.claude/agents/yaml.md': '---\nname: [\n---\nx\n',
    'user/.claude/agents/z.md': '---\nname: ../z\ndescription: x\n---\nx\n',
    'repo/.claude/agents/b.md': '---\nname: own one\ndescription: Of the project.\n---\nWork.\n',
  });
  const { client, home, user, repo } = server;
  const { items } = await client.request('externalAgentConfig/detect', {
    includeHome: true,
    cwds: [repo],
  });
  expect(
    items.map(({ cwd, description, details }) => [cwd, description, details?.subagents]),
  ).toEqual([
    [
      null,
      `Migrate subagents from ${user}/.claude/agents to ${home}/agents`,
      [{ name: 'reviewer' }],
    ],
    [
      repo,
      `Migrate subagents from ${repo}/.claude/agents to ${repo}/.codex/agents`,
      [{ name: 'own one' }],
    ],
  ]);
  const folder = join(user, '.claude/agents');
  const both = [{ itemType: 'SUBAGENTS' as const }, { itemType: 'SUBAGENTS' as const, cwd: repo }];
  const name =
    'has no name that is a name of at most 64 letters, digits, spaces, dots, hyphens and underscores';
  const refused = [
    ['reviewer', 'two sub-agents have the name reviewer', 'select'],
    [join(folder, 'bare.md'), `${folder}/bare.md ${name}`, 'select'],
    ['empty', `${folder}/empty.md has no instructions`, 'select'],
    [
      'explorer',
      `${folder}/explore.md has the name of a built-in role of heddle, explorer`,
      'select',
    ],
    [join(folder, 'yaml.md'), `the front matter of ${folder}/yaml.md is not valid YAML`, 'read'],
    [join(folder, 'z.md'), `${folder}/z.md ${name}`, 'select'],
  ];
  expect(await imported(server, both)).toEqual([
    {
      taken: [
        ['reviewer', 'reviewer', 'without tools, model, of which heddle has no counterpart'],
        ['own one', 'own one', 'not in force before you trust the file'],
      ],
      refused,
    },
  ]);
  expect(readFileSync(join(home, 'agents/reviewer.toml'), 'utf8')).toBe(
    'name = "reviewer"\ndescription = "Reviews code. Well."\nsandbox_mode = "read-only"\ndeveloper_instructions = """\n' +
      'You review \\\\ code.\n""\\"\nTab\tand \\u0007 bell. ""\\""\n"""\n',
  );
  expect(readFileSync(join(repo, '.codex/agents/own-one.toml'), 'utf8')).toContain(
    'name = "own one"\n',
  );
  const [, ...others] = refused;
  const exists = [
    'reviewer',
    `${home}/agents/reviewer.toml exists already, and was not changed`,
    'write',
  ];
  expect(await imported(server, both)).toEqual([{ taken: [], refused: [exists, ...others] }]);
});

test('a role that is there stays as it is', async () => {
  const server = await start({
    'user/.claude/agents/a.md': '---\nname: a\ndescription: x\n---\nx\n',
  });
  writeFiles(server.home, { 'agents/a.toml': 'name = "a"\n' });
  const file = join(server.home, 'agents/a.toml');
  expect(await imported(server, [{ itemType: 'SUBAGENTS' }])).toEqual([
    { taken: [], refused: [['a', `${file} exists already, and was not changed`, 'write']] },
  ]);
  expect(readFileSync(file, 'utf8')).toBe('name = "a"\n');
});

test('an imported role counts as one of the user', async () => {
  const server = await start({
    'user/.claude/agents/a.md': '---\nname: checker\ndescription: Checks "all".\n---\nCheck \\n.\n',
  });
  await imported(server, [{ itemType: 'SUBAGENTS' }]);
  await server.client.request('thread/start', {});
  expect(server.client.notifications('configWarning')).toEqual([]);
});

test('commands become skills, and those that need what skills do not have are refused', async () => {
  const server = await start({
    'user/.claude/commands/fix.md':
      '---\ndescription: "Fixes: it"\nallowed-tools: Bash\n---\n\nFix it.\n',
    'user/.claude/commands/plain.md': 'Write to a@b.example and say $HOME.\n',
    'user/.claude/commands/team/ship.md': 'Ship.\n',
    'user/.claude/commands/team-ship.md': 'Ship, too.\n',
    'user/.claude/commands/args.md': 'Fix $ARGUMENTS\n',
    'user/.claude/commands/first.md': 'Fix $1\n',
    'user/.claude/commands/file.md': 'Read @src/a.ts\n',
    'user/.claude/commands/output.md': 'Look: !`git status`\n',
    'user/.claude/commands/a b.md': 'x\n',
    'user/.claude/commands/none.md': '---\ndescription: x\n---\n',
    'user/.claude/commands/notes.txt': 'x\n',
    'repo/.claude/commands/own.md': 'Own.\n',
    'secret.md': 'SECRET\n',
  });
  const { client, home, user, repo, folder: all } = server;
  symlinkSync(join(all, 'secret.md'), join(user, '.claude/commands/link.md'));
  const { items } = await client.request('externalAgentConfig/detect', {
    includeHome: true,
    cwds: [repo],
  });
  const names = ['fix', 'plain', 'team-ship'].map((each) => `source-command-${each}`);
  expect(items.map(({ cwd, details }) => [cwd, details?.commands])).toEqual([
    [null, names.map((name) => ({ name }))],
    [repo, [{ name: 'source-command-own' }]],
  ]);
  const folder = join(user, '.claude/commands');
  const [result] = await imported(server, [
    { itemType: 'COMMANDS' },
    { itemType: 'COMMANDS', cwd: repo },
  ]);
  expect(result?.taken.map(([source]) => source)).toEqual([...names, 'source-command-own']);
  expect(result?.refused).toEqual([
    [join(folder, 'link.md'), `${folder}/link.md is a link or another special file`, 'read'],
    [
      'source-command-a b',
      'source-command-a b is not a name of at most 64 letters, digits, ".", "-" and "_"',
      'select',
    ],
    [
      'source-command-args',
      `${folder}/args.md takes arguments ($ARGUMENTS), which skills do not`,
      'select',
    ],
    [
      'source-command-file',
      `${folder}/file.md takes the contents of a file (@path), which skills do not`,
      'select',
    ],
    [
      'source-command-first',
      `${folder}/first.md takes arguments ($ARGUMENTS), which skills do not`,
      'select',
    ],
    ['source-command-none', `${folder}/none.md has no text`, 'select'],
    [
      'source-command-output',
      `${folder}/output.md takes the output of a command (!\`…\`), which skills do not`,
      'select',
    ],
    [
      'source-command-team-ship',
      'two commands would be the skill source-command-team-ship',
      'select',
    ],
  ]);
  const { data } = await client.request('skills/list', { cwds: [repo], forceReload: true });
  const listed = data.flatMap(({ skills }) =>
    skills.map(({ name, description }) => [name, description]),
  );
  expect(listed.filter(([name]) => name?.startsWith('source-command')).sort()).toEqual([
    ['source-command-fix', 'Fixes: it'],
    ['source-command-own', 'Runs the command own of Claude Code.'],
    ['source-command-plain', 'Runs the command plain of Claude Code.'],
    ['source-command-team-ship', 'Runs the command team-ship of Claude Code.'],
  ]);
  expect(readFileSync(join(home, 'skills/source-command-fix/SKILL.md'), 'utf8')).toContain(
    '\n\nFix it.\n',
  );
  const again = await imported(server, [{ itemType: 'COMMANDS', cwd: repo }]);
  expect(again).toEqual([{ taken: [], refused: [] }]);
});

test('a limited number of folders is looked through for commands', async () => {
  const names = Array.from({ length: 25 }, (_, index) => String(index));
  const deep = names.flatMap((one) =>
    names.map((other) => [`user/.claude/commands/${one}/${other}/x.txt`, '']),
  );
  const server = await start({
    'user/.claude/commands/a.md': 'Do it.\n',
    ...Object.fromEntries(deep),
  });
  const folder = join(server.user, '.claude/commands');
  expect(await imported(server, [{ itemType: 'COMMANDS' }])).toEqual([
    {
      taken: [['source-command-a', 'source-command-a', null]],
      refused: [[folder, `${folder} has more than 500 folders: the others are left out`, 'read']],
    },
  ]);
});
