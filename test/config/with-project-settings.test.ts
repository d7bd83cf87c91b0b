import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/base/json-value.ts';
import type { Config } from '../../src/config/config.ts';
import { configReadResponse } from '../../src/config/config-read-response.ts';
import { emptyLayer } from '../../src/config/layers/layer.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { configWarnings } from '../../src/config/problems/config-warnings.ts';
import { SETTING_NAMES, SETTINGS, type SettingName } from '../../src/config/settings/settings.ts';
import { NO_LOCATION } from '../../src/config/toml/config-error.ts';
import {
  emptyTable,
  mergeTables,
  tableWith,
  toTable,
  valueAt,
} from '../../src/config/toml/config-table.ts';
import {
  PROJECT_SETTING_NAMES,
  withProjectSettings,
} from '../../src/config/with-project-settings.ts';
import { configErrorOf, sourcesIn } from './load.ts';
import { tempFolder } from './temp-folder.ts';

/**
 * The sources of a project with this text, which the user trusts, under the user's own settings.
 */
function sourcesOf(project: string, user = '', overrides: string[] = []) {
  const folder = tempFolder({ '.codex/config.toml': project });
  const home = tempFolder({
    'config.toml': `${user}\n[projects.${JSON.stringify(folder)}]\ntrust_level = "trusted"\n`,
  });
  return {
    file: join(folder, '.codex', 'config.toml'),
    ...sourcesIn(home, { cwd: folder, env: { OPENAI_API_KEY: 'k' }, overrides }),
  };
}

const loaded = (project: string, user = '', overrides: string[] = []) =>
  loadConfig(sourcesOf(project, user, overrides));

function ignoredIn(config: Config): string[] {
  return config.layers.flatMap(({ ignoredKeys }) => ignoredKeys.map(({ path }) => path.join('.')));
}

/**
 * The settings that only the user can set. A new setting belongs here, unless a project needs it
 * and cannot loosen anything by it.
 */
const USERS: SettingName[] = [
  'allow_login_shell',
  'approvals_reviewer',
  'auto_review.model',
  'auto_review.model_provider',
  'auto_review.model_reasoning_effort',
  'auto_review.policy',
  'auto_review.timeout_ms',
  'cli_auth_credentials_store',
  'default_permissions',
  'features.default_mode_request_user_input',
  'features.guardian_approval',
  'features.smart_approvals',
  'hide_agent_reasoning',
  'model_provider',
  'notify',
  'openai_base_url',
  'profile',
  'review_model',
  'sandbox_workspace_write.exclude_slash_tmp',
  'sandbox_workspace_write.exclude_tmpdir_env_var',
  'sandbox_workspace_write.network_access',
  'sandbox_workspace_write.unix_sockets',
  'sandbox_workspace_write.unprotected_folders',
  'sandbox_workspace_write.writable_roots',
  'shell_environment_policy.exclude',
  'shell_environment_policy.ignore_default_excludes',
  'shell_environment_policy.include_only',
  'shell_environment_policy.inherit',
  'shell_environment_policy.set',
  'show_raw_agent_reasoning',
  'features.hooks',
  'features.shell_snapshot',
  'features.web_search_request',
  'tools.web_search',
  'skills.config',
];

test('every setting is either one that a project can set, or one of the user alone', () => {
  expect([...USERS, ...PROJECT_SETTING_NAMES].sort()).toEqual([...SETTING_NAMES].sort());
});

describe('a project cannot set', () => {
  const others = [
    'apps',
    'hooks',
    'mcp_servers',
    'model_instructions_file',
    'model_providers',
    'notify',
    'otel',
    'permissions',
    'projects',
  ];
  const unknown = [
    'a_setting_of_the_future',
    'features.of_the_future',
    'tools.of_the_future',
    '__proto__',
    'constructor',
    '"features.goals"',
  ];
  test.each([...USERS, ...others, ...unknown])('%s', async (key) => {
    const config = await loaded(`service_tier = "flex"\n${key}.x.command = "theirs"\n`);
    expect(config.layers.at(-1)).toMatchObject({ name: { type: 'project' } });
    expect(JSON.stringify(config.layers.at(-1)?.config)).toBe('{"service_tier":"flex"}');
    expect(ignoredIn(config)).toHaveLength(1);
  });

  test('a value in place of a table', async () => {
    const config = await loaded('features = 5\ntools = "x"\n');
    expect(ignoredIn(config)).toEqual(['features', 'tools']);
    expect(config.get('features.goals')).toBe(true);
  });
});

const GRANULAR = [
  'sandbox_approval',
  'rules',
  'mcp_elicitations',
  'request_permissions',
  'skill_approval',
];
const granular = (...asked: string[]) =>
  `{ granular = { ${GRANULAR.map((kind) => `${kind} = ${asked.includes(kind)}`).join(', ')} } }`;

