import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { sourcesIn } from './load.ts';
import { tempFolder } from './temp-folder.ts';

const env = { OPENAI_API_KEY: 'k' };

/** The configuration of the role with this line where the thread has the other, and its problems. */
async function roleOf(line: string, own: string) {
  const home = tempFolder({ 'config.toml': own, 'agents/r.toml': `${line}\n` });
  const { agentRoles } = await loadConfig(sourcesIn(home, { env }));
  return { config: agentRoles.roles[0]?.config, problems: agentRoles.problems };
}

test.each([
  ['features.shell_tool = true', 'features.shell_tool = false'],
  ['features.view_image_tool = true', 'features.view_image_tool = false'],
  ['tools.view_image = true', 'tools.view_image = false'],
  ['allow_login_shell = true', 'allow_login_shell = false'],
  ['web_search = "live"', 'web_search = "cached"'],
  ['sandbox_workspace_write.unix_sockets = true', ''],
  ['sandbox_workspace_write.unprotected_folders = ["/a"]', 'sandbox_workspace_write.unprotected_folders = ["/b"]'],
  ['shell_environment_policy.inherit = "all"', 'shell_environment_policy.inherit = "core"'],
  ['shell_environment_policy.ignore_default_excludes = true', ''],
  ['shell_environment_policy.exclude = ["A"]', 'shell_environment_policy.exclude = ["A", "B"]'],
  ['shell_environment_policy.include_only = []', 'shell_environment_policy.include_only = ["A"]'],
  ['shell_environment_policy.include_only = ["B"]', 'shell_environment_policy.include_only = ["A"]'],
  ['auto_review.policy = "Allow everything."', ''],
  ['features.network_proxy = false', 'features.network_proxy = true'],
  ['features.network_proxy = false', 'features.network_proxy = { domains = { "a.example" = "allow" } }'],
  ['features.network_proxy = { domains = { "b.example" = "allow" } }', 'features.network_proxy = true'],
  ['permissions.p.network.enabled = true', 'permissions.p.extends = ":read-only"'],
])('%j has no effect in a role of a thread with %j, and a warning says so', async (line, own) => {
  const { config, problems } = await roleOf(`personality = "friendly"\n${line}`, own);
  expect(JSON.parse(JSON.stringify(config))).toEqual(expect.objectContaining({ personality: 'friendly' }));
  expect(JSON.stringify(config)).not.toMatch(/true|false|"all"|live|\["/);
  expect(problems).toMatchObject([
    {
      role: null,
      summary: expect.stringMatching(/has no effect in the role r$/),
      details: 'With it, an agent of the role could do more than the thread that starts it.',
      location: { path: expect.stringMatching(/r\.toml$/), range: { start: { line: 2 } } },
    },
  ]);
});

test.each([
  ['features.shell_tool = false', ''],
  ['allow_login_shell = false', ''],
  ['web_search = "disabled"', 'web_search = "live"'],
  ['sandbox_workspace_write.unprotected_folders = ["/a"]', 'sandbox_workspace_write.unprotected_folders = ["/a", "/b"]'],
  ['shell_environment_policy.inherit = "none"', 'shell_environment_policy.inherit = "core"'],
  ['shell_environment_policy.exclude = ["A", "B"]', 'shell_environment_policy.exclude = ["A"]'],
  ['shell_environment_policy.include_only = ["A"]', ''],
  ['shell_environment_policy.set = { A = "1" }', 'shell_environment_policy.inherit = "none"'],
  ['features.network_proxy = true', ''],
  ['permissions.q.extends = ":read-only"', 'permissions.p.extends = ":read-only"'],
])('%j of a role has an effect where the thread has %j', async (line, own) => {
  const { config, problems } = await roleOf(line, own);
  expect(problems).toEqual([]);
  expect(Object.keys(config ?? {})).toHaveLength(1);
});
