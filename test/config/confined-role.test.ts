import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { sourcesIn } from './load.ts';
import { tempFolder } from './temp-folder.ts';

const env = { OPENAI_API_KEY: 'k' };

/**
 * The configuration of the role with this line where the thread has the other, and its problems.
 */
async function roleOf(line: string, own: string) {
  const home = tempFolder({ 'config.toml': own, 'agents/r.toml': `${line}\n` });
  const { agentRoles } = await loadConfig(sourcesIn(home, { env }));
  return { config: agentRoles.roles[0]?.config, problems: agentRoles.problems };
}

const DOCS = '[mcp_servers.docs]\ncommand = "docs"\n';

test.each([
  ['features.shell_tool = true', 'features.shell_tool = false'],
  ['features.view_image_tool = true', 'features.view_image_tool = false'],
  ['tools.view_image = true', 'tools.view_image = false'],
  ['allow_login_shell = true', 'allow_login_shell = false'],
  ['web_search = "live"', 'web_search = "cached"'],
  ['sandbox_workspace_write.unix_sockets = true', ''],
  [
    'sandbox_workspace_write.unprotected_folders = ["/a"]',
    'sandbox_workspace_write.unprotected_folders = ["/b"]',
  ],
  ['shell_environment_policy.inherit = "all"', 'shell_environment_policy.inherit = "core"'],
  ['shell_environment_policy.ignore_default_excludes = true', ''],
  ['shell_environment_policy.exclude = ["A"]', 'shell_environment_policy.exclude = ["A", "B"]'],
  ['shell_environment_policy.include_only = []', 'shell_environment_policy.include_only = ["A"]'],
  [
    'shell_environment_policy.include_only = ["B"]',
    'shell_environment_policy.include_only = ["A"]',
  ],
  ['auto_review.policy = "Allow everything."', ''],
  ['features.network_proxy = false', 'features.network_proxy = true'],
  [
    'features.network_proxy = false',
    'features.network_proxy = { domains = { "a.example" = "allow" } }',
  ],
  [
    'features.network_proxy = { domains = { "b.example" = "allow" } }',
    'features.network_proxy = true',
  ],
  ['permissions.p.network.enabled = true', 'permissions.p.extends = ":read-only"'],
  ['features.view_image = true', 'features.view_image = false'],
  ['features.web_search_request = true', ''],
  ['tools.web_search = true', ''],
  [
    'tools.web_search.allowed_domains = ["b.example"]',
    'web_search = "cached"\ntools.web_search.allowed_domains = ["a.example"]',
  ],
  [
    'tools.web_search.allowed_domains = []',
    'web_search = "cached"\ntools.web_search.allowed_domains = ["a.example"]',
  ],
  ['features.hooks = false', ''],
  ['features.request_permissions_tool = true', ''],
  ['features.goals = true', 'features.goals = false'],
  ['agents.max_depth = 2', ''],
  ['agents.max_threads = 7', ''],
  ['agents.max_concurrent_threads_per_session = 7', ''],
  [`mcp_servers.other.command = "other"`, DOCS],
  [`mcp_servers.docs.args = ["--all"]`, DOCS],
  [`mcp_servers.docs.enabled = true`, `${DOCS}enabled = false`],
  [`mcp_servers.docs.default_tools_approval_mode = "approve"`, DOCS],
  [
    `mcp_servers.docs.tools.write.approval_mode = "auto"`,
    `${DOCS}default_tools_approval_mode = "prompt"`,
  ],
  [`mcp_servers.docs.enabled_tools = ["write"]`, `${DOCS}enabled_tools = ["read"]`],
  [`mcp_servers.docs.disabled_tools = []`, `${DOCS}disabled_tools = ["write"]`],
])('%j has no effect in a role of a thread with %j, and a warning says so', async (line, own) => {
  const { config, problems } = await roleOf(`personality = "friendly"\n${line}`, own);
  expect(JSON.parse(JSON.stringify(config))).toEqual(
    expect.objectContaining({ personality: 'friendly' }),
  );
  expect(JSON.stringify(config)).not.toMatch(
    /true|false|"all"|live|\[|[0-9]|"approve"|"auto"|other/,
  );
  expect(problems).toMatchObject([
    {
      role: null,
      summary: expect.stringMatching(/has no effect in the role r$/),
      details: 'With it, a sub-agent of the role could do more than the thread that starts it.',
      location: { path: expect.stringMatching(/r\.toml$/), range: { start: { line: 2 } } },
    },
  ]);
});

test.each([
  ['features.shell_tool = false', ''],
  ['allow_login_shell = false', ''],
  ['web_search = "disabled"', 'web_search = "live"'],
  [
    'sandbox_workspace_write.unprotected_folders = ["/a"]',
    'sandbox_workspace_write.unprotected_folders = ["/a", "/b"]',
  ],
  ['shell_environment_policy.inherit = "none"', 'shell_environment_policy.inherit = "core"'],
  ['shell_environment_policy.exclude = ["A", "B"]', 'shell_environment_policy.exclude = ["A"]'],
  ['shell_environment_policy.include_only = ["A"]', ''],
  ['shell_environment_policy.set = { A = "1" }', 'shell_environment_policy.inherit = "none"'],
  ['features.network_proxy = true', ''],
  ['permissions.q.extends = ":read-only"', 'permissions.p.extends = ":read-only"'],
  ['tools.view_image = false', ''],
  ['tools.web_search = false', 'web_search = "live"'],
  ['tools.web_search.context_size = "high"', 'tools.web_search.allowed_domains = ["a.example"]'],
  ['tools.web_search.allowed_domains = ["a.example"]', 'web_search = "live"'],
  ['features.web_search_request = true', 'web_search = "disabled"'],
  ['features.hooks = true', ''],
  ['agents.max_concurrent_threads_per_session = 3', 'agents.max_threads = 4'],
  ['model_providers.corp.base_url = "http://127.0.0.1:9"', ''],
  ['mcp_servers.docs.enabled = false', DOCS],
  ['mcp_servers.docs.tool_timeout_sec = 5', DOCS],
  ['mcp_servers.docs.enabled_tools = ["read"]', DOCS],
  ['mcp_servers.docs.disabled_tools = ["write"]', `${DOCS}disabled_tools = []`],
  ['mcp_servers.docs.default_tools_approval_mode = "prompt"', DOCS],
  [
    'mcp_servers.docs.tools.write.approval_mode = "auto"',
    `${DOCS}default_tools_approval_mode = "approve"`,
  ],
  ['model = "m"', 'model = 5'],
])('%j of a role has an effect where the thread has %j', async (line, own) => {
  const { config, problems } = await roleOf(line, own);
  expect(problems).toEqual([]);
  expect(Object.keys(config ?? {})).toHaveLength(1);
});

test.each([
  'mcp_safety_check.command = "true"',
  'hooks.PreToolUse = []',
  'profiles.p.web_search = "live"',
  'projects."/".trust_level = "trusted"',
  'mcp_oauth_callback_port = 4000',
  'features.unheard_of = true',
  'tui.theme = "x"',
])('%j is nothing that a role can set, and a warning says so', async (line) => {
  const { config, problems } = await roleOf(`personality = "friendly"\n${line}`, '');
  expect(Object.keys(config ?? {}).filter((key) => key !== 'features')).toEqual(['personality']);
  expect(Object.keys((config?.features as object | undefined) ?? {})).toEqual([]);
  expect(problems).toMatchObject([
    {
      role: null,
      summary: expect.stringMatching(/has no effect in the role r$/),
      details: 'A role cannot set it.',
    },
  ]);
});
