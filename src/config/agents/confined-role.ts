import type { JsonObject, JsonValue } from '../../base/json-value.ts';
import { Config } from '../config.ts';
import { SETTING_NAMES, type SettingName, type SettingValue } from '../settings/settings.ts';
import { emptyTable, isTable, mergeTables, valueAt } from '../toml/config-table.ts';
import { searchesAtMost } from '../web-search.ts';
import { allowsNoMoreServers } from './allows-no-more-servers.ts';
import { runningAgentsMax } from './running-agents-max.ts';

/** The configuration of the agents of a role, and that of the thread which starts them. */
interface Compared {
  roles: Config;
  own: Config;
}

/** Whether agents may do no more with this value than the thread with its own. */
type Allows<T> = (roles: T, own: T, compared: Compared) => boolean;

/**
 * All settings. `free`: it has no effect on what agents may do. `confinedLater`: `confinedSettings`
 * narrows it when an agent is started. Any other has an order of strictness or, if several settings
 * decide together, compares what results from them.
 */
const RULES: { readonly [N in SettingName]: 'free' | 'confinedLater' | Allows<SettingValue<N>> } = {
  'agents.default_subagent_model': 'free',
  'agents.default_subagent_reasoning_effort': 'free',
  'agents.enabled': onlyOff,
  'agents.max_concurrent_threads_per_session': runsNoMoreAgents,
  'agents.max_depth': atMost,
  'agents.max_threads': runsNoMoreAgents,
  allow_login_shell: onlyOff,
  approval_policy: 'confinedLater',
  approval_timeout_ms: 'free',
  cli_auth_credentials_store: 'free',
  client_tool_timeout_ms: 'free',
  approvals_reviewer: 'confinedLater',
  // How the guardian judges.
  'auto_review.model': never,
  'auto_review.model_provider': never,
  'auto_review.model_reasoning_effort': never,
  'auto_review.policy': never,
  'auto_review.timeout_ms': never,
  background_terminal_max_timeout: 'free',
  compact_prompt: 'free',
  default_permissions: 'confinedLater',
  developer_instructions: 'free',
  'features.default_mode_request_user_input': onlyOff,
  'features.goals': onlyOff,
  'features.multi_agent': onlyOff,
  'features.guardian_approval': 'confinedLater',
  // Hooks can refuse what an agent does.
  'features.hooks': onlyOn,
  'features.shell_snapshot': onlyOff,
  'features.shell_tool': onlyOff,
  'features.smart_approvals': 'free',
  'features.exec_permission_approvals': onlyOff,
  'features.request_permissions_tool': onlyOff,
  'features.view_image': onlyOff,
  'features.view_image_tool': onlyOff,
  'features.web_search_request': searchesNoMore,
  hide_agent_reasoning: 'free',
  instructions: 'free',
  model: 'free',
  model_auto_compact_token_limit: 'free',
  model_auto_compact_token_limit_scope: 'free',
  model_context_window: 'free',
  model_provider: 'free',
  model_reasoning_effort: 'free',
  model_reasoning_summary: 'free',
  model_verbosity: 'free',
  notify: 'free',
  openai_base_url: 'free',
  personality: 'free',
  plan_mode_reasoning_effort: 'free',
  profile: 'free',
  project_doc_fallback_filenames: 'free',
  project_doc_max_bytes: 'free',
  review_model: 'free',
  sandbox_mode: 'confinedLater',
  'sandbox_workspace_write.exclude_slash_tmp': 'confinedLater',
  'sandbox_workspace_write.exclude_tmpdir_env_var': 'confinedLater',
  'sandbox_workspace_write.network_access': 'confinedLater',
  'sandbox_workspace_write.unix_sockets': onlyOff,
  'sandbox_workspace_write.unprotected_folders': (roles, own) =>
    roles.every((folder) => own.includes(folder)),
  'sandbox_workspace_write.writable_roots': 'confinedLater',
  service_tier: 'free',
  'shell_environment_policy.exclude': (roles, own) => own.every((name) => roles.includes(name)),
  'shell_environment_policy.ignore_default_excludes': onlyOff,
  'shell_environment_policy.include_only': (roles, own) =>
    own.length === 0 || (roles.length > 0 && roles.every((name) => own.includes(name))),
  'shell_environment_policy.inherit': (roles, own) =>
    INHERITED.indexOf(roles) <= INHERITED.indexOf(own),
  'shell_environment_policy.set': 'free',
  show_raw_agent_reasoning: 'free',
  'skills.config': 'free',
  tool_output_token_limit: 'free',
  'tools.view_image': onlyOff,
  'tools.web_search': searchesNoMore,
  web_search: searchesNoMore,
};

