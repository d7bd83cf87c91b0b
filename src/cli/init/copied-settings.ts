import type { JsonValue } from '../../base/json-value.ts';
import type { SettingName } from '../../config/settings/settings.ts';
import { isTable } from '../../config/toml/config-table.ts';
import {
  isPlain,
  isPlainName,
  isPlainPath,
  isPlainProse,
  isPlainUrl,
  isPlainVariable,
} from './is-plain.ts';
import { isPlainCommand, isPlainProgram } from './is-plain-program.ts';

/** Whether a value may be copied, or the rules of a table's keys. */
export type CopyRule = ((value: JsonValue) => boolean) | CopyTable;

interface CopyTable {
  /** By key. */
  own: Readonly<Record<string, CopyRule>>;
  /** The rule of all other keys. Null: they are not copied. */
  each: CopyRule | null;
  /** Whether the name of such a key may be copied. */
  isName: (name: string) => boolean;
}

type Check = (value: JsonValue) => boolean;

const text =
  (isGood: (value: string) => boolean): Check =>
  (value) =>
    typeof value === 'string' && isGood(value);
const listOf =
  (rule: CopyRule): Check =>
  (value) =>
    Array.isArray(value) && value.every((element) => obeys(element, rule));
const either =
  (...rules: CopyRule[]): Check =>
  (value) =>
    rules.some((rule) => obeys(value, rule));
const table = (own: Record<string, CopyRule>): CopyTable => ({
  own,
  each: null,
  isName: isPlainName,
});
const named = (
  each: CopyRule,
  own: Record<string, CopyRule> = {},
  isName = isPlainName,
): CopyTable => ({ own, each, isName });

const SWITCH: Check = (value) => typeof value === 'boolean';
const COUNT: Check = (value) => typeof value === 'number';
const NAME = text(isPlainName);
const PROSE = text(isPlainProse);
const PATH = text(isPlainPath);
const URL_OF = text(isPlainUrl);
const VARIABLE = text(isPlainVariable);
const PROGRAM: Check = (value) =>
  Array.isArray(value) &&
  isPlainProgram(value.map((word) => (typeof word === 'string' ? word : '\0')));
/** Names, numbers and switches in any order. */
const TREE: Check = (value) => {
  if (Array.isArray(value)) return value.every(TREE);
  if (!isTable(value))
    return typeof value === 'string' ? isPlain(value) : SWITCH(value) || COUNT(value);
  return Object.entries(value).every(([name, inner]) => isPlainPath(name) && TREE(inner));
};
/** A table for secrets. */
const NEVER: Check = (value) =>
  (isTable(value) && Object.keys(value).length === 0) ||
  (Array.isArray(value) && value.length === 0);

const SETTINGS_COPIED: Readonly<Record<SettingName, CopyRule>> = {
  'agents.default_subagent_model': NAME,
  'agents.default_subagent_reasoning_effort': NAME,
  'agents.enabled': SWITCH,
  'agents.max_concurrent_threads_per_session': COUNT,
  'agents.max_depth': COUNT,
  'agents.max_threads': COUNT,
  allow_login_shell: SWITCH,
  approval_policy: TREE,
  approval_timeout_ms: COUNT,
  client_tool_timeout_ms: COUNT,
  approvals_reviewer: NAME,
  'auto_review.model': NAME,
  'auto_review.model_provider': NAME,
  'auto_review.model_reasoning_effort': NAME,
  'auto_review.policy': PROSE,
  'auto_review.timeout_ms': COUNT,
  background_terminal_max_timeout: COUNT,
  cli_auth_credentials_store: NAME,
  compact_prompt: PROSE,
  default_permissions: NAME,
  developer_instructions: PROSE,
  'features.default_mode_request_user_input': SWITCH,
  'features.exec_permission_approvals': SWITCH,
  'features.goals': SWITCH,
  'features.guardian_approval': SWITCH,
  'features.hooks': SWITCH,
  'features.multi_agent': SWITCH,
  'features.shell_snapshot': SWITCH,
  'features.shell_tool': SWITCH,
  'features.smart_approvals': SWITCH,
  'features.request_permissions_tool': SWITCH,
  'features.view_image': SWITCH,
  'features.view_image_tool': SWITCH,
  'features.web_search_request': SWITCH,
  hide_agent_reasoning: SWITCH,
  instructions: PROSE,
  model: NAME,
  model_auto_compact_token_limit: COUNT,
  model_auto_compact_token_limit_scope: NAME,
  model_context_window: COUNT,
  model_provider: NAME,
  model_reasoning_effort: NAME,
  model_reasoning_summary: NAME,
  model_verbosity: NAME,
  notify: PROGRAM,
  openai_base_url: URL_OF,
  personality: NAME,
  plan_mode_reasoning_effort: NAME,
  profile: NAME,
  project_doc_fallback_filenames: listOf(NAME),
  project_doc_max_bytes: COUNT,
  review_model: NAME,
  sandbox_mode: NAME,
  'sandbox_workspace_write.exclude_slash_tmp': SWITCH,
  'sandbox_workspace_write.exclude_tmpdir_env_var': SWITCH,
  'sandbox_workspace_write.network_access': SWITCH,
  'sandbox_workspace_write.unix_sockets': SWITCH,
  'sandbox_workspace_write.unprotected_folders': listOf(PATH),
  'sandbox_workspace_write.writable_roots': listOf(PATH),
  service_tier: NAME,
  'shell_environment_policy.exclude': listOf(text(isPlain)),
  'shell_environment_policy.ignore_default_excludes': SWITCH,
  'shell_environment_policy.include_only': listOf(text(isPlain)),
  'shell_environment_policy.inherit': NAME,
  'shell_environment_policy.set': NEVER,
  show_raw_agent_reasoning: SWITCH,
  'skills.config': listOf(table({ path: PATH, name: NAME, enabled: SWITCH })),
  tool_output_token_limit: COUNT,
  'tools.view_image': SWITCH,
  'tools.web_search': either(SWITCH, TREE),
  web_search: NAME,
};

