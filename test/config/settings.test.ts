import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configuredSandboxPolicy } from '../../src/config/configured-sandbox-policy.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { SETTING_NAMES, type SettingName } from '../../src/config/settings/settings.ts';
import { configErrorOf, load, sourcesIn } from './load.ts';
import { tempFolder } from './temp-folder.ts';

const TEXT = 'a non-empty string';
const POLICY =
  '"untrusted", "on-failure", "on-request", "never", or {granular = {sandbox_approval, rules, mcp_elicitations, request_permissions, ' +
  'skill_approval}} with true or false for each, and the last two optional';
const GRANULAR = 'sandbox_approval = true, rules = true, mcp_elicitations = true';

const wrong: [SettingName, string, string][] = [
  ['approval_policy', '"always"', `expected ${POLICY}, found "always"`],
  ['approval_policy', '"On-Request"', `expected ${POLICY}, found "On-Request"`],
  ['approval_policy', 'true', `expected ${POLICY}, found true`],
  ['approval_policy', '["never"]', `expected ${POLICY}, found a list`],
  ['approval_policy', '{}', `expected ${POLICY}, found a table`],
  ['approval_policy', '{ granular = true }', `expected ${POLICY}, found a table`],
  ['approval_policy', '{ granular = { rules = true } }', `expected ${POLICY}, found a table`],
  [
    'approval_policy',
    `{ granular = { ${GRANULAR}, skill_approval = 1 } }`,
    `expected ${POLICY}, found a table`,
  ],
  [
    'approval_policy',
    `{ granular = { ${GRANULAR} }, other = 1 }`,
    `expected ${POLICY}, found a table`,
  ],
  [
    'approvals_reviewer',
    '"me"',
    'expected one of "user", "auto_review", "guardian_subagent", found "me"',
  ],
  ['auto_review.model', '""', `expected ${TEXT}, found ""`],
  ['auto_review.timeout_ms', '0', 'expected a whole number, 1 or more, found 0'],
  ['developer_instructions', '5', 'expected a string, found 5'],
  ['hide_agent_reasoning', '"true"', 'expected true or false, found "true"'],
  ['instructions', '[]', 'expected a string, found a list'],
  ['agents.enabled', '1', 'expected true or false, found 1'],
  ['agents.max_threads', '0', 'expected a whole number, 1 or more, found 0'],
  ['agents.max_depth', '-1', 'expected a whole number, 0 or more, found -1'],
  ['agents.default_subagent_model', '""', `expected ${TEXT}, found ""`],
  ['model', '5', `expected ${TEXT}, found 5`],
  ['model', '" "', `expected ${TEXT}, found " "`],
  ['compact_prompt', '""', `expected ${TEXT}, found ""`],
  ['model_auto_compact_token_limit', '0', 'expected a whole number, 1 or more, found 0'],
  ['model_context_window', '0', 'expected a whole number, 1 or more, found 0'],
  ['model_context_window', '1.5', 'expected a whole number, 1 or more, found 1.5'],
  ['model_provider', '{}', `expected ${TEXT}, found a table`],
  ['model_reasoning_effort', '3', `expected ${TEXT}, found 3`],
  [
    'model_reasoning_summary',
    '"long"',
    'expected one of "auto", "concise", "detailed", "none", found "long"',
  ],
  ['model_verbosity', '"loud"', 'expected one of "low", "medium", "high", found "loud"'],
  ['personality', '"rude"', 'expected one of "none", "friendly", "pragmatic", found "rude"'],
  [
    'project_doc_fallback_filenames',
    '"A.md"',
    'expected a list of file names without folders, found "A.md"',
  ],
  [
    'project_doc_fallback_filenames',
    '["../A.md"]',
    'expected a list of file names without folders, found a list',
  ],
  [
    'project_doc_fallback_filenames',
    '[".."]',
    'expected a list of file names without folders, found a list',
  ],
  [
    'project_doc_fallback_filenames',
    '[""]',
    'expected a list of file names without folders, found a list',
  ],
  ['project_doc_max_bytes', '-1', 'expected a whole number, 0 or more, found -1'],
  ['project_doc_max_bytes', '"32K"', 'expected a whole number, 0 or more, found "32K"'],
  ['project_doc_max_bytes', 'inf', 'expected a whole number, 0 or more, found "Infinity"'],
  [
    'sandbox_mode',
    '"readonly"',
    'expected one of "read-only", "workspace-write", "danger-full-access", found "readonly"',
  ],
  ['sandbox_workspace_write.network_access', '"yes"', 'expected true or false, found "yes"'],
  ['sandbox_workspace_write.exclude_slash_tmp', '1', 'expected true or false, found 1'],
  ['sandbox_workspace_write.exclude_tmpdir_env_var', '[]', 'expected true or false, found a list'],
  [
    'sandbox_workspace_write.writable_roots',
    '"/a"',
    'expected a list of absolute paths, found "/a"',
  ],
  [
    'sandbox_workspace_write.writable_roots',
    '["/a", "b"]',
    'expected a list of absolute paths, found a list',
  ],
  [
    'sandbox_workspace_write.writable_roots',
    '["/a", 5]',
    'expected a list of absolute paths, found a list',
  ],
  ['service_tier', '""', `expected ${TEXT}, found ""`],
  ['show_raw_agent_reasoning', '0', 'expected true or false, found 0'],
  ['web_search', 'true', 'expected one of "disabled", "cached", "indexed", "live", found true'],
];

