import type { JsonObject, JsonValue } from '../base/json-value.ts';
import { HOOK_EVENTS } from './hooks/hook-events.ts';
import type { IgnoredKey, Layer } from './layers/layer.ts';
import {
  isAgentSetting,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type SettingValue,
} from './settings/settings.ts';
import { asksAsMuch } from './strictness/asks-as-much.ts';
import { type AsStrict, isSandboxAsStrict, strictestFirst } from './strictness/strictest-first.ts';
import { emptyTable, isTable, mergeTables, tableWith, valueAt } from './toml/config-table.ts';

/**
 * The settings that a project's config.toml can set. heddle ignores every other key in it, known or
 * not: a setting that starts a program, names a file or an address, or decides who approves what
 * does not belong here. A setting that can loosen a limit has an order, and the stricter value of
 * the project and of the user's own settings and the outer folders wins.
 */
const PROJECT_SETTINGS: { readonly [N in SettingName]?: AsStrict<SettingValue<N>> } = {
  'agents.default_subagent_model': anyValue,
  'agents.default_subagent_reasoning_effort': anyValue,
  'agents.enabled': onlyOff,
  'agents.max_concurrent_threads_per_session': (projects, own) =>
    projects !== null && own !== null && projects <= own,
  'agents.max_depth': atMost,
  'agents.max_threads': atMost,
  approval_policy: asksAsMuch,
  approval_timeout_ms: (projects, own) => own === null || (projects !== null && projects <= own),
  client_tool_timeout_ms: (projects, own) => own === null || (projects !== null && projects <= own),
  background_terminal_max_timeout: atMost,
  compact_prompt: anyValue,
  developer_instructions: anyValue,
  'features.exec_permission_approvals': onlyOff,
  'features.goals': onlyOff,
  'features.multi_agent': onlyOff,
  'features.request_permissions_tool': onlyOff,
  'features.shell_tool': onlyOff,
  'features.view_image': onlyOff,
  'features.view_image_tool': onlyOff,
  instructions: anyValue,
  model: anyValue,
  model_auto_compact_token_limit: anyValue,
  model_auto_compact_token_limit_scope: anyValue,
  model_context_window: anyValue,
  model_reasoning_effort: anyValue,
  model_reasoning_summary: anyValue,
  model_verbosity: anyValue,
  personality: anyValue,
  plan_mode_reasoning_effort: anyValue,
  project_doc_fallback_filenames: anyValue,
  project_doc_max_bytes: atMost,
  sandbox_mode: isSandboxAsStrict,
  service_tier: anyValue,
  tool_output_token_limit: atMost,
  'tools.view_image': onlyOff,
  web_search: strictestFirst(['disabled', null, 'cached', 'indexed', 'live']),
};

/** The names of the settings that a project's config.toml can set. */
export const PROJECT_SETTING_NAMES: readonly SettingName[] = SETTING_NAMES.filter((name) =>
  Object.hasOwn(PROJECT_SETTINGS, name),
);

const PATHS = PROJECT_SETTING_NAMES.map((name) => ({ name, path: name.split('.') }));

const NOT_FOR_PROJECTS = "a project's config.toml cannot set it";
const LESS_STRICT = 'a project can only make it stricter than your own settings do';
const HAS_PROFILE =
  'a project cannot replace the permission profile that your default_permissions names';

/**
 * Returns the layer of a project's file with only the settings that it can set, and that are at
 * least as strict as those of the layers below it. The other keys are in `ignoredKeys`.
 */
export function withProjectSettings(layer: Layer, below: JsonObject): Layer {
  const ignoredKeys: IgnoredKey[] = [];
  let config = emptyTable();
  for (const { path, value } of keysOf(layer.config, [])) {
    if (isRole(path, value) || isHook(path)) {
      config = mergeTables(config, tableWith(path, value));
      continue;
    }
    const name = PATHS.find(
      (known) => known.path.length === path.length && startsWith(known.path, path),
    )?.name;
    const reason = name === undefined ? NOT_FOR_PROJECTS : whyIgnored(name, value, below);
    if (reason === null) config = mergeTables(config, tableWith(path, value));
    else ignoredKeys.push({ path, reason });
  }
  return { ...layer, config, ignoredKeys };
}

/**
 * Yields the keys of the table, and the keys of the tables in it that have a setting of a project.
 */
function* keysOf(
  table: JsonObject,
  outer: readonly string[],
): Generator<{ path: string[]; value: JsonValue }> {
  for (const [key, value] of Object.entries(table)) {
    const path = [...outer, key];
    const isOfHooks = key === 'hooks' && outer.length === 0;
    const hasSettings =
      isOfHooks ||
      PATHS.some((known) => known.path.length > path.length && startsWith(known.path, path));
    if (hasSettings && isTable(value)) yield* keysOf(value, path);
    else yield { path, value };
  }
}

/**
 * Whether this is the table of a role of agents. `readRoles` decides what a project can set in it.
 */
function isRole([table, name = '', ...rest]: readonly string[], value: JsonValue): boolean {
  return table === 'agents' && rest.length === 0 && isTable(value) && !isAgentSetting(name);
}

/**
 * Whether these are the hooks of an event. Hooks run with exactly the content that the user trusts.
 */
function isHook([table, name, ...rest]: readonly string[]): boolean {
  return table === 'hooks' && rest.length === 0 && HOOK_EVENTS.some(({ label }) => label === name);
}

function startsWith(path: readonly string[], start: readonly string[]): boolean {
  return start.every((part, index) => path[index] === part);
}

/**
 * Returns null if the value counts. Compares the merged value, because the project's tables are
 * merged with those of the layers below.
 */
function whyIgnored(name: SettingName, value: JsonValue, below: JsonObject): string | null {
  if (name === 'sandbox_mode' && below.default_permissions !== undefined) return HAS_PROFILE;
  const path = name.split('.');
  const merged = mergeTables(below, tableWith(path, value));
  return isAsStrict(name, valueAt(merged, path), valueAt(below, path)) ? null : LESS_STRICT;
}

function isAsStrict<N extends SettingName>(
  name: N,
  projects: JsonValue | undefined,
  own: JsonValue | undefined,
): boolean {
  const read = (value: JsonValue | undefined) =>
    value === undefined ? SETTINGS[name].absent : SETTINGS[name].read(value);
  const [wanted, limit] = [read(projects), read(own)];
  // An invalid value of the project refuses the threads that need it, like any other. It must not
  // hide one of the user.
  if (wanted === undefined) return limit !== undefined;
  return limit !== undefined && PROJECT_SETTINGS[name]?.(wanted, limit) === true;
}

function anyValue(): boolean {
  return true;
}

function atMost(projects: number, own: number): boolean {
  return projects <= own;
}

function onlyOff(projects: boolean, own: boolean): boolean {
  return own || !projects;
}
