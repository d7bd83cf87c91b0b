import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '../base/env.ts';
import { EventLoopYield } from '../base/event-loop-yield.ts';
import type { JsonObject } from '../base/json-value.ts';
import { isFolder } from '../base/paths/is-folder.ts';
import { readRoles } from './agents/read-roles.ts';
import { Config } from './config.ts';
import { loadHooks } from './hooks/load-hooks.ts';
import { type Layer, parseLayer, readLayer, type TomlReading } from './layers/layer.ts';
import { type Overrides, overridesLayer, requestLayer } from './layers/request-layer.ts';
import { readStoredLogin } from './login/stored-login.ts';
import { profileFile } from './profile-files.ts';
import { projectLayers } from './project-layers.ts';
import {
  NO_REQUIREMENTS,
  type Requirements,
  readRequirements,
} from './requirements/requirements.ts';
import { emptyTable, isTable, mergeTables, tableWith, valueAt } from './toml/config-table.ts';
import { loadToml } from './toml/toml.ts';
import { withTrustDefaults } from './trust/project-trust.ts';
import type { TrustRecordFile } from './trust/trust-record-file.ts';

export interface ConfigSources {
  /** The absolute path of the folder with config.toml. */
  home: string;
  /** The absolute path of the thread's working directory. */
  cwd: string;
  env: Env;
  /** Settings of the command line, or of the program that has the server in its process. */
  overrides: Overrides;
  /** The `config` object of a request. */
  request?: JsonObject | null;
  /** The contents of project files that the user trusts. */
  trustedFiles: TrustRecordFile;
  /**
   * The absolute path of the folder with the configuration and the requirements for all users of
   * the machine. Null: there is none.
   */
  systemDir?: string | null;
  /** The features that were switched while the server runs. The configuration overrides them. */
  features?: Readonly<Record<string, boolean>>;
  /** The text that counts as the home's config.toml. Default: what the file has. */
  userText?: string;
  /**
   * Whether the server was given a model, which replaces all providers. `embedded`: it is the
   * embedded one. Default: false.
   */
  modelGiven?: boolean | 'embedded';
}

/**
 * Reads all sources again and merges them, from the lowest: what the trust in the project gives,
 * the system's config.toml, the home's, the trusted files of projects, the profile, the command
 * line, the request. Throws a ConfigError if a source cannot be read. A single invalid value throws
 * later, when it is used. Lets other work run between the sources.
 */
export async function loadConfig(sources: ConfigSources): Promise<Config> {
  const { home, cwd, env, overrides, request, trustedFiles, modelGiven = false } = sources;
  const toml = await loadToml();
  const breaks = new EventLoopYield();
  const reading = { toml, breaks };
  const { system, user } = await ownLayers(sources, reading);
  const requirements = await requirementsOf(sources, reading);
  const below = mergeLayers([...system, user]);
  const project = await projectLayers({ cwd, home, user: below }, { toml, trustedFiles, breaks });
  const { layers: projects, roleFiles, trust } = project;
  const session: Layer[] = [];
  if (Object.keys(overrides).length > 0) session.push(overridesLayer(overrides, toml));
  if (request) session.push(await requestLayer(request, breaks));
  await breaks.worked(1);

  const all = [...system, user, ...projects, ...session];
  const switched = switchedFeatures(sources);
  const login = readStoredLogin(home);
  const base = new Config({
    home,
    env,
    modelGiven,
    login,
    requirements,
    layers: all,
    values: mergeTables(switched, mergeLayers(all)),
  });
  await breaks.worked(1);
  const profiles = await profileLayers(base, { user, reading });
  const layers = [...system, user, ...projects, ...profiles, ...session];
  const set = mergeTables(
    mergeTables(switched, guardianReviewer(base.values)),
    mergeLayers(layers),
  );
  const values = withTrustDefaults(set, trust);
  const own = new Config({ home, env, modelGiven, login, requirements, layers, values });
  await breaks.worked(1);
  const agentRoles = await readRoles({ home, own, layers, roleFiles, toml, breaks });
  const isEnabled = valueAt(own.values, ['features', 'hooks']) !== false;
  const hooks = await loadHooks({
    home,
    layers,
    files: project.hookFiles,
    mainLayers: project.hookLayers,
    isEnabled,
  });
  return new Config({
    home,
    env,
    modelGiven,
    login,
    requirements,
    layers,
    values,
    agentRoles,
    hooks,
    trust,
  });
}

type OwnSources = Pick<ConfigSources, 'home' | 'systemDir' | 'userText'>;

/**
 * Resolves with the settings of the user and of the system, which decide about the trust in
 * projects. Rejects with a ConfigError.
 */
