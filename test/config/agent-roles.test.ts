import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AgentRoles } from '../../src/config/agents/agent-role.ts';
import { type ConfigSources, loadConfig } from '../../src/config/load-config.ts';
import { configWarnings, projectProblems } from '../../src/config/problems/config-warnings.ts';
import { TrustRecordFile } from '../../src/config/trust/trust-record-file.ts';
import { sourcesIn } from './load.ts';
import { tempFolder, writeFiles } from './temp-folder.ts';

const env = { OPENAI_API_KEY: 'k' };
const UNUSABLE = 'No sub-agent can have this role until you correct it. Everything else works.';

/** The roles of a home with these files. */
async function rolesOf(
  files: Record<string, string>,
  sources: Partial<ConfigSources> = {},
): Promise<AgentRoles & { home: string }> {
  const home = tempFolder(files);
  const { agentRoles } = await loadConfig(sourcesIn(home, { env, ...sources }));
  return { ...agentRoles, home };
}

/** A project with these files that the user trusts, with this config.toml in the home. */
function projectOf(files: Record<string, string>, user = ''): ConfigSources & { folder: string } {
  const folder = tempFolder(files);
  mkdirSync(join(folder, '.git', 'refs'), { recursive: true });
  const home = tempFolder({
    'config.toml': `${user}\n[projects.${JSON.stringify(folder)}]\ntrust_level = "trusted"\n`,
  });
  return { folder, ...sourcesIn(home, { cwd: folder, env }) };
}

