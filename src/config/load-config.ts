import { join } from 'node:path';
import type { Env } from '../base/env.ts';
import type { JsonObject } from '../base/json-value.ts';
import { readRoles } from './agents/read-roles.ts';
import { Config } from './config.ts';
import { loadHooks } from './hooks/load-hooks.ts';
import { emptyTable, isTable, mergeTables, tableWith, valueAt } from './layers/config-table.ts';
import { type Layer, readLayer } from './layers/layer.ts';
import { projectLayers } from './layers/project-layers.ts';
import { flagsLayer, requestLayer } from './layers/request-layer.ts';
import { loadToml } from './layers/toml.ts';
import type { TrustedFiles } from './trust/trusted-files.ts';

export interface ConfigSources {
  /** The absolute path of the folder with config.toml. */
  home: string;
  /** The absolute path of the thread's working directory. */
  cwd: string;
  env: Env;
  /** `key=value` strings from the command line. */
  overrides: readonly string[];
  /** The `config` object of a request. */
  request?: JsonObject | null;
  /** The contents of project files that the user trusts. */
  trustedFiles: TrustedFiles;
  /** Whether the server was given a model, which replaces all providers. Default: false. */
  modelGiven?: boolean;
}

/**
 * Reads all sources again and merges them, from the lowest: the home's config.toml, the trusted files of projects, the
 * profile, the command line, the request. Throws a ConfigError if a source cannot be read. A single invalid value throws
 * later, when it is used.
 */
export async function loadConfig(sources: ConfigSources): Promise<Config> {
  const { home, cwd, env, overrides, request, trustedFiles, modelGiven = false } = sources;
  const toml = await loadToml();
  const file = join(home, 'config.toml');
  const user = readLayer(file, { type: 'user', file, profile: null }, toml);
  const { layers: projects, roleFiles, hookFiles } = projectLayers({ cwd, home, user: user.config }, { toml, trustedFiles });
  const session: Layer[] = [];
  if (overrides.length > 0) session.push(flagsLayer(overrides, toml));
  if (request) session.push(requestLayer(request));

  const all = [user, ...projects, ...session];
  const base = new Config({ home, env, modelGiven, layers: all, values: mergeLayers(all) });
  const profile = profileLayer(base, user);
  const layers = [user, ...projects, ...profile, ...session];
  const values = mergeTables(guardianReviewer(base.values), mergeLayers(layers));
  const agentRoles = readRoles({ home, env, layers, roleFiles, toml });
  const isEnabled = valueAt(values, ['features', 'hooks']) !== false;
  const hooks = await loadHooks({ home, layers, files: hookFiles, isEnabled });
  return new Config({ home, env, modelGiven, layers, values, agentRoles, hooks });
}

function mergeLayers(layers: readonly Layer[]): JsonObject {
  return layers.map((layer) => layer.config).reduce(mergeTables, emptyTable());
}

function profileLayer(base: Config, user: Layer): Layer[] {
  const profile = base.get('profile');
  if (profile === null) return [];
  const path = ['profiles', profile];
  const config = valueAt(base.values, path);
  if (config === undefined) throw base.error(['profile'], `there is no table [profiles.${profile}]`);
  if (!isTable(config)) throw base.error(path, 'expected a table');
  const home = base.layerOf(path) ?? user;
  return [
    {
      name: { type: 'user', file: join(base.home, 'config.toml'), profile },
      config: mergeTables(guardianReviewer(config), config),
      disabledReason: null,
      warnsDisabled: false,
      ignoredKeys: [],
      label: home.label,
      locate: (key) => home.locate([...path, ...key]),
    },
  ];
}

/** The deprecated `guardian_approval` sets the reviewer of its own scope. An `approvals_reviewer` in that scope overrides it. */
function guardianReviewer(scope: JsonObject): JsonObject {
  const asked = valueAt(scope, ['features', 'guardian_approval']) === true;
  return asked ? tableWith(['approvals_reviewer'], 'guardian_subagent') : emptyTable();
}
