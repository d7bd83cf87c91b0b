import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { JsonObject } from '../base/json.ts';
import type { ConfigLayerSource } from '../protocol/generated/types.ts';
import { emptyTable, isTable, valueAt } from './config-table.ts';
import { type Layer, readLayer } from './layer.ts';
import { projectFolders, realPath } from './project-folders.ts';
import type { Toml } from './toml.ts';

/**
 * What a project can never set, trusted or not: what starts programs, what chooses where prompts and keys go, and what
 * decides about trust itself. A new setting of one of these kinds belongs here.
 */
export const USER_ONLY_KEYS = [
  'apps',
  'chatgpt_base_url',
  'hooks',
  'mcp_servers',
  'model_provider',
  'model_providers',
  'notify',
  'openai_base_url',
  'otel',
  'plugins',
  'profile',
  'profiles',
  'projects',
  'shell_environment_policy',
] as const;

/**
 * The `.codex/config.toml` of each folder from the project's root down to `cwd`, outermost first. One in a folder that
 * the user's own settings do not call trusted is not even read: its layer is disabled.
 */
export function projectLayers({ cwd, home, user }: { cwd: string; home: string; user: JsonObject }, toml: Toml): Layer[] {
  const { root, folders } = projectFolders(cwd);
  const homeFile = realPath(join(home, 'config.toml'));
  return folders.flatMap((folder) => {
    const dotCodexFolder = join(folder, '.codex');
    const file = join(dotCodexFolder, 'config.toml');
    if (!existsSync(file) || realPath(file) === homeFile) return [];
    const name: ConfigLayerSource = { type: 'project', dotCodexFolder };
    return isTrusted(folder, root, user) ? [withoutUserOnlyKeys(readLayer(file, name, toml))] : [untrusted(name, folder, file)];
  });
}

/** The entry of the nearest folder decides, up to the project's root. */
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
    if (isAbsolute(path) && isTable(entry)) levels.set(realPath(path), entry.trust_level);
  }
  return levels;
}

function withoutUserOnlyKeys(layer: Layer): Layer {
  const ignoredKeys = USER_ONLY_KEYS.filter((key) => Object.hasOwn(layer.config, key));
  const config = Object.assign(emptyTable(), layer.config);
  for (const key of ignoredKeys) delete config[key];
  return { ...layer, config, ignoredKeys };
}

function untrusted(name: ConfigLayerSource, folder: string, file: string): Layer {
  return {
    name,
    config: emptyTable(),
    disabledReason: `${folder} is not trusted: set trust_level = "trusted" under [projects.${JSON.stringify(folder)}] in the home's config.toml`,
    ignoredKeys: [],
    label: null,
    place: () => ({ path: file, range: null }),
  };
}
