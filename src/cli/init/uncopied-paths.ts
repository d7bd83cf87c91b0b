import type { JsonObject, JsonValue } from '../../base/json-value.ts';
import { isTable } from '../../config/toml/config-table.ts';
import { COPIED_SETTINGS, type CopyRule, obeys, ruleFor } from './copied-settings.ts';
import { isPlainProgram } from './is-plain-program.ts';

type Path = readonly string[];

/** The paths of a config.toml that are not copied. */
export interface UncopiedPaths {
  /** Those that may have a secret, and can be left out without the loss of a limit of the agent. */
  leavable: Path[];
  /** Those that may have a secret, and may belong to a limit of the agent. */
  needed: Path[];
  /** Those of settings that heddle does not know. */
  unknown: Path[];
}

/**
 * The parts of an MCP server that can be left out. Without any other part, it would be another
 * server.
 */
const OF_SERVER: readonly string[] = ['env', 'http_headers'];

/** Settings that can be left out without the loss of a limit of the agent. */
const LEAVABLE: readonly Path[] = [
  ...['mcp_servers', 'model_providers', 'notify', 'openai_base_url', 'projects', 'profile'].map(
    (key) => [key],
  ),
  ...[
    'model',
    'model_provider',
    'review_model',
    'service_tier',
    'project_doc_fallback_filenames',
  ].map((key) => [key]),
  ['shell_environment_policy', 'set'],
  ['sandbox_workspace_write', 'writable_roots'],
];

/**
 * Returns the paths of a config.toml that are not copied: those that no rule of COPIED_SETTINGS
 * lets through.
 */
export function uncopiedPaths(config: JsonObject): UncopiedPaths {
  const found: UncopiedPaths = { leavable: [], needed: [], unknown: [] };
  walk(config, { path: [], rule: COPIED_SETTINGS }, found);
  return found;
}

function walk(
  value: JsonValue,
  { path, rule }: { path: Path; rule: CopyRule },
  found: UncopiedPaths,
): void {
  const own = path[0] === 'profiles' ? path.slice(2) : path;
  if (typeof rule === 'function' || !isTable(value)) {
    if (!obeys(value, rule)) refuse(path, own, found);
    return;
  }
  if (own.length === 2 && own[0] === 'mcp_servers' && !isPlainProgram(commandOf(value))) {
    refuse(path, own, found);
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    const [here, next] = [[...path, key], ruleFor(key, rule)];
    if (next === null) found.unknown.push(here);
    else if (!Object.hasOwn(rule.own, key) && !rule.isName(key)) refuse(here, [...own, key], found);
    else walk(inner, { path: here, rule: next }, found);
  }
}

/**
 * The program and the arguments of a server. One without a command stands for a program that has
 * none.
 */
function commandOf({ command = 'program', args = [] }: JsonObject): string[] {
  return [command, ...(Array.isArray(args) ? args : [args])].map((word) =>
    typeof word === 'string' ? word : '\0',
  );
}

function refuse(path: Path, own: Path, { leavable, needed }: UncopiedPaths): void {
  const isOfServer = own[0] === 'mcp_servers' && !OF_SERVER.includes(own[2] ?? '');
  const left = isOfServer ? path.slice(0, path.length - own.length + 2) : path;
  const isLeavable = LEAVABLE.some((each) => each.every((key, index) => own[index] === key));
  (isLeavable ? leavable : needed).push(left);
}

/** Says where a setting that was left out belongs. `path`: without its profile. */
export function placeOf(path: Path): string {
  const [table, , key] = path[0] === 'profiles' ? path.slice(2) : path;
  if (table === 'mcp_servers' && key === 'env')
    return 'Set these variables where heddle starts, and name them in env_vars of the server';
  if (key === 'http_headers')
    return 'Put each header into a variable of the environment, and name it in env_http_headers';
  if (key === 'experimental_bearer_token')
    return 'Put the key into a variable of the environment, and name it in env_key';
  if (table === 'mcp_servers')
    return 'Add these servers by hand, and put secrets into variables of the environment, which env_vars and bearer_token_env_var name';
  if (table === 'shell_environment_policy') return 'Set these variables where heddle starts';
  return 'Add these by hand, without secrets';
}