const PROVIDER = table({
  name: PROSE,
  base_url: URL_OF,
  env_key: VARIABLE,
  wire_api: NAME,
  env_http_headers: named(VARIABLE),
  experimental_bearer_token: NEVER,
  http_headers: NEVER,
  query_params: named(NEVER, {
    'api-version': text((value) => /^\d{4}-\d\d-\d\d(?:-preview)?$/.test(value)),
  }),
  requires_openai_auth: SWITCH,
  request_max_retries: COUNT,
  stream_max_retries: COUNT,
  stream_idle_timeout_ms: COUNT,
  connect_timeout_ms: COUNT,
  script: PATH,
});

const MCP_SERVER = table({
  command: text((value) => isPlainProgram([value])),
  // With their command: see `uncopiedPaths`.
  args: listOf(text(() => true)),
  env: NEVER,
  env_vars: listOf(either(VARIABLE, named(NAME, { name: VARIABLE }))),
  cwd: PATH,
  url: URL_OF,
  bearer_token_env_var: VARIABLE,
  http_headers: NEVER,
  env_http_headers: named(VARIABLE),
  scopes: listOf(NAME),
  oauth_resource: URL_OF,
  oauth: table({
    client_id: NAME,
    client_secret_env_var: VARIABLE,
    client_metadata_url: URL_OF,
    allow_private_addresses: SWITCH,
  }),
  enabled: SWITCH,
  required: SWITCH,
  enabled_tools: listOf(NAME),
  disabled_tools: listOf(NAME),
  startup_timeout_sec: COUNT,
  startup_timeout_ms: COUNT,
  tool_timeout_sec: COUNT,
  default_tools_approval_mode: NAME,
  supports_parallel_tool_calls: SWITCH,
  tools: named(table({ approval_mode: NAME })),
});

const HANDLER = table({
  ...{
    type: NAME,
    command: text(isPlainCommand),
    commandWindows: text(isPlainCommand),
    async: SWITCH,
    timeout: COUNT,
  },
  ...{
    statusMessage: PROSE,
    additionalContextLimit: COUNT,
    server: NAME,
    tool: NAME,
    input: NEVER,
    prompt: PROSE,
    model: NAME,
  },
});

const HOOKS = named(listOf(table({ matcher: text(isPlain), hooks: listOf(HANDLER) })), {
  state: named(
    table({ enabled: SWITCH, trusted_hash: text((value) => /^sha256:[\da-f]{64}$/.test(value)) }),
    {},
    isPlainPath,
  ),
});

/** The top level of a config.toml. */
export const COPIED_SETTINGS: CopyTable = topLevel();

function topLevel(): CopyTable {
  const own: Record<string, CopyRule> = {};
  for (const [name, rule] of Object.entries(SETTINGS_COPIED)) {
    const [outer = '', inner] = name.split('.');
    if (inner === undefined) own[outer] = rule;
    else own[outer] = table({ ...ownOf(own[outer]), [inner]: rule });
  }
  own.features = named(either(SWITCH, TREE), ownOf(own.features));
  own.agents = named(
    table({ description: PROSE, nickname_candidates: listOf(NAME), config_file: PATH }),
    ownOf(own.agents),
  );
  Object.assign(own, {
    hooks: HOOKS,
    mcp_oauth_callback_port: COUNT,
    mcp_oauth_callback_url: URL_OF,
    mcp_oauth_credentials_store: NAME,
    mcp_safety_check: table({
      command: MCP_SERVER.own.command ?? NEVER,
      args: NEVER,
      env: NEVER,
      url: URL_OF,
      http_headers: NEVER,
      timeout_sec: COUNT,
    }),
    mcp_servers: named(MCP_SERVER),
    model_providers: named(PROVIDER),
    permissions: named(TREE),
    projects: named(table({ trust_level: NAME }), {}, isPlainPath),
  });
  return table({ ...own, profiles: named(table(own)) });
}

function ownOf(rule: CopyRule | undefined): Readonly<Record<string, CopyRule>> {
  return typeof rule === 'object' ? rule.own : {};
}

/** The rule for a key of a table. Null: there is none, because heddle does not use such a key. */
export function ruleFor(key: string, { own, each }: CopyTable): CopyRule | null {
  return Object.hasOwn(own, key) ? (own[key] ?? null) : each;
}

/** Whether a value and all below it may be copied. */
export function obeys(value: JsonValue, rule: CopyRule): boolean {
  if (typeof rule === 'function') return rule(value);
  return (
    isTable(value) && Object.entries(value).every(([key, inner]) => isCopiedKey(key, inner, rule))
  );
}

function isCopiedKey(key: string, value: JsonValue, rules: CopyTable): boolean {
  const rule = ruleFor(key, rules);
  return (
    rule !== null && (Object.hasOwn(rules.own, key) || rules.isName(key)) && obeys(value, rule)
  );
}
