import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/base/json-value.ts';
import { confinedRole } from '../../src/config/agents/confined-role.ts';
import { Config } from '../../src/config/config.ts';
import { emptyLayer } from '../../src/config/layers/layer.ts';
import { SETTING_NAMES, SETTINGS, type SettingName } from '../../src/config/settings/settings.ts';
import { emptyTable, mergeTables, tableWith } from '../../src/config/toml/config-table.ts';
import { withProjectSettings } from '../../src/config/with-project-settings.ts';
import { load } from './load.ts';

/** Of these, each setting has those that are valid. */
const VALUES: JsonValue[] = [
  ...[true, false, 1, 2, 7, 100],
  ...[
    'read-only',
    'workspace-write',
    'danger-full-access',
    'untrusted',
    'on-failure',
    'on-request',
    'never',
  ],
  ...[
    'user',
    'auto_review',
    'guardian_subagent',
    'disabled',
    'cached',
    'indexed',
    'live',
    'none',
    'core',
    'all',
  ],
  ...[
    'low',
    'high',
    'auto',
    'ephemeral',
    'file',
    'total',
    'body_after_prefix',
    'friendly',
    'pragmatic',
    'concise',
    'https://a.example',
    'https://b.example',
  ],
  ...[[], ['A'], ['B'], ['A', 'B'], ['/a'], ['/b'], ['/a', '/b']],
  ...[
    { a: '1' },
    { b: '2' },
    { allowed_domains: ['a.example'] },
    { allowed_domains: ['a.example', 'b.example'] },
  ],
  ...[[{ name: 'a', enabled: false }], [{ name: 'a', enabled: true }]],
];

/** Whether a value counts over another one; undefined: nothing is set. */
type Counts = (name: SettingName, value: JsonValue, own: JsonValue | undefined) => boolean;

/**
 * `free`: every value counts over every other. `closed`: none counts. `ordered`: some count, the
 * stricter ones.
 */
type Kind = 'free' | 'ordered' | 'closed';

function valuesOf(name: SettingName): JsonValue[] {
  return VALUES.filter((value) => SETTINGS[name].read(value) !== undefined);
}

/**
 * `confinedSettings` narrows what results from these when an agent starts:
 * test/agent/confined-settings.test.ts.
 */
const LATER: readonly string[] = [
  ...[
    'approval_policy',
    'approvals_reviewer',
    'default_permissions',
    'features.guardian_approval',
    'sandbox_mode',
  ],
  ...[
    'sandbox_workspace_write.exclude_slash_tmp',
    'sandbox_workspace_write.exclude_tmpdir_env_var',
  ],
  ...['sandbox_workspace_write.network_access', 'sandbox_workspace_write.writable_roots'],
];

/** Checks that values which count over others are in an order, and returns the kind. */
function kindOf(name: SettingName, counts: Counts): Kind {
  const values = valuesOf(name);
  expect(values.length, `${name} has no two values in this test: add some`).toBeGreaterThan(1);
  const pairs = values.flatMap((value) =>
    [...values, undefined].map((own) => counts(name, value, own)),
  );
  if (pairs.every(Boolean)) return 'free';
  if (!pairs.some(Boolean)) return 'closed';
  for (const one of values) {
    expect(counts(name, one, one), `${name}: ${JSON.stringify(one)} over itself`).toBe(true);
    for (const other of values.filter((each) => counts(name, one, each)))
      for (const third of values.filter((each) => counts(name, other, each)))
        expect(counts(name, one, third), `${name}: ${JSON.stringify([one, other, third])}`).toBe(
          true,
        );
  }
  return 'ordered';
}

/** The names of the settings of each kind. */
function kinds(counts: Counts): Record<Kind, SettingName[]> {
  const all: Record<Kind, SettingName[]> = { free: [], ordered: [], closed: [] };
  for (const name of SETTING_NAMES) all[kindOf(name, counts)].push(name);
  return all;
}

const project = emptyLayer('/p/.codex/config.toml', {
  type: 'project',
  dotCodexFolder: '/p/.codex',
});

function tableOf(name: SettingName, value: JsonValue | undefined): JsonObject {
  return value === undefined ? emptyTable() : tableWith(name.split('.'), value);
}

