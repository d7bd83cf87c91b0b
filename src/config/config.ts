import type { Env } from '../base/env.ts';
import type { JsonObject, JsonValue } from '../base/json-value.ts';
import { cutText } from '../base/text/cut-text.ts';
import type { AgentRoles } from './agents/agent-role.ts';
import { type HookSet, NO_HOOKS } from './hooks/hook-definition.ts';
import type { Layer } from './layers/layer.ts';
import { NO_LOGIN, type StoredLogin } from './login/stored-login.ts';
import {
  NO_REQUIREMENTS,
  type Requirements,
  requiredValue,
  withRequiredFeatures,
} from './requirements/requirements.ts';
import type { Setting } from './settings/setting.ts';
import { SETTINGS, type SettingName, type SettingValue } from './settings/settings.ts';
import { ConfigError, type ConfigLocation, IncompleteConfigError } from './toml/config-error.ts';
import { isTable, valueAt } from './toml/config-table.ts';
import { NO_TRUST, type ProjectTrust } from './trust/project-trust.ts';

interface ConfigParts {
  home: string;
  env: Env;
  modelGiven: boolean | 'embedded';
  layers: Layer[];
  values: JsonObject;
  login?: StoredLogin;
  requirements?: Requirements;
  agentRoles?: AgentRoles;
  hooks?: HookSet;
  trust?: ProjectTrust;
}

/**
 * The settings of one thread, as they were when the files were read. A value is validated when it
 * is read, so an invalid value affects only the code that needs it: reading it throws a ConfigError
 * that names the file, line and key.
 */
export class Config {
  readonly home: string;
  readonly env: Env;
  /**
   * Whether the server was given a model. It then answers for every provider. `embedded`: it is the
   * embedded one.
   */
  readonly modelGiven: boolean | 'embedded';
  /** From the lowest to the highest. Includes disabled layers, which set nothing. */
  readonly layers: readonly Layer[];
  /**
   * All layers, merged into one table, over what the trust in the project gives, with the features
   * that the administrator requires.
   */
  readonly values: JsonObject;
  /** The login that is stored in the home. */
  readonly login: StoredLogin;
  /** The roles that agents can have, beside the built-in ones. */
  readonly agentRoles: AgentRoles;
  /** The hooks that the sources define. */
  readonly hooks: HookSet;
  /** The trust in the thread's folder, by the user's own files. */
  readonly trust: ProjectTrust;
  /** The limits of the administrator. */
  readonly requirements: Requirements;

  constructor({
    home,
    env,
    modelGiven,
    layers,
    values,
    login = NO_LOGIN,
    requirements = NO_REQUIREMENTS,
    agentRoles = { roles: [], problems: [] },
    hooks = NO_HOOKS,
    trust = NO_TRUST,
  }: ConfigParts) {
    this.home = home;
    this.env = env;
    this.modelGiven = modelGiven;
    this.layers = layers;
    this.values = withRequiredFeatures(values, requirements);
    this.login = login;
    this.requirements = requirements;
    this.agentRoles = agentRoles;
    this.hooks = hooks;
    this.trust = trust;
  }

  /**
   * Returns the value of a setting, or its default if no layer sets it; if the administrator does
   * not allow it, one that is allowed.
   */
  get<N extends SettingName>(name: N): SettingValue<N> {
    return requiredValue(name, this.read(name.split('.'), SETTINGS[name]), this.requirements);
  }

  /** Like `get`, for a key that is not in SETTINGS, such as a key of a provider. */
  read<T>(path: readonly string[], setting: Setting<T>): T {
    const value = this.rawValue(path);
    if (value === undefined) return setting.absent;
    const read = setting.read(value);
    if (read === undefined)
      throw this.error(
        path,
        `expected ${setting.expected}, found ${describe(value, setting.secret === true)}`,
      );
    return read;
  }

  /**
   * Returns the keys of the table at `path`, or none if nothing is set there. Throws a ConfigError
   * if it is not a table.
   */
  keys(path: readonly string[]): string[] {
    const value = this.rawValue(path);
    if (value === undefined) return [];
    if (!isTable(value)) throw this.noTable(path, value);
    return Object.keys(value);
  }

  /**
   * Whether a layer sets something at `path`. Throws a ConfigError if an outer key is not a table.
   */
  isSet(path: readonly string[]): boolean {
    return this.rawValue(path) !== undefined;
  }

  /** Returns a ConfigError about the key at `path` that names the file or source that sets it. */
  error(path: readonly string[], problem: string): ConfigError {
    return new ConfigError(...this.#told(path, problem));
  }

  /** Like `error`, if something is missing at the path. */
  incomplete(path: readonly string[], problem: string): IncompleteConfigError {
    return new IncompleteConfigError(...this.#told(path, problem));
  }

  /** Returns the highest layer that sets `path`, or null if none does. */
  layerOf(path: readonly string[]): Layer | null {
    return this.layers.findLast((layer) => valueAt(layer.config, path) !== undefined) ?? null;
  }

  #told(
    path: readonly string[],
    problem: string,
  ): [problem: string, location: ConfigLocation | undefined] {
    const layer = this.layerOf(path);
    const label = layer?.label ? ` (${layer.label})` : '';
    return [`${path.join('.')}${label}: ${problem}`, layer?.locate(path)];
  }

  private rawValue(path: readonly string[]): JsonValue | undefined {
    for (let length = 1; length < path.length; length++) {
      const outer = path.slice(0, length);
      const value = valueAt(this.values, outer);
      if (value !== undefined && !isTable(value)) throw this.noTable(outer, value);
    }
    return valueAt(this.values, path);
  }

  /**
   * Does not quote a string found instead of a table: it may be a key, or a URL with a password.
   */
  private noTable(path: readonly string[], found: JsonValue): ConfigError {
    return this.error(path, `expected a table, found ${describe(found, true)}`);
  }
}

function describe(value: JsonValue, secret: boolean): string {
  if (secret && typeof value === 'string') return value === '' ? 'an empty string' : 'a string';
  if (Array.isArray(value)) return 'a list';
  if (isTable(value)) return 'a table';
  const written = JSON.stringify(value);
  return written.length > 80 ? `${cutText(written, 80)}…` : written;
}
