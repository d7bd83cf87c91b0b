import { createHash } from 'node:crypto';
import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { FileTooLargeError } from '../../base/files/open-regular-file.ts';
import { type FileContent, readRegularFileSync } from '../../base/files/read-regular-file.ts';
import type { JsonObject, JsonValue } from '../../base/json-value.ts';
import type { ConfigLayerSource } from '../../protocol/generated/types.ts';
import { ConfigError, type ConfigLocation } from '../toml/config-error.ts';
import { emptyTable, isTable } from '../toml/config-table.ts';
import { keyRanges } from '../toml/key-ranges.ts';
import type { Toml } from '../toml/toml.ts';

/** To parse a file of this size takes about 15 ms. */
export const CONFIG_BYTES_MAX = 256 * 1024;

/** A key that a source is not allowed to set. */
export interface IgnoredKey {
  path: readonly string[];
  /** Follows "KEY is ignored: ". */
  reason: string;
}

/** One source of settings, and the settings in it. */
export interface Layer {
  name: ConfigLayerSource;
  config: JsonObject;
  /** Why this layer is not used. Null if it is used. */
  disabledReason: string | null;
  /**
   * Whether the user expects this layer to be used. If so, clients get a warning if it is disabled.
   */
  warnsDisabled: boolean;
  /** Keys that the source is not allowed to set. They are not in `config`. */
  ignoredKeys: readonly IgnoredKey[];
  /**
   * For messages about a source that is not a file, such as "given on the command line". Null for
   * files.
   */
  label: string | null;
  /** Returns the location of a key of this layer. */
  locate(path: readonly string[]): ConfigLocation;
}

/** The parser, and what lets other work run between its steps. */
export interface TomlReading {
  toml: Toml;
  breaks: EventLoopYield;
}

/** By the tables of a text. A text that did not change has the same ones. */
const rangesIn = new WeakMap<JsonObject, ReturnType<typeof keyRanges>>();

/**
 * Reads a config.toml as a layer. A missing file gives an empty layer. Rejects with a ConfigError
 * if the file is invalid.
 */
export async function readLayer(
  file: string,
  name: ConfigLayerSource,
  reading: TomlReading,
): Promise<Layer> {
  const bytes = readBytes(file);
  return bytes === null ? emptyLayer(file, name) : parseLayer(bytes, { file, name }, reading);
}

/**
 * Returns the text of a config.toml, or null if there is none. Throws a ConfigError if it cannot be
 * read.
 */
export function readConfigText(file: string): string | null {
  const bytes = readBytes(file);
  return bytes === null ? null : decode(bytes, file);
}

/**
 * Resolves with the layer of a config.toml with these bytes. Rejects with a ConfigError if they are
 * not valid.
 */
export async function parseLayer(
  bytes: Uint8Array,
  { file, name }: { file: string; name: ConfigLayerSource },
  { toml, breaks }: TomlReading,
): Promise<Layer> {
  const text = decode(bytes, file);
  const config = await toml.parse(text, { file, breaks });
  const locate = (path: readonly string[]): ConfigLocation => {
    const rangeOf = rangesIn.get(config) ?? keyRanges(text);
    rangesIn.set(config, rangeOf);
    return { path: file, range: rangeOf(path) };
  };
  return { ...emptyLayer(file, name), config, locate };
}

/** Returns a layer without settings, for a file that is missing or not used. */
export function emptyLayer(file: string, name: ConfigLayerSource): Layer {
  return {
    name,
    config: emptyTable(),
    disabledReason: null,
    warnsDisabled: false,
    ignoredKeys: [],
    label: null,
    locate: () => ({ path: file, range: null }),
  };
}

function readBytes(file: string): Buffer | null {
  const location = { path: file, range: null };
  let read: FileContent | null;
  try {
    read = readRegularFileSync(file, { bytesMax: CONFIG_BYTES_MAX });
  } catch (error) {
    if (error instanceof FileTooLargeError) {
      throw new ConfigError(`the file is larger than ${CONFIG_BYTES_MAX} bytes`, location, {
        cause: error,
      });
    }
    throw new ConfigError(
      `the file cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      location,
      { cause: error },
    );
  }
  return read?.bytes ?? null;
}

function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ConfigError(
      'the file is not UTF-8 text',
      { path: file, range: null },
      { cause: error },
    );
  }
}

/**
 * Returns a hash of the layer's settings. The order and the notation of the keys do not change it.
 */
export function layerVersion(layer: Layer): string {
  return `sha256:${createHash('sha256').update(canonicalJson(layer.config)).digest('hex')}`;
}

/** JSON in which the order of the keys is always the same. */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isTable(value)) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`;
}
