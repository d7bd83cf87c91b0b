import { FEATURE_LIST } from '../features/feature-list.ts';
import { SETTING_NAMES } from '../settings/settings.ts';
import {
  ALWAYS_ON_FEATURES,
  OTHER_KEYS,
  UNSERVED_FEATURES,
  UNSERVED_KEYS,
} from './unserved-keys.ts';

/** A table of config.toml whose keys are all known. */
export interface KnownTable {
  /** `*` stands for any name, or for any element of a list. */
  path: readonly string[];
  keys: readonly string[];
}

const PROVIDER_KEYS =
  `base_url connect_timeout_ms env_http_headers env_key experimental_bearer_token http_headers name query_params request_max_retries
  requires_openai_auth script stream_idle_timeout_ms stream_max_retries wire_api`
    .trim()
    .split(/\s+/);

/** Keys of providers that other programs use. heddle warns that they have no effect. */
export const UNSERVED_PROVIDER_KEYS: ReadonlySet<string> = new Set(
  `auth aws capabilities credential_file env_key_instructions gateway_oauth location model_catalog_url
  project_id supports_websockets websocket_connect_timeout_ms`
    .trim()
    .split(/\s+/),
);

/** The keys and tables that are read otherwise than as settings. */
const READ_KEYS =
  `cli_auth_credentials_store hooks mcp_oauth_callback_port mcp_oauth_callback_url mcp_oauth_credentials_store mcp_safety_check mcp_servers
  model_providers permissions profiles projects`
    .trim()
    .split(/\s+/);

/** The keys at the top of config.toml and of a profile. */
export const TOP_KEYS: readonly string[] = [
  ...new Set([
    ...SETTING_NAMES.map((name) => name.split('.')[0] ?? name),
    ...READ_KEYS,
    ...UNSERVED_KEYS,
    ...OTHER_KEYS,
  ]),
].sort();

/** The features that any program has. */
export const FEATURE_KEYS: readonly string[] = [
  ...new Set([
    ...FEATURE_LIST.map(({ name }) => name),
    ...ALWAYS_ON_FEATURES,
    ...UNSERVED_FEATURES,
  ]),
];

/**
 * The tables below the top whose keys are all known. Tables that are read strictly, such as those
 * of permissions, are not here.
 */
export const KNOWN_TABLES: readonly KnownTable[] = [
  { path: ['auto_review'], keys: settingsIn('auto_review') },
  { path: ['model_providers', '*'], keys: [...PROVIDER_KEYS, ...UNSERVED_PROVIDER_KEYS] },
  { path: ['projects', '*'], keys: ['trust_level'] },
  { path: ['sandbox_workspace_write'], keys: settingsIn('sandbox_workspace_write') },
  {
    path: ['shell_environment_policy'],
    keys: [...settingsIn('shell_environment_policy'), 'experimental_use_profile'],
  },
  { path: ['skills'], keys: settingsIn('skills') },
  { path: ['skills', 'config', '*'], keys: ['enabled', 'name', 'path'] },
  { path: ['tools'], keys: settingsIn('tools') },
];

function settingsIn(table: string): string[] {
  return SETTING_NAMES.filter((name) => name.startsWith(`${table}.`)).map((name) =>
    name.slice(table.length + 1),
  );
}