describe('an invalid value is refused with file, line, key, the expected and the found value', () => {
  test.each(wrong)('%s = %s', async (name, value, problem) => {
    const config = await load(`# a comment\n${name} = ${value}\n`);
    const error = await configErrorOf(() => config.get(name));
    const column = name.split('.').slice(0, -1).join('.').length + (name.includes('.') ? 2 : 1);
    expect(error.message).toBe(
      `invalid config: ${join(config.home, 'config.toml')}:2:${column}: ${name}: ${problem}`,
    );
  });

  test.each(wrong)('%s = %s does not disturb the other settings', async (name, value) => {
    const config = await load(`${name} = ${value}\n`);
    for (const other of SETTING_NAMES) {
      if (other !== name) expect(() => config.get(other)).not.toThrow();
    }
  });

  test('a long value is truncated', async () => {
    const error = await configErrorOf(async () =>
      (await load(`sandbox_mode = "${'x'.repeat(5000)}"\n`)).get('sandbox_mode'),
    );
    expect(error.message.length).toBeLessThan(400);
  });
});

test('hide_agent_reasoning is read, and so is the thread request that sets it', async () => {
  expect((await load('hide_agent_reasoning = true\n')).get('hide_agent_reasoning')).toBe(true);
  const config = await load('hide_agent_reasoning = true\n', {
    request: { hide_agent_reasoning: false },
  });
  expect(config.get('hide_agent_reasoning')).toBe(false);
});

test('a value instead of a table is refused under its own key', async () => {
  const config = await load('model = "m"\nsandbox_workspace_write = true\n');
  const error = await configErrorOf(() => config.get('sandbox_workspace_write.network_access'));
  expect(error.message).toBe(
    `invalid config: ${join(config.home, 'config.toml')}:2:1: sandbox_workspace_write: expected a table, found true`,
  );
  expect(config.get('model')).toBe('m');
});

