import { describe, expect, test } from 'vitest';
import { SETTING_NAMES, type SettingName } from '../../../src/config/settings/settings.ts';
import { text } from '../../support/test-client.ts';
import { message, response } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';

const BASE = [
  'model="m"',
  'model_provider="test"',
  'model_providers.test.base_url="http://127.0.0.1:9"',
];

/**
 * The settings that decide about every thread: what its model is told and may do, and what clients
 * see.
 */
const NEEDED: readonly SettingName[] = [
  'allow_login_shell',
  'approval_timeout_ms',
  'background_terminal_max_timeout',
  'client_tool_timeout_ms',
  'compact_prompt',
  'developer_instructions',
  'features.default_mode_request_user_input',
  'features.exec_permission_approvals',
  'features.goals',
  'features.shell_snapshot',
  'features.shell_tool',
  'features.request_permissions_tool',
  'features.view_image',
  'features.view_image_tool',
  'hide_agent_reasoning',
  'instructions',
  'model_auto_compact_token_limit',
  'model_auto_compact_token_limit_scope',
  'model_context_window',
  'model_reasoning_effort',
  'model_reasoning_summary',
  'model_verbosity',
  'personality',
  'profile',
  'project_doc_fallback_filenames',
  'project_doc_max_bytes',
  'sandbox_workspace_write.unix_sockets',
  'sandbox_workspace_write.unprotected_folders',
  'service_tier',
  'shell_environment_policy.exclude',
  'shell_environment_policy.ignore_default_excludes',
  'shell_environment_policy.include_only',
  'shell_environment_policy.inherit',
  'shell_environment_policy.set',
  'show_raw_agent_reasoning',
  'tool_output_token_limit',
  'tools.view_image',
];

describe('a thread that names its model, approvals and sandbox is refused for an invalid setting only if it needs it, and else runs turns', () => {
  test.each(SETTING_NAMES)('%s', async (name) => {
    const { client, model } = await startServer({
      config: '',
      overrides: [...BASE.filter((set) => !set.startsWith(`${name}=`)), `${name}={ bad = 1 }`],
    });
    const asked = await client.ask('thread/start', {
      model: 'm',
      modelProvider: 'test',
      approvalPolicy: 'never',
      approvalsReviewer: 'user',
      sandbox: 'read-only',
    });
    const isRefused = asked.error !== undefined;
    expect([name, isRefused, asked.error?.message]).toEqual([
      name,
      NEEDED.includes(name),
      isRefused ? expect.stringContaining(name) : undefined,
    ]);
    if (asked.error !== undefined) return;
    model.push(response(message('done')));
    const { thread } = asked.result as { thread: { id: string } };
    const started = await client.ask('turn/start', { threadId: thread.id, input: text('go') });
    expect([name, started.error]).toEqual([name, undefined]);
    const { turn } = started.result as { turn: { id: string } };
    expect([name, (await client.turnCompleted(turn.id)).status]).toEqual([name, 'completed']);
  });
});

test('an invalid setting of agents takes only the agents away, with a warning', async () => {
  const { client } = await startServer({
    config: '',
    overrides: [...BASE, 'agents.max_depth="deep"'],
  });
  await client.request('thread/start', {});
  expect((await client.waitFor('warning')).message).toMatch(
    /^The model cannot start sub-agents in this thread: .*agents\.max_depth/,
  );
});

test('an invalid review_model refuses reviews only', async () => {
  const { client } = await startServer({ config: '', overrides: [...BASE, 'review_model=5'] });
  const { thread } = await client.request('thread/start', {});
  const review = { threadId: thread.id, target: { type: 'custom', instructions: 'Look.' } };
  expect(await client.refusal('review/start', review)).toMatchObject({
    data: { code: 'config_invalid' },
  });
});

