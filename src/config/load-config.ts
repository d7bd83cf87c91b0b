import { join } from 'node:path';
import type { Env } from '../base/env.ts';
import type { JsonObject } from '../base/json-value.ts';
import { Config } from './config.ts';
import { emptyTable, isTable, mergeTables, tableWith, valueAt } from './layers/config-table.ts';
import { type Layer, readLayer } from './layers/layer.ts';
import { projectLayers } from './layers/project-layers.ts';
import { flagsLayer, requestLayer } from './layers/request-layer.ts';
import { loadToml } from './layers/toml.ts';

export interface ConfigSources {
  /** Absolute: the folder of config.toml. */
  home: string;
  /** Absolute: the folder that the thread works in. */
  cwd: string;
  env: Env;
  /** `key=value` texts from the command line. */
  overrides: readonly string[];
  /** The `config` object of a request. */
  request?: JsonObject | null;
  /** The server was given a model, in place of all providers: by default it was not. */
  modelGiven?: boolean;
}

/**
 * Reads all settings anew. From the lowest: the home's config.toml, trusted projects' files, the chosen profile, the
 * command line, the request. Throws a ConfigError where a source cannot be read; single bad values wait until used.
 */
export async function loadConfig({ home, cwd, env, overrides, request, modelGiven = false }: ConfigSources): Promise<Config> {
  const toml = await loadToml();
  const file = join(home, 'config.toml');
  const user = readLayer(file, { type: 'user', file, profile: null }, toml);
  const projects = projectLayers({ cwd, home, user: user.config }, toml);
  const session: Layer[] = [];
  if (overrides.length > 0) session.push(flagsLayer(overrides, toml));
  if (request) session.push(requestLayer(request));

  const all = [user, ...projects, ...session];
  const base = new Config({ home, env, modelGiven, layers: all, values: mergeLayers(all) });
  const profile = profileLayer(base, user);
  const layers = [user, ...projects, ...profile, ...session];
  const values = mergeTables(guardianReviewer(base.values), mergeLayers(layers));
  return new Config({ home, env, modelGiven, layers, values });
}

function mergeLayers(layers: readonly Layer[]): JsonObject {
  return layers.map((layer) => layer.config).reduce(mergeTables, emptyTable());
}

function profileLayer(base: Config, user: Layer): Layer[] {
  const profile = base.get('profile');
  if (profile === null) return [];
  const path = ['profiles', profile];
  const config = valueAt(base.values, path);
  if (config === undefined) throw base.error(['profile'], `there is no [profiles.${profile}]`);
  if (!isTable(config)) throw base.error(path, 'expected a table');
  const home = base.layerOf(path) ?? user;
  return [
    {
      name: { type: 'user', file: join(base.home, 'config.toml'), profile },
      config: mergeTables(guardianReviewer(config), config),
      disabledReason: null,
      ignoredKeys: [],
      label: home.label,
      locate: (key) => home.locate([...path, ...key]),
    },
  ];
}

/** The deprecated `guardian_approval` names a reviewer for its own scope, where that scope names none itself. */
function guardianReviewer(scope: JsonObject): JsonObject {
  const asked = valueAt(scope, ['features', 'guardian_approval']) === true;
  return asked ? tableWith(['approvals_reviewer'], 'guardian_subagent') : emptyTable();
}
