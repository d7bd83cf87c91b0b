import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../base/json-value.ts';
import type { ConfigLayerSource } from '../../protocol/generated/types.ts';
import { ConfigError, type ConfigLocation } from '../config-error.ts';
import { readRegularFile } from '../read-regular-file.ts';
import { emptyTable, isTable } from './config-table.ts';
import type { Toml } from './toml.ts';

const CONFIG_BYTES_MAX = 1024 * 1024;

/** One source of settings, with what it sets. */
export interface Layer {
  name: ConfigLayerSource;
  config: JsonObject;
  /** Why nothing of this layer counts; null where it counts. */
  disabledReason: string | null;
  /** Keys that the source has and may not set; they are not in `config`. */
  ignoredKeys: string[];
  /** Where it is not a file: how people call it, for messages. */
  label: string | null;
  /** Where a key of this layer stands. */
  locate(path: readonly string[]): ConfigLocation;
}

/** Reads one config.toml as a layer; a missing file sets nothing. Throws a ConfigError where it is there but unusable. */
export function readLayer(file: string, name: ConfigLayerSource, toml: Toml): Layer {
  const text = readText(file);
  const config = text === null ? emptyTable() : toml.parse(text, file);
  return {
    name,
    config,
    disabledReason: null,
    ignoredKeys: [],
    label: null,
    locate: (path) => (text === null ? { path: file, range: null } : toml.locate(text, file, path)),
  };
}

function readText(file: string): string | null {
  const location = { path: file, range: null };
  let read: ReturnType<typeof readRegularFile>;
  try {
    read = readRegularFile(file, CONFIG_BYTES_MAX);
  } catch (error) {
    throw new ConfigError(`cannot be read: ${error instanceof Error ? error.message : String(error)}`, location, { cause: error });
  }
  if (read === null) return null;
  if (read.size > CONFIG_BYTES_MAX) throw new ConfigError(`larger than ${CONFIG_BYTES_MAX} bytes`, location);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(read.bytes);
  } catch (error) {
    throw new ConfigError('not UTF-8 text', location, { cause: error });
  }
}

/** Names what a layer sets: the same for the same settings, however they are written. */
export function layerVersion(layer: Layer): string {
  return `sha256:${createHash('sha256').update(canonicalJson(layer.config)).digest('hex')}`;
}

function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isTable(value)) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`;
}
