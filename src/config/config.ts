import { cutText } from '../base/cut-text.ts';
import type { Env } from '../base/env.ts';
import type { JsonObject, JsonValue } from '../base/json-value.ts';
import { ConfigError } from './config-error.ts';
import { isTable, valueAt } from './layers/config-table.ts';
import type { Layer } from './layers/layer.ts';
import { SETTINGS, type Setting, type SettingName, type SettingValue } from './settings.ts';

interface ConfigParts {
  home: string;
  env: Env;
  modelGiven: boolean;
  layers: Layer[];
  values: JsonObject;
}

/**
 * The settings of one thread, as they were when it was read. A value is validated when it is asked for, so that a bad
 * one disturbs only what needs it: reading it throws a ConfigError that names file, line and key.
 */
export class Config {
  readonly home: string;
  readonly env: Env;
  /** The server was given a model, which answers whatever provider is named. */
  readonly modelGiven: boolean;
  /** The lowest first; disabled ones too, which set nothing. */
  readonly layers: readonly Layer[];
  /** All layers in one table. */
  readonly values: JsonObject;

  constructor({ home, env, modelGiven, layers, values }: ConfigParts) {
    this.home = home;
    this.env = env;
    this.modelGiven = modelGiven;
    this.layers = layers;
    this.values = values;
  }

  /** The value of a setting, its default where nothing sets it. */
  get<N extends SettingName>(name: N): SettingValue<N> {
    return this.read(name.split('.'), SETTINGS[name]);
  }

  /** As `get`, for a key that is known only now: one of a provider, say. */
  read<T>(path: readonly string[], setting: Setting<T>): T {
    const value = this.rawValue(path);
    if (value === undefined) return setting.absent;
    const read = setting.read(value);
    if (read === undefined) throw this.error(path, `expected ${setting.expected}, found ${describe(value, setting.secret === true)}`);
    return read;
  }

  /** The keys of the table at `path`; none where nothing is set. */
  keys(path: readonly string[]): string[] {
    const value = this.rawValue(path);
    if (value === undefined) return [];
    if (!isTable(value)) throw this.noTable(path, value);
    return Object.keys(value);
  }

  /** A ConfigError about the key at `path`, naming where it was set. */
  error(path: readonly string[], problem: string): ConfigError {
    const layer = this.layerOf(path);
    const label = layer?.label ? ` (${layer.label})` : '';
    return new ConfigError(`${path.join('.')}${label}: ${problem}`, layer?.locate(path));
  }

  /** The layer that decides what stands at `path`. */
  layerOf(path: readonly string[]): Layer | null {
    return this.layers.findLast((layer) => valueAt(layer.config, path) !== undefined) ?? null;
  }

  private rawValue(path: readonly string[]): JsonValue | undefined {
    for (let length = 1; length < path.length; length++) {
      const outer = path.slice(0, length);
      const value = valueAt(this.values, outer);
      if (value !== undefined && !isTable(value)) throw this.noTable(outer, value);
    }
    return valueAt(this.values, path);
  }

  /** A text in place of a table is not quoted: it may be an address with a password, or a key. */
  private noTable(path: readonly string[], found: JsonValue): ConfigError {
    return this.error(path, `expected a table, found ${describe(found, true)}`);
  }
}

function describe(value: JsonValue, secret: boolean): string {
  if (secret && typeof value === 'string') return value === '' ? 'an empty text' : 'a text';
  if (Array.isArray(value)) return 'a list';
  if (isTable(value)) return 'a table';
  const written = JSON.stringify(value);
  return written.length > 80 ? `${cutText(written, 80)}…` : written;
}