/** Values from the strictest to the loosest. */
const ORDERS: [SettingName, string[]][] = [
  [
    'approval_policy',
    [
      '"untrusted"',
      '"on-failure"',
      '"on-request"',
      granular('sandbox_approval', 'rules'),
      granular('sandbox_approval'),
      '"never"',
    ],
  ],
  ['approval_timeout_ms', ['1', '1000']],
  ['client_tool_timeout_ms', ['1', '1000']],
  ['background_terminal_max_timeout', ['1000', '2000']],
  ['features.exec_permission_approvals', ['false', 'true']],
  ['features.goals', ['false', 'true']],
  ['features.request_permissions_tool', ['false', 'true']],
  ['features.shell_tool', ['false', 'true']],
  ['features.view_image', ['false', 'true']],
  ['features.view_image_tool', ['false', 'true']],
  ['project_doc_max_bytes', ['0', '100']],
  ['sandbox_mode', ['"read-only"', '"workspace-write"', '"danger-full-access"']],
  ['tool_output_token_limit', ['100', '200']],
  ['tools.view_image', ['false', 'true']],
  ['web_search', ['"disabled"', '"cached"', '"indexed"', '"live"']],
];

/** A TOML value of ORDERS. */
function jsonOf(toml: string): JsonValue {
  return JSON.parse(toml.replace(/(\w+) =/g, '"$1":')) as JsonValue;
}

const pairs = ORDERS.flatMap(([name, values]) =>
  values.flatMap((projects, rank) =>
    values.map((own, ownRank) => ({ name, projects, own, wins: rank <= ownRank })),
  ),
);

test.each(pairs)(
  '$name: the user has $own, a project sets $projects',
  async ({ name, projects, own, wins }) => {
    const config = await loaded(`${name} = ${projects}\n`, `${name} = ${own}\n`);
    const alone = await loaded('', `${name} = ${wins ? projects : own}\n`);
    expect(config.get(name)).toEqual(alone.get(name));
    expect(ignoredIn(config)).toEqual(wins ? [] : [name]);
    const { origins } = configReadResponse(config, { includeLayers: false, experimental: true });
    const types = Object.keys(origins)
      .filter((key) => key.startsWith(name))
      .map((key) => origins[key]?.name.type);
    expect(new Set(types)).toEqual(new Set([wins ? 'project' : 'user']));
  },
);

test.each([
  ['approval_policy = "never"', 'approval_policy', 'on-request'],
  // The trust in the project gives workspace-write.
  ['sandbox_mode = "danger-full-access"', 'sandbox_mode', 'workspace-write'],
  ['features.request_permissions_tool = true', 'features.request_permissions_tool', false],
  ['project_doc_max_bytes = 100000', 'project_doc_max_bytes', 32_768],
  ['web_search = "cached"', 'web_search', null],
] as const)('%s does not loosen the default either', async (line, name, value) => {
  const config = await loaded(`${line}\n`);
  expect([config.get(name), ignoredIn(config)]).toEqual([value, [name]]);
});

test.each([
  '"untrusted"',
  '"on-failure"',
  '"on-request"',
  '"never"',
  granular('sandbox_approval', 'rules'),
])(
  'a question about skills that only a granular policy asks stays: the project sets %s',
  async (projects) => {
    const config = await loaded(
      `approval_policy = ${projects}\n`,
      `approval_policy = ${granular('skill_approval')}\n`,
    );
    expect([config.get('approval_policy'), ignoredIn(config)]).toEqual([
      jsonOf(granular('skill_approval')),
      ['approval_policy'],
    ]);
  },
);

/** A table with some of the settings, with valid and invalid values, and with other keys. */
const settings = fc
  .array(
    fc.oneof(
      fc
        .constantFrom(...ORDERS)
        .chain(([name, values]) =>
          fc.tuple(fc.constant(name), fc.constantFrom(...values.map(jsonOf))),
        ),
      fc.tuple(fc.constantFrom(...SETTING_NAMES), fc.jsonValue({ maxDepth: 2 })),
      fc.tuple(
        fc.constantFrom(
          'features',
          'tools',
          'features.x',
          'hooks.x',
          '__proto__',
          'approval_policy.granular.rules',
        ),
        fc.jsonValue(),
      ),
    ),
    { maxLength: 6 },
  )
  .map((entries) =>
    entries
      .map(([name, value]) => toTable(tableWith(name.split('.'), value as JsonValue), NO_LOCATION))
      .reduce(mergeTables, emptyTable()),
  );

/** The value of a setting in a table. Undefined if it is invalid, so that threads are refused. */
const valueIn = (table: JsonObject, name: SettingName) => {
  const value = valueAt(table, name.split('.'));
  return value === undefined ? SETTINGS[name].absent : SETTINGS[name].read(value);
};

/**
 * Whether the value is the same, earlier in the order, or a lower number. An invalid value stays
 * invalid.
 */
function expectNoLooser([name, values]: (typeof ORDERS)[number], own: unknown, now: unknown): void {
  if (isDeepStrictEqual(own, now) || now === undefined) return;
  expect(own).not.toBe(undefined);
  const rank = (value: unknown) =>
    values.findIndex((one) => isDeepStrictEqual(SETTINGS[name].read(jsonOf(one)), value));
  if (typeof own === 'number') expect(now).toBeLessThan(own);
  else if (rank(own) !== -1 && rank(now) !== -1) expect(rank(now)).toBeLessThan(rank(own));
}

