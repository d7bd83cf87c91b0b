import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { JsonObject } from '../../base/json-value.ts';
import { isBelow } from '../../base/paths/is-within.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import type { ConfigLayerSource } from '../../protocol/generated/types.ts';
import { emptyTable, isTable, valueAt } from './config-table.ts';
import { type Layer, readLayer } from './layer.ts';
import { projectFolders } from './project-folders.ts';
import type { Toml } from './toml.ts';

/**
 * Keys that a project can never set, trusted or not. They start programs, choose where prompts and keys are sent, name files
 * outside the project, choose who approves actions, widen the sandbox, or decide about trust. Add a new setting of these kinds
 * here.
 */
export const USER_ONLY_KEYS = [
  'allow_login_shell',
  'approvals_reviewer',
  'apps',
  'chatgpt_base_url',
  'cli_auth_credentials_store',
  'default_permissions',
  'forced_chatgpt_workspace_id',
  'forced_login_method',
  'history',
  'hooks',
  'log_dir',
  'mcp_oauth_callback_url',
  'mcp_oauth_credentials_store',
  'mcp_servers',
  'model_catalog_json',
  'model_instructions_file',
  'model_provider',
  'model_providers',
  'notify',
  'openai_base_url',
  'oss_provider',
  'otel',
  'permissions',
  'plugins',
  'preferred_auth_method',
  'profile',
  'profiles',
  'projects',
  'sandbox_workspace_write',
  'shell_environment_policy',
  'sqlite_home',
  'zsh_path',
] as const;

/**
 * Returns a layer for the `.codex/config.toml` in each folder from the project's root down to `cwd`, outermost first. If the
 * user's own settings do not trust the folder, or the file is a link out of the project, the file is not read and its layer
 * is disabled.
 */
export function projectLayers({ cwd, home, user }: { cwd: string; home: string; user: JsonObject }, toml: Toml): Layer[] {
  const { root, folders } = projectFolders(cwd);
  const homeFile = realPathOrSame(join(home, 'config.toml'));
  return folders.flatMap((folder) => {
    const dotCodexFolder = join(folder, '.codex');
    const file = join(dotCodexFolder, 'config.toml');
    if (!existsSync(file) || realPathOrSame(file) === homeFile) return [];
    const name: ConfigLayerSource = { type: 'project', dotCodexFolder };
    if (!isTrusted(folder, root, user)) return [disabled(name, file, untrustedReason(folder))];
    if (!isBelow(realPathOrSame(file), root)) return [disabled(name, file, `${file} is a symbolic link that leads out of the project`)];
    return [withoutUserOnlyKeys(readLayer(file, name, toml))];
  });
}

/** The nearest entry decides, from the folder up to the project's root. */
function isTrusted(folder: string, root: string, user: JsonObject): boolean {
  const levels = trustLevels(user);
  for (let at = folder; ; at = dirname(at)) {
    if (levels.has(at)) return levels.get(at) === 'trusted';
    if (at === root) return false;
  }
}

function trustLevels(user: JsonObject): Map<string, unknown> {
  const projects = valueAt(user, ['projects']);
  const levels = new Map<string, unknown>();
  for (const [path, entry] of Object.entries(isTable(projects) ? projects : {})) {
    if (isAbsolute(path) && isTable(entry)) levels.set(realPathOrSame(path), entry.trust_level);
  }
  return levels;
}

function withoutUserOnlyKeys(layer: Layer): Layer {
  const isOpen = layer.config.sandbox_mode === 'danger-full-access';
  const ignoredKeys: string[] = USER_ONLY_KEYS.filter((key) => Object.hasOwn(layer.config, key));
  // A project may choose a sandbox, but may not disable it.
  if (isOpen) ignoredKeys.push('sandbox_mode');
  const config = Object.assign(emptyTable(), layer.config);
  for (const key of ignoredKeys) delete config[key];
  // The deprecated key for approvals_reviewer.
  if (isTable(config.features) && Object.hasOwn(config.features, 'guardian_approval')) {
    const { guardian_approval: _, ...features } = config.features;
    config.features = features;
    ignoredKeys.push('features.guardian_approval');
  }
  return { ...layer, config, ignoredKeys };
}

function untrustedReason(folder: string): string {
  return `${folder} is not trusted. To trust it, set trust_level = "trusted" under [projects.${JSON.stringify(folder)}] in the config.toml in your heddle home`;
}

function disabled(name: ConfigLayerSource, file: string, reason: string): Layer {
  return {
    name,
    config: emptyTable(),
    disabledReason: reason,
    ignoredKeys: [],
    label: null,
    locate: () => ({ path: file, range: null }),
  };
}