describe('the location of an invalid value', () => {
  test.each([
    ['under a heading', '[sandbox_workspace_write]\n\n  network_access = 5\n', ':3:3: '],
    ['dotted', 'sandbox_workspace_write.network_access = 5\n', ':1:25: '],
    ['in an inline table', 'x = 1\nsandbox_workspace_write = { network_access = 5 }\n', ':2:29: '],
    ['quoted', '["sandbox_workspace_write"]\n"network_access" = 5\n', ':2:2: '],
    [
      'after a text that looks like it',
      'a = """\n[sandbox_workspace_write]\nnetwork_access = 5\n"""\nsandbox_workspace_write.network_access = 5\n',
      ':5:25: ',
    ],
    [
      'after a comment that looks like it',
      '# sandbox_workspace_write.network_access = 5\nsandbox_workspace_write.network_access = 5\n',
      ':2:25: ',
    ],
    [
      'after another table with the key',
      '[other]\nnetwork_access = 5\n[sandbox_workspace_write]\nnetwork_access = 5\n',
      ':4:1: ',
    ],
    [
      'with Windows line ends',
      'a = 1\r\n[sandbox_workspace_write]\r\nnetwork_access = 5\r\n',
      ':3:1: ',
    ],
    [
      'over several lines',
      'sandbox_workspace_write = { writable_roots = [\n"/a"\n], network_access = 5 }\n',
      ':3:4: ',
    ],
    ['without the last line end', '[sandbox_workspace_write]\nnetwork_access = 5', ':2:1: '],
  ])('%s', async (_, text, place) => {
    const config = await load(text);
    const error = await configErrorOf(() => config.get('sandbox_workspace_write.network_access'));
    expect(error.message).toContain(
      `config.toml${place}sandbox_workspace_write.network_access: expected true or false`,
    );
  });

  test('is the profile, if the profile sets it', async () => {
    const error = await configErrorOf(async () =>
      (await load('profile = "p"\nmodel = "good"\n[profiles.p]\nmodel = 5\n')).get('model'),
    );
    expect(error.message).toMatch(/config\.toml:4:1: model: expected a non-empty string/);
  });

  test('is the command line or the request, if they set it', async () => {
    const flags = await configErrorOf(async () =>
      (await load('model = "good"\n', { overrides: ['model=5'] })).get('model'),
    );
    expect(flags.message).toBe(
      `invalid config: model (given on the command line): expected ${TEXT}, found 5`,
    );
    const request = await configErrorOf(async () =>
      (await load('model = "good"\n', { request: { model: 5 } })).get('model'),
    );
    expect(request.message).toBe(
      `invalid config: model (given in the request's config): expected ${TEXT}, found 5`,
    );
  });

  test('is the project, if a trusted project sets it', async () => {
    const folder = tempFolder({ '.codex/config.toml': 'model = 5\n' });
    const home = tempFolder({
      'config.toml': `[projects.${JSON.stringify(folder)}]\ntrust_level = "trusted"\n`,
    });
    const config = await loadConfig(sourcesIn(home, { cwd: folder }));
    const error = await configErrorOf(() => config.get('model'));
    expect(error.location).toEqual({
      path: join(folder, '.codex', 'config.toml'),
      range: { start: { line: 1, column: 1 }, end: { line: 1, column: 6 } },
    });
  });
});

test('without settings, the defaults apply', async () => {
  const config = await load('');
  expect(Object.fromEntries(SETTING_NAMES.map((name) => [name, config.get(name)]))).toEqual({
    'agents.default_subagent_model': null,
    'agents.default_subagent_reasoning_effort': null,
    'agents.enabled': true,
    'agents.max_concurrent_threads_per_session': null,
    'agents.max_depth': 1,
    'agents.max_threads': 6,
    allow_login_shell: true,
    approval_policy: 'on-request',
    approval_timeout_ms: null,
    client_tool_timeout_ms: null,
    background_terminal_max_timeout: 300_000,
    cli_auth_credentials_store: 'file',
    compact_prompt: null,
    default_permissions: null,
    'features.default_mode_request_user_input': false,
    'features.exec_permission_approvals': false,
    'features.request_permissions_tool': false,
    approvals_reviewer: 'user',
    'auto_review.model': null,
    'auto_review.model_provider': null,
    'auto_review.model_reasoning_effort': null,
    'auto_review.policy': null,
    'auto_review.timeout_ms': 90_000,
    developer_instructions: null,
    'features.goals': true,
    'features.multi_agent': true,
    'features.guardian_approval': false,
    'features.hooks': true,
    'features.shell_snapshot': true,
    'features.shell_tool': true,
    'features.smart_approvals': false,
    'features.view_image': true,
    'features.view_image_tool': true,
    'features.web_search_request': false,
    hide_agent_reasoning: false,
    instructions: null,
    model: null,
    model_auto_compact_token_limit: null,
    model_auto_compact_token_limit_scope: 'total',
    plan_mode_reasoning_effort: null,
    model_context_window: null,
    model_provider: null,
    model_reasoning_effort: null,
    model_reasoning_summary: null,
    model_verbosity: null,
    notify: null,
    openai_base_url: null,
    personality: null,
    profile: null,
    project_doc_fallback_filenames: [],
    project_doc_max_bytes: 32768,
    review_model: null,
    sandbox_mode: 'read-only',
    'sandbox_workspace_write.exclude_slash_tmp': false,
    'sandbox_workspace_write.exclude_tmpdir_env_var': false,
    'sandbox_workspace_write.network_access': false,
    'sandbox_workspace_write.unix_sockets': false,
    'sandbox_workspace_write.unprotected_folders': [],
    'sandbox_workspace_write.writable_roots': [],
    service_tier: null,
    'shell_environment_policy.exclude': [],
    'shell_environment_policy.ignore_default_excludes': false,
    'shell_environment_policy.include_only': [],
    'shell_environment_policy.inherit': 'all',
    'shell_environment_policy.set': {},
    show_raw_agent_reasoning: false,
    'skills.config': [],
    tool_output_token_limit: 10_000,
    'tools.view_image': true,
    'tools.web_search': { enabled: null, contextSize: null, allowedDomains: [], location: null },
    web_search: null,
  });
});