const INHERITED = ['none', 'core', 'all'];
const PATHS = SETTING_NAMES.map((name) => ({ name, path: name.split('.') }));

/**
 * A key of a role that does not count. `allowsMore`: its agents could do more with it; otherwise no
 * role can have it.
 */
export interface DroppedKey {
  path: string[];
  allowsMore: boolean;
}

/**
 * The configuration of a role without the keys with which its agents could do more than the thread,
 * whose configuration is `own`, and without those that a role cannot have: it can set only what is
 * known here. Throws a ConfigError if a setting of the thread is invalid.
 */
export function confinedRole(
  config: JsonObject,
  own: Config,
): { config: JsonObject; dropped: DroppedKey[] } {
  const compared = {
    roles: new Config({ ...own, layers: [...own.layers], values: mergeTables(own.values, config) }),
    own,
  };
  const dropped = [...keysOf(config, [])].flatMap(({ path, value }) =>
    droppedAt(path, value, compared),
  );
  return { config: dropped.reduce((kept, { path }) => without(kept, path), config), dropped };
}

/** Yields the keys of the table, and the keys of the tables in it that have a setting. */
function* keysOf(
  table: JsonObject,
  outer: readonly string[],
): Generator<{ path: string[]; value: JsonValue }> {
  for (const [key, value] of Object.entries(table)) {
    const path = [...outer, key];
    const hasSettings = PATHS.some(
      (known) =>
        known.path.length > path.length && path.every((part, index) => known.path[index] === part),
    );
    if (hasSettings && isTable(value)) yield* keysOf(value, path);
    else yield { path, value };
  }
}

function droppedAt(path: string[], value: JsonValue, compared: Compared): DroppedKey[] {
  const key = path.join('.');
  const name = PATHS.find((known) => known.path.length === path.length && known.name === key)?.name;
  const drop = (isDropped: boolean, at = path) =>
    isDropped ? [{ path: at, allowsMore: true }] : [];
  if (name !== undefined) return drop(!isAllowed(name, compared));
  if (key === 'model_providers') return [];
  if (key === 'features.network_proxy') return drop(!managesAsMuch(value, compared.own));
  if (key === 'mcp_servers' && isTable(value))
    return Object.keys(value).flatMap((server) =>
      drop(!allowsNoMoreServers(server, compared), [...path, server]),
    );
  // A role can add profiles, but not change the one that limits the thread.
  if (key === 'permissions' && isTable(value))
    return Object.keys(value).flatMap((id) =>
      drop(valueAt(compared.own.values, ['permissions', id]) !== undefined, [...path, id]),
    );
  return [{ path, allowsMore: false }];
}

/** Compares the value with which the role's tables result in, merged with those of the thread. */
function isAllowed<N extends SettingName>(name: N, compared: Compared): boolean {
  const rule = RULES[name];
  return (
    typeof rule === 'string' || rule(compared.roles.get(name), compared.own.get(name), compared)
  );
}

/**
 * Whether the network is managed at least as much. A table of the role is not: its hosts would be
 * added to those of the thread.
 */
function managesAsMuch(wanted: JsonValue, { values }: Config): boolean {
  const own = valueAt(values, ['features', 'network_proxy']) ?? false;
  return own === false && typeof wanted === 'boolean';
}

/** The table without the key at this path. */
function without(table: JsonObject, [key = '', ...rest]: readonly string[]): JsonObject {
  const { [key]: value, ...others } = table;
  const inner = rest.length > 0 && isTable(value) ? { [key]: without(value, rest) } : {};
  return Object.assign(emptyTable(), others, inner);
}

function never(): boolean {
  return false;
}

function onlyOff(roles: boolean, own: boolean): boolean {
  return own || !roles;
}

function onlyOn(roles: boolean, own: boolean): boolean {
  return roles || !own;
}

function atMost(roles: number, own: number): boolean {
  return roles <= own;
}

function runsNoMoreAgents(_roles: unknown, _own: unknown, { roles, own }: Compared): boolean {
  return runningAgentsMax(roles) <= runningAgentsMax(own);
}

function searchesNoMore(_roles: unknown, _own: unknown, { roles, own }: Compared): boolean {
  return searchesAtMost(roles, own);
}