describe('roles of the user', () => {
  test('of more than 256 roles, the first ones by name can be used, and the others are told', async () => {
    const tables = Array.from(
      { length: 300 },
      (_, index) => `[agents.r${index + 100}]\ndescription = "d"\n`,
    );
    const { roles, problems } = await rolesOf({ 'config.toml': tables.join('') });
    expect(roles.map(({ name }) => name)).toEqual(
      Array.from({ length: 256 }, (_, index) => `r${index + 100}`),
    );
    expect(problems).toMatchObject([
      {
        role: null,
        summary: 'there are 300 roles of sub-agents: only the first 256 by name are used',
      },
    ]);
  });

  test('a table of config.toml defines a role, with any setting', async () => {
    const { roles, problems } = await rolesOf({
      'config.toml': `[agents.reviewer]
description = "Finds faults."
nickname_candidates = ["Ann", "Ben 2"]
model = "large"
model_reasoning_effort = "high"
sandbox_mode = "read-only"
developer_instructions = "Be strict."
`,
    });
    expect(problems).toEqual([]);
    expect(roles).toEqual([
      {
        name: 'reviewer',
        description: 'Finds faults.',
        nicknames: ['Ann', 'Ben 2'],
        config: {
          model: 'large',
          model_reasoning_effort: 'high',
          sandbox_mode: 'read-only',
          developer_instructions: 'Be strict.',
        },
      },
    ]);
  });

  test('a file of agents/ defines a role, by its name or its file name; a table of the same name overrides its keys', async () => {
    const { roles, problems } = await rolesOf({
      'agents/one.toml': 'name = "first"\ndescription = "1"\nmodel = "m"\n',
      'agents/two.toml': 'description = "2"\nmodel = "m"\n',
      'agents/notes.md': '# not a role',
      'config.toml': '[agents.two]\nmodel = "other"\n',
    });
    expect(problems).toEqual([]);
    expect(roles).toEqual([
      { name: 'first', description: '1', nicknames: [], config: { model: 'm' } },
      { name: 'two', description: '2', nicknames: [], config: { model: 'other' } },
    ]);
  });

  test('config_file is relative to the home, and the keys of the table override those of the file', async () => {
    const { roles, problems } = await rolesOf({
      'roles/strict.toml': 'description = "of the file"\npersonality = "pragmatic"\nmodel = "m"\n',
      'config.toml':
        '[agents.reviewer]\nconfig_file = "roles/strict.toml"\ndescription = "of the table"\n',
    });
    expect(problems).toEqual([]);
    expect(roles).toEqual([
      {
        name: 'reviewer',
        description: 'of the table',
        nicknames: [],
        config: { personality: 'pragmatic', model: 'm' },
      },
    ]);
  });

  test('the command line, a profile and a request define roles too, each over the ones before', async () => {
    const { roles } = await rolesOf(
      {
        'config.toml':
          'profile = "p"\n[agents.a]\nmodel = "1"\neffort = 1\n[profiles.p.agents.a]\nmodel = "2"\nreview_model = "2"\n',
      },
      { overrides: ['agents.a.personality=friendly'], request: { agents: { a: { model: '3' } } } },
    );
    expect(roles).toMatchObject([
      { name: 'a', config: { model: '3', review_model: '2', personality: 'friendly' } },
    ]);
  });

  test.each([
    ['model = 5', /config\.toml:2:1: model: expected a non-empty string, found 5/],
    ['sandbox_mode = "rw"', /sandbox_mode: expected one of/],
    ['description = 5', /description: expected a string/],
    ['nickname_candidates = []', /nickname_candidates: expected a list/],
    ['nickname_candidates = ["a", "a"]', /nickname_candidates: expected a list/],
    ['nickname_candidates = ["a\\nb"]', /nickname_candidates: expected a list/],
    ['config_file = "missing.toml"', /config_file: .*missing\.toml does not exist or is empty/],
    ['config_file = 5', /config_file: expected a path/],
    ['profile = "p"', /profile: a role cannot choose a profile/],
    ['model_provider = "ollama"', /model_provider: a role that sets it has to set model, too/],
  ])('a role with %j cannot be used, and the client is told where', async (line, summary) => {
    const home = tempFolder({ 'config.toml': `[agents.r]\n${line}\n` });
    const sources = sourcesIn(home, { env });
    const { agentRoles } = await loadConfig(sources);
    expect(agentRoles.roles).toEqual([]);
    expect(agentRoles.problems).toMatchObject([
      { role: 'r', details: UNUSABLE, isProjects: false },
    ]);
    const warnings = await configWarnings(sources);
    expect(warnings).toEqual([
      {
        summary: expect.stringMatching(summary),
        details: UNUSABLE,
        path: join(home, 'config.toml'),
        range: expect.anything(),
      },
    ]);
  });

  test('a file that is not TOML is the problem of its role only', async () => {
    const { roles, problems } = await rolesOf({
      'agents/bad.toml': 'model = [',
      'agents/good.toml': 'model = "m"\n',
    });
    expect(roles.map(({ name }) => name)).toEqual(['good']);
    expect(problems).toMatchObject([
      { role: 'bad', summary: expect.stringMatching(/agents\/bad\.toml:1:\d+: not valid TOML/) },
    ]);
  });

  test('a key that looks misspelt gives a warning, and the role can be used', async () => {
    const { roles, problems } = await rolesOf({
      'agents/a.toml': 'modle = "m"\ndescripton = "d"\n',
    });
    expect(roles.map(({ name }) => name)).toEqual(['a']);
    expect(problems.map(({ role, details }) => [role, details])).toEqual([
      [null, 'Did you mean model?'],
      [null, 'Did you mean description?'],
    ]);
  });

  test('a name that cannot be repeated is refused', async () => {
    const { roles, problems } = await rolesOf({ 'config.toml': '[agents."a\\nb"]\nmodel = "m"\n' });
    expect(roles).toEqual([]);
    expect(problems).toMatchObject([
      { summary: expect.stringContaining('the role "a\\nb": expected a name') },
    ]);
  });

  test('of many files, the first 32 by name are used, and the client is told', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [
        `agents/r${String(n).padStart(2, '0')}.toml`,
        'model = "m"\n',
      ]),
    );
    const { roles, problems } = await rolesOf(files);
    expect(roles.map(({ name }) => name)).toEqual(
      Array.from({ length: 32 }, (_, n) => `r${String(n).padStart(2, '0')}`),
    );
    expect(problems).toMatchObject([
      { role: null, summary: expect.stringContaining('has more than 32 files with roles') },
    ]);
  });
});

