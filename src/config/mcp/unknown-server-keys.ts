import { isObject } from '../../base/json-value.ts';
import { suggestKey } from '../../base/text/suggest-key.ts';
import type { Config } from '../config.ts';

export interface UnknownKey {
  path: readonly string[];
  problem: string;
}

export const OF_STDIO = ['command', 'args', 'env', 'env_vars', 'cwd'];

export const OF_HTTP = [
  'url',
  'bearer_token_env_var',
  'http_headers',
  'env_http_headers',
  'scopes',
  'oauth_resource',
  'oauth',
];

const OF_OAUTH = [
  'client_id',
  'client_secret_env_var',
  'client_metadata_url',
  'allow_private_addresses',
];

const OF_BOTH = [
  'enabled',
  'required',
  'enabled_tools',
  'disabled_tools',
  'startup_timeout_sec',
  'startup_timeout_ms',
  'tool_timeout_sec',
  'default_tools_approval_mode',
  'supports_parallel_tool_calls',
  'tools',
];

const OF_TOOLS = ['approval_mode', 'approved_definition'];

export function rawValue(config: Config, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (table, key) => (isObject(table) && Object.hasOwn(table, key) ? table[key] : undefined),
    config.values,
  );
}

/** The keys of other programs, and mistakes. */
export function unknownServerKeys(config: Config, path: readonly string[]): UnknownKey[] {
  const isHttp = config.keys(path).includes('url');
  const tools = [...path, 'tools'];
  return [
    ...unknownIn(config, path, [...OF_BOTH, ...(isHttp ? OF_HTTP : OF_STDIO)]),
    ...(isHttp
      ? unknownIn(config, [...path, 'oauth'], OF_OAUTH)
      : remoteVariables(config, [...path, 'env_vars'])),
    ...config.keys(tools).flatMap((tool) => unknownIn(config, [...tools, tool], OF_TOOLS)),
  ];
}

function unknownIn(
  config: Config,
  path: readonly string[],
  known: readonly string[],
): UnknownKey[] {
  return config.keys(path).flatMap((key) => {
    if (known.includes(key)) return [];
    const suggested = suggestKey(key, known);
    const help =
      suggested === null ? `The keys here are ${known.join(', ')}.` : `Did you mean ${suggested}?`;
    return [
      {
        path: [...path, key],
        problem: `heddle does not know this key of an MCP server, so it has no effect. ${help}`,
      },
    ];
  });
}

/** Variables have a name, and come from the environment of heddle. */
function remoteVariables(config: Config, path: readonly string[]): UnknownKey[] {
  const value = rawValue(config, path);
  const others = (Array.isArray(value) ? value : []).flatMap((element: unknown) =>
    isObject(element)
      ? Object.entries(element).filter(
          ([key, text]) => key !== 'name' && !(key === 'source' && text === 'local'),
        )
      : [],
  );
  if (others.length === 0) return [];
  const keys = [...new Set(others.map(([key]) => key))].join(', ');
  return [
    {
      path,
      problem: `these keys have no effect: ${keys}. The variables are those of the environment of heddle.`,
    },
  ];
}
