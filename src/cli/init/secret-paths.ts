import type { JsonObject, JsonValue } from '../../base/json-value.ts';
import { isTable } from '../../config/layers/config-table.ts';
import { namesSecret } from '../../secrets/names-secret.ts';
import { holdsSecret } from '../../secrets/redact-likely-secrets.ts';

type Path = readonly string[];

/** Tables and values that are there for secrets, whatever is in them. `*` stands for any name. */
const FOR_SECRETS: readonly Path[] = [
  ['model_providers', '*', 'experimental_bearer_token'],
  ['model_providers', '*', 'http_headers'],
  ['model_providers', '*', 'query_params'],
  ['mcp_servers', '*', 'env'],
  ['mcp_servers', '*', 'http_headers'],
  ['mcp_safety_check', 'env'],
  ['mcp_safety_check', 'http_headers'],
  ['shell_environment_policy', 'set'],
];

/**
 * Keys whose names have a word for secrets, and whose values are the names of variables or of
 * places.
 */
const NO_SECRETS: readonly string[] = [
  'cli_auth_credentials_store',
  'mcp_oauth_credentials_store',
  'env_http_headers',
];

/** The parts of a program or a request: without one of these, it would be another one. */
const PARTS: readonly string[] = ['command', 'args', 'url', 'cwd'];

/** Settings that can be left out without the loss of a limit of the agent. */
const LEAVABLE: readonly string[] = [
  'mcp_servers',
  'model_providers',
  'shell_environment_policy',
  'notify',
  'openai_base_url',
];

/**
 * The paths of what may be a secret in a config.toml. `needed`: those that may belong to a limit of
 * the agent.
 */
export function secretPaths(config: JsonObject): { leavable: Path[]; needed: Path[] } {
  const found = below(config, []).map(whole);
  const isLeavable = (path: Path) => LEAVABLE.includes(withoutProfile(path)[0] ?? '');
  return { leavable: found.filter(isLeavable), needed: found.filter((path) => !isLeavable(path)) };
}

function below(table: JsonObject, path: Path): Path[] {
  return Object.entries(table).flatMap(([key, value]): Path[] => {
    const here = [...path, key];
    if (isForSecrets(here)) return isEmpty(value) ? [] : [here];
    if (isTable(value)) return NO_SECRETS.includes(key) ? [] : below(value, here);
    return holdsSecrets(value, NO_SECRETS.includes(key) ? '' : key) ? [here] : [];
  });
}

function isEmpty(value: JsonValue): boolean {
  return isTable(value) && Object.keys(value).length === 0;
}

function isForSecrets(path: Path): boolean {
  const own = withoutProfile(path);
  return FOR_SECRETS.some(
    (pattern) =>
      pattern.length === own.length &&
      pattern.every((key, index) => key === '*' || key === own[index]),
  );
}

/**
 * Whether a value under a key may have a secret. The words of a list are read as a command line,
 * too.
 */
function holdsSecrets(value: JsonValue, key: string): boolean {
  if (typeof value === 'string')
    return value !== '' && (namesSecret(key) || holdsSecret(value) || hasQuery(value));
  if (Array.isArray(value)) {
    const words = value.filter((element) => typeof element === 'string');
    return holdsSecret(words.join(' ')) || value.some((element) => holdsSecrets(element, key));
  }
  return isTable(value) && Object.entries(value).some(([name, inner]) => holdsSecrets(inner, name));
}

/**
 * Whether a value is a URL with a query or a fragment. Some services have their keys there, under
 * any name.
 */
function hasQuery(value: string): boolean {
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value)) return false;
  const { search, hash } = new URL(value);
  return search !== '' || hash !== '';
}

/** An MCP server that lacks a part would be another program, so all of it is left out. */
function whole(path: Path): Path {
  const own = withoutProfile(path);
  const isPart = own[0] === 'mcp_servers' && PARTS.includes(own[2] ?? '');
  return isPart ? path.slice(0, path.length - own.length + 2) : path;
}

function withoutProfile(path: Path): Path {
  return path[0] === 'profiles' ? path.slice(2) : path;
}