describe('roles of a project', () => {
  test('count if the user trusts the project, and set only what a project can set', async () => {
    const sources = projectOf({
      '.codex/agents/tester.toml':
        'description = "Tests."\nmodel = "m"\nmodel_provider = "evil"\nsandbox_mode = "danger-full-access"\nnickname_candidates = ["T"]\n',
    });
    const config = await loadConfig(sources);
    expect(config.agentRoles.roles).toEqual([
      { name: 'tester', description: 'Tests.', nicknames: ['T'], config: { model: 'm' } },
    ]);
    expect(
      projectProblems(config).map(({ warning: { summary, path } }) => [
        summary.replace(/^.*toml:/, ''),
        path,
      ]),
    ).toEqual([
      [
        "3:1: model_provider is ignored: a project's config.toml cannot set it",
        join(sources.folder, '.codex/agents/tester.toml'),
      ],
      [
        '4:1: sandbox_mode is ignored: a project can only make it stricter than your own settings do',
        expect.anything(),
      ],
    ]);
  });

  test('a table of its config.toml defines one, with a config_file of the same .codex/agents', async () => {
    const sources = projectOf({
      '.codex/config.toml':
        '[agents.a]\nconfig_file = "agents/x.toml"\ndescription = "A"\n[agents.b]\nconfig_file = "../x.toml"\n',
      '.codex/agents/x.toml': 'model = "m"\n',
      'x.toml': 'model = "elsewhere"\n',
    });
    const { roles, problems } = (await loadConfig(sources)).agentRoles;
    expect(roles).toEqual([
      { name: 'a', description: 'A', nicknames: [], config: { model: 'm' } },
      { name: 'x', description: '', nicknames: [], config: { model: 'm' } },
    ]);
    expect(problems).toMatchObject([
      {
        role: 'b',
        isProjects: true,
        summary: expect.stringContaining('expected a file of agents/ beside this file'),
      },
    ]);
  });

  test('cannot replace a role of the user', async () => {
    const sources = projectOf(
      { '.codex/agents/a.toml': 'model = "theirs"\n' },
      '[agents.a]\nmodel = "mine"\n',
    );
    const { roles, problems } = (await loadConfig(sources)).agentRoles;
    expect(roles).toMatchObject([{ name: 'a', config: { model: 'mine' } }]);
    expect(problems).toMatchObject([
      {
        role: null,
        summary: expect.stringContaining('a project cannot replace a role of your own'),
      },
    ]);
  });

  test('a file that is new or has changed counts after the user has trusted it', async () => {
    const sources = projectOf({ '.codex/config.toml': 'model = "m"\n' });
    await loadConfig(sources);
    writeFiles(sources.folder, { '.codex/agents/a.toml': 'model = "m"\n' });
    const config = await loadConfig({
      ...sources,
      trustedFiles: new TrustRecordFile({ home: sources.home }),
    });
    expect(config.agentRoles.roles).toEqual([]);
    expect(projectProblems(config).map(({ warning }) => warning)).toEqual([
      {
        summary: expect.stringContaining(
          'agents/a.toml is not in force: you have not trusted its content yet',
        ),
        details: null,
        path: join(sources.folder, '.codex/agents/a.toml'),
        range: null,
      },
    ]);
  });

  test('do not count without trust, and give no warning', async () => {
    const folder = tempFolder({ '.codex/agents/a.toml': 'model = "m"\n', '.git/HEAD': '' });
    const config = await loadConfig(sourcesIn(tempFolder(), { cwd: folder, env }));
    expect(config.agentRoles).toEqual({ roles: [], problems: [] });
    expect(projectProblems(config)).toEqual([]);
  });
});

describe('keys that have no effect give a warning', () => {
  const warned = async (text: string) =>
    (await configWarnings(sourcesIn(tempFolder({ 'config.toml': text }), { env }))).map(
      ({ summary, details }) => [summary.replace(/^.*config\.toml:/, ''), details],
    );

  test('in [agents]', async () => {
    expect(
      await warned(
        '[agents]\njob_max_runtime_seconds = 5\nmax_thread = 3\ninterrupt_message = false\n',
      ),
    ).toEqual([
      [
        '2:1: agents.job_max_runtime_seconds has no effect',
        expect.stringContaining('heddle has these settings of sub-agents: '),
      ],
      ['3:1: agents.max_thread has no effect', 'Did you mean max_threads?'],
      ['4:1: agents.interrupt_message has no effect', expect.anything()],
    ]);
    expect(
      await warned(
        '[agents]\nmax_threads = 3\ninterrupt_message = true\n[agents.a]\nmodel = "m"\n',
      ),
    ).toEqual([]);
  });

  test.each(['multi_agent_v2 = true', 'multi_agent_v2 = { enabled = true }'])(
    'in [features]: %s',
    async (line) => {
      expect(await warned(`[features]\n${line}\n`)).toEqual([
        [
          '2:1: features.multi_agent_v2 has no effect',
          'heddle has the tools of features.multi_agent, with every model.',
        ],
      ]);
      expect(await warned('[features]\nmulti_agent_v2 = false\n')).toEqual([]);
    },
  );
});