test('keys of a request that have no effect are told to its client', async () => {
  const { client } = await startServer({ config: '', overrides: BASE });
  const config = {
    modle: 'x',
    'features.apps': true,
    tools: { web_serch: true },
    agents: { max_thread: 2 },
    projects: {},
  };
  const label = "(given in the request's config)";
  const expected = [
    `invalid config: modle ${label} is not a known key. Did you mean model?`,
    `invalid config: tools.web_serch ${label} is not a known key. Did you mean web_search?`,
    `heddle does not use these settings ${label}: features.apps. docs/coming-from-codex.md says what becomes of each setting.`,
    `projects ${label} has no effect: set it in the config.toml in your heddle home`,
    `invalid config: agents.max_thread ${label} has no effect. Did you mean max_threads?`,
  ];
  const { thread } = await client.request('thread/start', { config });
  await client.waitFor('warning', ({ message }) => message === expected.at(-1));
  const told = () =>
    client
      .notifications('warning', ({ threadId }) => threadId === thread.id)
      .map(({ message }) => message);
  expect(told()).toEqual(expected);
  const fork = await client.request('thread/fork', { threadId: thread.id, config: { modle: 'x' } });
  await client.waitFor(
    'warning',
    ({ threadId, message }) => threadId === fork.thread.id && message === expected[0],
  );
});

test.each([
  [
    'an unknown event of hooks',
    { hooks: { PreToolUze: [] } },
    /"PreToolUze" is not an event, so its hooks are not used\. Did you mean PreToolUse\?/,
  ],
  [
    'a bad matcher',
    { hooks: { PreToolUse: [{ matcher: '(', hooks: [] }] } },
    /PreToolUse\[0\]: the matcher "\(" is not a valid regular/,
  ],
  ['a bad state of hooks', { hooks: { state: { key: { enabled: 'no' } } } }, /hooks\.state/],
  [
    'a role with a wrong value',
    { agents: { x: { model: 5 } } },
    /^invalid config: model .*expected .*, found 5\. No sub-agent can have this role/,
  ],
  [
    'a role whose file is missing',
    { agents: { x: { config_file: 'gone.toml' } } },
    /config_file: .*gone\.toml does not exist or is empty/,
  ],
  [
    'a wrong mode of web search',
    { web_search: 'fast' },
    /web_search .*found "fast"\. Models do not search the web until/,
  ],
  [
    'a wrong port for logins',
    { mcp_oauth_callback_port: 0 },
    /mcp_oauth_callback_port .*expected a port/,
  ],
  [
    'a wrong safety check',
    { mcp_safety_check: { comand: 'x' } },
    /mcp_safety_check\.comand .*Every call of an MCP tool needs approval until/,
  ],
  ['a keyring', { mcp_oauth_credentials_store: 'keyring' }, /"keyring" has no effect/],
  [
    'a required feature',
    { features: { goals: true } },
    /features\.goals .*true is not allowed by .*, so false counts/,
  ],
])(
  'a mistake in the config of a request is told to its client: %s',
  async (_, config, expected) => {
    const { client } = await startServer({
      config: '',
      overrides: BASE,
      system: { 'requirements.toml': '[features]\ngoals = false\n' },
    });
    const { thread } = await client.request('thread/start', { config });
    const found = await client.waitFor('warning', ({ message }) => expected.test(message));
    expect(found.threadId).toBe(thread.id);
    const told = client
      .notifications('warning', ({ threadId }) => threadId === thread.id)
      .map(({ message }) => message);
    expect(told.filter((message) => expected.test(message))).toHaveLength(1);
  },
);

test('mistakes of the home are not told about a thread, also if its request has a config', async () => {
  const { client } = await startServer({
    config: 'modle = 1\n[hooks]\nNothing = []\n',
    overrides: BASE,
  });
  const { thread } = await client.request('thread/start', { config: { model_verbosity: 'low' } });
  await client.request('thread/unsubscribe', { threadId: thread.id });
  expect(client.notifications('warning', ({ threadId }) => threadId === thread.id)).toEqual([]);
});