export async function ownSettings(sources: OwnSources): Promise<JsonObject> {
  const { system, user } = await ownLayers(sources, {
    toml: await loadToml(),
    breaks: new EventLoopYield(),
  });
  return mergeLayers([...system, user]);
}

async function ownLayers(
  sources: OwnSources,
  reading: TomlReading,
): Promise<{ system: Layer[]; user: Layer }> {
  const layer = await systemFile(sources, 'config.toml', reading);
  return {
    system: layer === null ? [] : [layer],
    user: await userLayer(join(sources.home, 'config.toml'), sources, reading),
  };
}

/** Rejects with a ConfigError if the file is invalid. */
async function requirementsOf(sources: ConfigSources, reading: TomlReading): Promise<Requirements> {
  const layer = await systemFile(sources, 'requirements.toml', reading);
  return layer === null ? NO_REQUIREMENTS : readRequirements(layer);
}

/**
 * Null: there is no such file, or it sets nothing. Rejects with a ConfigError if it cannot be
 * looked at: it may have limits.
 */
async function systemFile(
  { systemDir = null }: OwnSources,
  name: string,
  reading: TomlReading,
): Promise<Layer | null> {
  if (systemDir === null) return null;
  const file = join(systemDir, name);
  const layer = await readLayer(file, { type: 'system', file }, reading);
  return Object.keys(layer.config).length === 0 ? null : layer;
}

function switchedFeatures({ features = {} }: ConfigSources): JsonObject {
  return Object.entries(features)
    .map(([name, enabled]) => tableWith(['features', name], enabled))
    .reduce(mergeTables, emptyTable());
}

function userLayer(file: string, { userText }: OwnSources, reading: TomlReading): Promise<Layer> {
  const name = { type: 'user' as const, file, profile: null };
  return userText === undefined
    ? readLayer(file, name, reading)
    : parseLayer(Buffer.from(userText), { file, name }, reading);
}

function mergeLayers(layers: readonly Layer[]): JsonObject {
  return layers.map((layer) => layer.config).reduce(mergeTables, emptyTable());
}

/**
 * The layers of the profile: `[profiles.NAME]` of config.toml, and over it NAME.config.toml in the
 * home, in which other agents keep it.
 */
async function profileLayers(
  base: Config,
  { user, reading }: { user: Layer; reading: TomlReading },
): Promise<Layer[]> {
  const profile = base.get('profile');
  if (profile === null) return [];
  const ofTable = profileTable(base, { user, profile });
  const ofFile = await fileOfProfile(base, { profile, reading });
  if (ofTable === null && ofFile === null) {
    throw base.error(
      ['profile'],
      `there is no table [profiles.${profile}], and no file ${profile}.config.toml in the home`,
    );
  }
  return [ofTable, ofFile]
    .filter((layer) => layer !== null)
    .map((layer) => withReviewer(layer, base));
}

function profileTable(
  base: Config,
  { user, profile }: { user: Layer; profile: string },
): Layer | null {
  const path = ['profiles', profile];
  const config = valueAt(base.values, path);
  if (config === undefined) return null;
  if (!isTable(config)) throw base.error(path, 'expected a table');
  const home = base.layerOf(path) ?? user;
  return {
    name: { type: 'user', file: join(base.home, 'config.toml'), profile },
    config,
    disabledReason: null,
    warnsDisabled: false,
    ignoredKeys: [],
    label: home.label,
    locate: (key) => home.locate([...path, ...key]),
  };
}

async function fileOfProfile(
  { home }: Config,
  { profile, reading }: { profile: string; reading: TomlReading },
): Promise<Layer | null> {
  const name = profileFile(profile);
  const file = name === null ? null : join(home, name);
  // While a command runs, an empty folder may keep the place of a file that does not exist.
  return file !== null && existsSync(file) && !isFolder(file)
    ? readLayer(file, { type: 'user', file, profile }, reading)
    : null;
}

function withReviewer(layer: Layer, { requirements }: Config): Layer {
  const isForbidden = requirements.features?.guardian_approval === false;
  return isForbidden
    ? layer
    : { ...layer, config: mergeTables(guardianReviewer(layer.config), layer.config) };
}

/**
 * The deprecated `guardian_approval` sets the reviewer of its own scope. An `approvals_reviewer` in
 * that scope overrides it.
 */
function guardianReviewer(scope: JsonObject): JsonObject {
  const asked = valueAt(scope, ['features', 'guardian_approval']) === true;
  return asked ? tableWith(['approvals_reviewer'], 'guardian_subagent') : emptyTable();
}