test('of all settings, a project can set these freely, and the others only more strictly or not at all', () => {
  const counts: Counts = (name, value, own) =>
    withProjectSettings({ ...project, config: tableOf(name, value) }, tableOf(name, own))
      .ignoredKeys?.length === 0;
  const { free, ordered } = kinds(counts);
  expect({ free, ordered }).toEqual({
    free: [
      ...[
        'agents.default_subagent_model',
        'agents.default_subagent_reasoning_effort',
        'compact_prompt',
        'developer_instructions',
      ],
      ...[
        'instructions',
        'model',
        'model_auto_compact_token_limit',
        'model_auto_compact_token_limit_scope',
        'model_context_window',
      ],
      ...[
        'model_reasoning_effort',
        'plan_mode_reasoning_effort',
        'model_reasoning_summary',
        'model_verbosity',
        'personality',
      ],
      ...['project_doc_fallback_filenames', 'service_tier'],
    ],
    ordered: [
      ...[
        'agents.enabled',
        'agents.max_concurrent_threads_per_session',
        'agents.max_depth',
        'agents.max_threads',
        'approval_policy',
      ],
      ...[
        'approval_timeout_ms',
        'client_tool_timeout_ms',
        'background_terminal_max_timeout',
        'features.exec_permission_approvals',
      ],
      ...[
        'features.goals',
        'features.multi_agent',
        'features.shell_tool',
        'features.request_permissions_tool',
        'features.view_image',
      ],
      ...[
        'features.view_image_tool',
        'project_doc_max_bytes',
        'sandbox_mode',
        'tool_output_token_limit',
        'tools.view_image',
        'web_search',
      ],
    ],
  });
});

test('of all settings, the role of an agent can set these freely, and the others only more strictly or not at all', async () => {
  const base = await load('model_provider = "scripted"');
  const configWith = (values: JsonObject) =>
    new Config({ ...base, layers: [...base.layers], values: mergeTables(base.values, values) });
  const counts: Counts = (name, value, own) =>
    confinedRole(tableOf(name, value), configWith(tableOf(name, own))).dropped.length === 0;
  const { free, ordered, closed } = kinds(counts);
  expect({ free: free.filter((name) => !LATER.includes(name)), ordered, closed }).toEqual({
    free: [
      ...[
        'agents.default_subagent_model',
        'agents.default_subagent_reasoning_effort',
        'approval_timeout_ms',
      ],
      ...[
        'client_tool_timeout_ms',
        'background_terminal_max_timeout',
        'cli_auth_credentials_store',
        'compact_prompt',
      ],
      ...[
        'developer_instructions',
        'features.smart_approvals',
        'hide_agent_reasoning',
        'instructions',
        'model',
      ],
      ...[
        'model_auto_compact_token_limit',
        'model_auto_compact_token_limit_scope',
        'model_context_window',
      ],
      ...[
        'model_provider',
        'model_reasoning_effort',
        'plan_mode_reasoning_effort',
        'model_reasoning_summary',
      ],
      ...[
        'model_verbosity',
        'notify',
        'openai_base_url',
        'personality',
        'profile',
        'project_doc_fallback_filenames',
      ],
      ...['project_doc_max_bytes', 'review_model', 'service_tier', 'shell_environment_policy.set'],
      ...['show_raw_agent_reasoning', 'skills.config', 'tool_output_token_limit'],
    ],
    ordered: [
      ...[
        'agents.enabled',
        'agents.max_concurrent_threads_per_session',
        'agents.max_depth',
        'agents.max_threads',
      ],
      ...[
        'allow_login_shell',
        'features.default_mode_request_user_input',
        'features.exec_permission_approvals',
      ],
      ...[
        'features.goals',
        'features.hooks',
        'features.multi_agent',
        'features.shell_snapshot',
        'features.shell_tool',
      ],
      ...['features.request_permissions_tool', 'features.view_image', 'features.view_image_tool'],
      ...['features.web_search_request', 'sandbox_workspace_write.unix_sockets'],
      ...['sandbox_workspace_write.unprotected_folders', 'shell_environment_policy.exclude'],
      ...[
        'shell_environment_policy.ignore_default_excludes',
        'shell_environment_policy.include_only',
      ],
      ...['shell_environment_policy.inherit', 'tools.view_image', 'tools.web_search', 'web_search'],
    ],
    closed: [
      ...[
        'auto_review.model',
        'auto_review.model_provider',
        'auto_review.model_reasoning_effort',
        'auto_review.policy',
      ],
      ...['auto_review.timeout_ms'],
    ],
  });
  expect(LATER.filter((name) => !free.some((each) => each === name))).toEqual([]);
});