const right: [SettingName, string, unknown][] = [
  ['approval_policy', '"untrusted"', 'untrusted'],
  ['approval_policy', '"on-failure"', 'on-failure'],
  ['approval_policy', '"never"', 'never'],
  [
    'approval_policy',
    `{ granular = { ${GRANULAR} } }`,
    {
      granular: {
        sandbox_approval: true,
        rules: true,
        mcp_elicitations: true,
        request_permissions: false,
        skill_approval: false,
      },
    },
  ],
  ['approvals_reviewer', '"auto_review"', 'auto_review'],
  ['auto_review.policy', '"Never push."', 'Never push.'],
  ['compact_prompt', '"short"', 'short'],
  ['developer_instructions', '""', ''],
  ['model_auto_compact_token_limit', '1000', 1000],
  ['model_context_window', '200_000', 200000],
  ['model_reasoning_effort', '"max"', 'max'],
  ['model_reasoning_summary', '"none"', 'none'],
  ['personality', '"pragmatic"', 'pragmatic'],
  ['project_doc_fallback_filenames', '["CLAUDE.md", ".rules"]', ['CLAUDE.md', '.rules']],
  ['project_doc_max_bytes', '0', 0],
  ['project_doc_max_bytes', '999_999_999_999', 1048576],
  ['sandbox_workspace_write.writable_roots', '["/a", "/b c"]', ['/a', '/b c']],
  ['web_search', '"live"', 'live'],
];
test.each(right)('%s = %s is read', async (name, value, expected) => {
  expect((await load(`${name} = ${value}\n`)).get(name)).toEqual(expected);
});

describe('the sandbox policy', () => {
  const text =
    '[sandbox_workspace_write]\nwritable_roots = ["/a"]\nnetwork_access = true\nexclude_slash_tmp = true\n';
  const workspaceWrite = {
    type: 'workspaceWrite',
    writableRoots: ['/a'],
    networkAccess: true,
    excludeTmpdirEnvVar: false,
    excludeSlashTmp: true,
  };

  test('follows the requested mode, else the configured one', async () => {
    expect(configuredSandboxPolicy(await load(text))).toEqual({
      type: 'readOnly',
      networkAccess: false,
    });
    expect(
      configuredSandboxPolicy(await load(`sandbox_mode = "workspace-write"\n${text}`)),
    ).toEqual(workspaceWrite);
    expect(
      configuredSandboxPolicy(
        await load(`sandbox_mode = "workspace-write"\n${text}`),
        'danger-full-access',
      ),
    ).toEqual({
      type: 'dangerFullAccess',
    });
    expect(configuredSandboxPolicy(await load(text), 'workspace-write')).toEqual(workspaceWrite);
  });

  test('ignores an invalid setting of another mode', async () => {
    const config = await load('sandbox_workspace_write.network_access = "yes"\n');
    expect(configuredSandboxPolicy(config)).toEqual({ type: 'readOnly', networkAccess: false });
    expect(() => configuredSandboxPolicy(config, 'workspace-write')).toThrow(
      /network_access: expected true or false/,
    );
  });
});
