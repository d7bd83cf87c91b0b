import type { JsonObject, JsonValue } from '../../base/json-value.ts';
import { isTable } from '../../config/toml/config-table.ts';
import type { Scope } from './scope.ts';

/** A reference to a variable of the environment. */
const WHOLE_VARIABLE = /^\$\{([A-Za-z_]\w*)\}$/;
const BEARER = /^Bearer \$\{([A-Za-z_]\w*)\}$/i;
const NAME = /^[\w.-]{1,64}$/;

class Problem extends Error {}

/**
 * Returns a server of another agent as `[mcp_servers.NAME]` has it, or why heddle cannot have it.
 * heddle expands no variables in values: it gets those of the environment by their names.
 */
export function serverTable(
  name: string,
  server: JsonValue,
  { cwd }: Scope,
): { table: JsonObject } | { problem: string } {
  if (!NAME.test(name))
    return { problem: 'its name is not one of at most 64 letters, digits, ".", "-" and "_"' };
  if (!isTable(server)) return { problem: 'it is not an object' };
  try {
    const table = transportTable(server, cwd);
    return { table: server.disabled === true ? { ...table, enabled: false } : table };
  } catch (error) {
    if (error instanceof Problem) return { problem: error.message };
    throw error;
  }
}

function transportTable(server: JsonObject, cwd: string | null): JsonObject {
  const { type = server.url === undefined ? 'stdio' : 'http' } = server;
  if (type === 'stdio') return stdioTable(server, cwd);
  if (type === 'http' || type === 'streamable-http') return httpTable(server);
  throw new Problem(`heddle does not have the transport ${JSON.stringify(type)}`);
}

function stdioTable({ command, args = [], env = {} }: JsonObject, cwd: string | null): JsonObject {
  const words = Array.isArray(args) ? args.map((word) => literal(word, 'args')) : null;
  if (words === null) throw new Problem('args is not a list');
  const { literals, named } = variables(env, 'env');
  const other = named.find(([key, variable]) => key !== variable);
  if (other !== undefined)
    throw new Problem(
      `env.${other[0]} is the variable ${other[1]} under another name, which heddle cannot pass`,
    );
  return {
    command: literal(command ?? null, 'command'),
    ...(words.length > 0 ? { args: words } : {}),
    ...(Object.keys(literals).length > 0 ? { env: literals } : {}),
    ...(named.length > 0 ? { env_vars: named.map(([key]) => key) } : {}),
    // The program of a project may lie in it, and must not run in other folders.
    ...(cwd === null ? {} : { cwd }),
  };
}

function httpTable({ url, headers = {} }: JsonObject): JsonObject {
  const table: JsonObject = { url: literal(url ?? null, 'url') };
  const { authorization, others } = splitHeaders(headers);
  if (authorization !== null) table.bearer_token_env_var = authorization;
  const { literals, named } = variables(others, 'headers');
  if (Object.keys(literals).length > 0) table.http_headers = literals;
  if (named.length > 0) table.env_http_headers = Object.fromEntries(named);
  return table;
}

/** `authorization`: the variable that has the bearer token; null: none has. */
function splitHeaders(headers: JsonValue): { authorization: string | null; others: JsonObject } {
  if (!isTable(headers)) throw new Problem('headers is not an object');
  const entries = Object.entries(headers);
  const bearer = entries.find(
    ([key, value]) =>
      key.toLowerCase() === 'authorization' && typeof value === 'string' && BEARER.test(value),
  );
  const variable = bearer === undefined ? null : (BEARER.exec(String(bearer[1]))?.[1] ?? null);
  return {
    authorization: variable,
    others: Object.fromEntries(entries.filter((entry) => entry !== bearer)),
  };
}

/**
 * The values of a table that are literal, and those that are variables, with the names of these.
 */
function variables(
  table: JsonValue,
  what: string,
): { literals: JsonObject; named: [key: string, variable: string][] } {
  if (!isTable(table)) throw new Problem(`${what} is not an object`);
  const literals: JsonObject = {};
  const named: [string, string][] = [];
  for (const [key, value] of Object.entries(table)) {
    const variable = typeof value === 'string' ? WHOLE_VARIABLE.exec(value)?.[1] : undefined;
    if (variable !== undefined) named.push([key, variable]);
    else literals[key] = literal(value, `${what}.${key}`);
  }
  return { literals, named };
}

/** Does not quote the value: it may be a secret. */
function literal(value: JsonValue, what: string): string {
  if (typeof value !== 'string' || (value === '' && (what === 'command' || what === 'url')))
    throw new Problem(`${what} is not a text`);
  if (value.includes('${'))
    throw new Problem(`${what} has a variable in it, which heddle does not expand`);
  return value;
}
