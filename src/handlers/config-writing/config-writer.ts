import { dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import type { JsonObject, JsonValue } from '../../base/json-value.ts';
import { KeyedQueue } from '../../base/keyed-queue.ts';
import { makeFolderSync } from '../../base/paths/make-folder.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import type { Config } from '../../config/config.ts';
import { ConfigError, IncompleteConfigError } from '../../config/config-error.ts';
import { type ConfigReads, configErrors } from '../../config/config-errors.ts';
import { isTable, valueAt } from '../../config/layers/config-table.ts';
import { CONFIG_BYTES_MAX, type Layer, layerVersion, readConfigText } from '../../config/layers/layer.ts';
import { splitKey } from '../../config/layers/split-key.ts';
import { limitedSettings } from '../../config/requirements/requirement-warnings.ts';
import type { EditToml, TomlEdit } from '../../config/writing/toml-edit.ts';
import { writeText } from '../../files/write-all.ts';
import { writeFile } from '../../files/write-file.ts';
import { configWriteRefused } from '../../protocol/config-write-refused.ts';
import type { ConfigEdit, ConfigWriteResponse, OverriddenMetadata } from '../../protocol/generated/types.ts';

/** The changes that one request may make. */
const EDITS_MAX = 200;

export interface ConfigWriterDeps {
  /** The absolute path of the folder with config.toml. */
  home: string;
  editToml: EditToml;
  /** The configuration of a thread without settings, with this text in place of that of config.toml. */
  configWith: (userText: string) => Promise<Config>;
  /** Reads what other parts of the server use. */
  further: ConfigReads;
}

export interface ConfigWrite {
  edits: readonly ConfigEdit[];
  filePath?: string | null;
  expectedVersion?: string | null;
}

/** What a write has changed, and the settings that it leaves incomplete. */
export interface ConfigWritten {
  answer: ConfigWriteResponse;
  config: Config;
  incomplete: readonly ConfigError[];
}

/**
 * Changes config.toml in the home: all edits of a write or none, with the comments and the notation of everything else kept. A write is
 * refused if it makes a setting invalid, if another program has changed the file since the client has read it, or if it is for another
 * file. Writes of this server wait for each other.
 */
export class ConfigWriter {
  readonly #deps: ConfigWriterDeps;
  readonly #file: string;
  readonly #queue = new KeyedQueue();
  /** The largest file takes some milliseconds at each step. */
  readonly #breaks = new EventLoopYield();

  constructor(deps: ConfigWriterDeps) {
    this.#deps = deps;
    this.#file = join(deps.home, 'config.toml');
  }

  /** Rejects with an RpcError that says why nothing was changed. */
  write({ edits, filePath = null, expectedVersion = null }: ConfigWrite): Promise<ConfigWritten> {
    this.#requireOwnFile(filePath);
    const parsed = readEdits(edits);
    return this.#queue.run('config.toml', () => this.#write(parsed, expectedVersion));
  }

  async #write(edits: readonly TomlEdit[], expectedVersion: string | null): Promise<ConfigWritten> {
    const text = this.#read();
    const before = await this.#load(text);
    const version = layerVersion(userLayer(before));
    if (expectedVersion !== null && expectedVersion !== version) throw changedMeanwhile(this.#file);
    const edited = await this.#deps.editToml(text, edits);
    if ('problem' in edited) throw invalid(edited.problem);
    if (Buffer.byteLength(edited.text) > CONFIG_BYTES_MAX) throw invalid(`config.toml would be larger than ${CONFIG_BYTES_MAX} bytes`);
    await this.#breaks.yielded();
    const config = await this.#load(edited.text);
    await this.#breaks.yielded();
    const incomplete = this.#requireValid(before, config);
    if (edited.text !== text) {
      if (this.#read() !== text) throw changedMeanwhile(this.#file);
      await this.#replace(edited.text, { isNew: text === '' });
    }
    const overridden = edits.map(({ path }) => overriddenAt(config, path)).find((found) => found !== null) ?? null;
    const answer: ConfigWriteResponse = {
      status: overridden === null ? 'ok' : 'okOverridden',
      version: layerVersion(userLayer(config)),
      filePath: this.#file,
      overriddenMetadata: overridden,
    };
    return { answer, config, incomplete };
  }

  #requireOwnFile(filePath: string | null): void {
    if (filePath === null || filePath === '') return;
    const isOwn = filePath === resolve(filePath) && realPathOrSame(filePath) === realPathOrSame(this.#file);
    if (!isOwn) throw configWriteRefused('configLayerReadonly', `only ${this.#file} can be changed, not ${filePath}`);
  }

  #read(): string {
    return asValidation(() => readConfigText(this.#file)) ?? '';
  }

  async #load(text: string): Promise<Config> {
    try {
      return await this.#deps.configWith(text);
    } catch (error) {
      if (error instanceof ConfigError) throw invalid(`${error.problem}. config.toml was not changed.`);
      throw error;
    }
  }

  /** Returns what the write leaves incomplete: a client may add it with its next write. Throws if the write makes a value invalid. */
  #requireValid(before: Config, after: Config): readonly ConfigError[] {
    const errors = (config: Config) => [...configErrors(config, this.#deps.further), ...limitedSettings(config)];
    const known = new Set(errors(before).map(({ problem }) => problem));
    const added = errors(after).filter(({ problem }) => !known.has(problem));
    const bad = added.find((error) => !(error instanceof IncompleteConfigError));
    if (bad !== undefined) throw invalid(`${bad.problem}. config.toml was not changed.`);
    return added;
  }

  async #replace(text: string, { isNew }: { isNew: boolean }): Promise<void> {
    makeFolderSync(dirname(this.#file), 0o700);
    await writeFile(this.#file, (file) => writeText(file, text), isNew ? 0o600 : null);
  }
}

function readEdits(edits: readonly ConfigEdit[]): TomlEdit[] {
  if (edits.length > EDITS_MAX) throw invalid(`a write can have at most ${EDITS_MAX} edits, not ${edits.length}: make several writes`);
  return edits.map(({ keyPath, value, mergeStrategy }) => {
    const path = splitKey(keyPath);
    if (path === null) throw invalid(`keyPath ${JSON.stringify(keyPath)}: expected names separated by dots, such as features.goals`);
    return { path, value, mergeStrategy };
  });
}

function asValidation<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigError) throw invalid(error.message);
    throw error;
  }
}

/** The layer of config.toml itself. */
export function userLayer({ layers }: Config): Layer {
  const layer = layers.find(({ name }) => name.type === 'user' && name.profile === null);
  if (layer === undefined) throw new Error('a configuration without the layer of the user');
  return layer;
}

/** Returns the layer that overrides a value of config.toml; null: it is in effect. */
function overriddenAt(config: Config, path: readonly string[]): OverriddenMetadata | null {
  const own = valueAt(userLayer(config).config, path);
  const effective = valueAt(config.values, path) ?? null;
  const different = own === undefined ? null : firstDifference(own, effective, path);
  if (different === null) return null;
  const layer = config.layerOf(different);
  if (layer === null || layer === userLayer(config)) return null;
  const message = `${different.join('.')} is overridden: it is ${layer.label ?? `set by ${sourceOf(layer)}`}`;
  return { message, overridingLayer: { name: layer.name, version: layerVersion(layer) }, effectiveValue: effective };
}

function firstDifference(own: JsonValue, effective: JsonValue, path: readonly string[]): readonly string[] | null {
  if (!isTable(own) || !isTable(effective)) return isDeepStrictEqual(own, effective) ? null : path;
  for (const [key, value] of Object.entries(own)) {
    const found = firstDifference(value, (effective as JsonObject)[key] ?? null, [...path, key]);
    if (found !== null) return found;
  }
  return null;
}

function sourceOf({ name, locate }: Layer): string {
  return name.type === 'user' && name.profile ? `the profile ${name.profile}` : (locate([]).path ?? name.type);
}

function invalid(message: string): Error {
  return configWriteRefused('configValidationError', message);
}

function changedMeanwhile(file: string): Error {
  return configWriteRefused('configVersionConflict', `${file} has changed since it was read: read the configuration again`);
}