test('whatever the files of a project contain, no limit of the user becomes looser, and nothing else changes', () => {
  const layer = emptyLayer('/p/.codex/config.toml', {
    type: 'project',
    dotCodexFolder: '/p/.codex',
  });
  const withFile = (below: JsonObject, config: JsonObject) =>
    mergeTables(below, withProjectSettings({ ...layer, config }, below).config);
  const tops = new Set(PROJECT_SETTING_NAMES.map((name) => name.split('.')[0]));
  fc.assert(
    fc.property(settings, fc.array(settings, { minLength: 1, maxLength: 2 }), (user, files) => {
      const result = files.reduce(withFile, user);
      for (const name of USERS)
        expect(valueAt(result, name.split('.'))).toEqual(valueAt(user, name.split('.')));
      expect(Object.keys(result).filter((key) => !tops.has(key))).toEqual(
        Object.keys(user).filter((key) => !tops.has(key)),
      );
      for (const order of ORDERS)
        expectNoLooser(order, valueIn(user, order[0]), valueIn(result, order[0]));
    }),
    { seed: 11, numRuns: 1000 },
  );
});

test('parts of a granular approval policy are compared after they are merged with those of the user', async () => {
  const user = `approval_policy = ${granular('sandbox_approval')}\n`;
  const more = await loaded('approval_policy = { granular = { rules = true } }\n', user);
  expect(more.get('approval_policy')).toMatchObject({
    granular: { sandbox_approval: true, rules: true },
  });
  const other = await loaded(
    'approval_policy = { granular = { sandbox_approval = false, rules = true } }\n',
    user,
  );
  expect(other.get('approval_policy')).toMatchObject({
    granular: { sandbox_approval: true, rules: false },
  });
  expect(ignoredIn(other)).toEqual(['approval_policy']);
});

test('an inner folder does not loosen what an outer one has narrowed', async () => {
  const folder = tempFolder({
    '.git/HEAD': '',
    '.codex/config.toml': 'approval_policy = "untrusted"\n',
    'a/.codex/config.toml': 'approval_policy = "on-request"\n',
  });
  const home = tempFolder({
    'config.toml': `[projects.${JSON.stringify(folder)}]\ntrust_level = "trusted"\n`,
  });
  const config = await loadConfig(sourcesIn(home, { cwd: join(folder, 'a') }));
  expect([config.get('approval_policy'), ignoredIn(config)]).toEqual([
    'untrusted',
    ['approval_policy'],
  ]);
});

test("the user's profile and command line override a project, in both directions", async () => {
  const profile = 'profile = "p"\n[profiles.p]\napproval_policy = "never"\n';
  expect((await loaded('approval_policy = "untrusted"\n', profile)).get('approval_policy')).toBe(
    'never',
  );
  expect((await loaded('', '', ['approval_policy=never'])).get('approval_policy')).toBe('never');
});

test("a project's sandbox_mode does not replace the user's permission profile, which may be narrower", async () => {
  const config = await loaded('sandbox_mode = "read-only"\n', 'default_permissions = "docs"\n');
  expect([config.layerOf(['sandbox_mode']), ignoredIn(config)]).toEqual([null, ['sandbox_mode']]);
});

test('an invalid value of a project is refused when it is needed, and does not hide an invalid one of the user', async () => {
  const { file, ...sources } = sourcesOf(
    'approval_policy = "always"\nsandbox_mode = "read-only"\n',
    'sandbox_mode = "x"\n',
  );
  const config = await loadConfig(sources);
  const error = await configErrorOf(() => config.get('approval_policy'));
  expect(error.message).toContain(`${file}:1:1: approval_policy: expected "untrusted"`);
  expect((await configErrorOf(() => config.get('sandbox_mode'))).message).toContain(
    join(sources.home, 'config.toml'),
  );
});

test('a warning names the file, the key and the reason, and what to do', async () => {
  const { file, ...sources } = sourcesOf(
    'approval_policy = "never"\nmodle = "m"\n[features]\nfancy = true\n',
  );
  expect(await configWarnings(sources)).toEqual([
    {
      summary: `invalid config: ${file}:1:1: approval_policy is ignored: a project can only make it stricter than your own settings do`,
      details: 'Set it in the config.toml in your heddle home instead.',
      path: file,
      range: { start: { line: 1, column: 1 }, end: { line: 1, column: 16 } },
    },
    {
      summary: `invalid config: ${file}:2:1: modle is ignored: a project's config.toml cannot set it`,
      details: 'Did you mean model?',
      path: file,
      range: { start: { line: 2, column: 1 }, end: { line: 2, column: 6 } },
    },
    {
      summary: `invalid config: ${file}:4:1: features.fancy is ignored: a project's config.toml cannot set it`,
      details: 'Set it in the config.toml in your heddle home instead.',
      path: file,
      range: { start: { line: 4, column: 1 }, end: { line: 4, column: 6 } },
    },
  ]);
});
