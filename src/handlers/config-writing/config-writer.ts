import { join } from 'node:path';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { KeyedQueue } from '../../base/keyed-queue.ts';
import { Config } from '../../config/config.ts';
import type { ConfigReads } from '../../config/config-errors.ts';
import {
  CONFIG_BYTES_MAX,
  type Layer,
  layerVersion,
  parseLayer,
} from '../../config/layers/layer.ts';
import {
  type ConfigProblem,
  configProblems,
  unreadable,
} from '../../config/problems/config-problems.ts';
import { ConfigError } from '../../config/toml/config-error.ts';
import { splitKey } from '../../config/toml/split-key.ts';
import { loadToml } from '../../config/toml/toml.ts';
import type { EditToml, TomlEdit } from '../../config/writing/toml-edit.ts';
import { configWriteInvalid } from '../../protocol/config-write-refused.ts';
import type {
  ConfigEdit,
  ConfigWarningNotification,
  ConfigWriteResponse,
} from '../../protocol/generated/types.ts';
import { asInvalid, ConfigFile, keepAs, PRIVATE_MODE } from './config-file.ts';
import { overriddenAt } from './overridden-at.ts';

/** The changes that one request may make. */
const EDITS_MAX = 200;

/** How often a write is attempted again because another program has changed the file meanwhile. */
const TRIES_MAX = 3;

export interface ConfigWriterOptions {
  /** The absolute path of the folder with config.toml. */
  home: string;
  editToml: EditToml;
  /**
   * The configuration of a thread without settings, with this text in place of that of config.toml.
   */
  configWith: (userText: string) => Promise<Config>;
  /** Reads what other parts of the server use. */
  further: ConfigReads;
}

export interface ConfigWrite {
  /** The edits, or a function that makes them from the configuration to which they are applied. */
  edits: readonly ConfigEdit[] | ((config: Config) => readonly ConfigEdit[]);
  filePath?: string | null;
  expectedVersion?: string | null;
}

/** The result of a write, with warnings about additions that are incomplete or have no effect. */
export interface ConfigWritten {
  answer: ConfigWriteResponse;
  config: Config;
  warnings: readonly ConfigWarningNotification[];
}

/** A text of config.toml, and what it means. */
interface ConfigState {
  text: string;
  layer: Layer;
  /** If another source cannot be read, only with the settings of the text. */
  config: Config;
  problems: readonly ConfigProblem[];
}

/**
 * Changes config.toml in the home: all edits of a write or none, with the comments and the notation
 * of everything else kept. A write is refused if it adds a problem, if another program has changed
 * the file since the client has read it, or if it is for another file. Writes of this server wait
 * for each other.
 */
export class ConfigWriter {
  readonly #deps: ConfigWriterOptions;
  readonly #file: ConfigFile;
  readonly #queue = new KeyedQueue();
  /** The largest file takes some milliseconds at each step. */
  readonly #breaks = new EventLoopYield();

  constructor(deps: ConfigWriterOptions) {
    this.#deps = deps;
    this.#file = new ConfigFile(join(deps.home, 'config.toml'));
  }

  /** Rejects with an RpcError that says why nothing was changed. */
  write({ edits, filePath = null, expectedVersion = null }: ConfigWrite): Promise<ConfigWritten> {
    this.#file.requireNamed(filePath);
    if (typeof edits !== 'function') readEdits(edits);
    return this.#queue.run('config.toml', async () => {
      for (let tries = 1; ; tries++) {
        const written = await this.#write(
          typeof edits === 'function' ? edits : () => edits,
          expectedVersion,
        );
        if (written !== null) return written;
        if (expectedVersion !== null || tries === TRIES_MAX) throw this.#file.changedMeanwhile();
      }
    });
  }

  /**
   * Writes a whole config.toml, which only the user can read. If there is one, it is kept at the
   * path `keptAs`; null: then the write is refused. Resolves with where the old one is. Rejects
   * with an RpcError that says why nothing was changed.
   */
  create(
    text: string,
    { keptAs }: { keptAs: string | null },
  ): Promise<Omit<ConfigWritten, 'answer'> & { setAside: string | null }> {
    return this.#queue.run('config.toml', async () => {
      const found = this.#file.read();
      if (found !== null && keptAs === null)
        throw configWriteInvalid(`${this.#file.path} exists already`);
      requireFitting(text);
      const after = await this.#state(text);
      const warnings = addedWarnings(await this.#state(''), after, this.#file.path);
      const setAside = found === null ? null : keptAs;
      if (setAside !== null && found !== null) await keepAs(setAside, found);
      if (!(await this.#file.replace(text, found, PRIVATE_MODE)))
        throw this.#file.changedMeanwhile();
      return { config: after.config, warnings, setAside };
    });
  }

  /** Null: another program has changed the file meanwhile. */
  async #write(
    editsFor: (config: Config) => readonly ConfigEdit[],
    expectedVersion: string | null,
  ): Promise<ConfigWritten | null> {
    const found = this.#file.read();
    const before = await this.#state(found ?? '');
    if (expectedVersion !== null && expectedVersion !== layerVersion(before.layer)) return null;
    const edits = readEdits(editsFor(before.config));
    const edited = await this.#deps.editToml(before.text, edits);
    if ('problem' in edited) throw configWriteInvalid(edited.problem);
    requireFitting(edited.text);
    await this.#breaks.yielded();
    const after = await this.#state(edited.text);
    const warnings = addedWarnings(before, after, this.#file.path);
    if (after.text !== before.text && !(await this.#file.replace(after.text, found))) return null;
    const overridden =
      edits.map(({ path }) => overriddenAt(after, path)).find((found) => found !== null) ?? null;
    const answer: ConfigWriteResponse = {
      status: overridden === null ? 'ok' : 'okOverridden',
      version: layerVersion(after.layer),
      filePath: this.#file.path,
      overriddenMetadata: overridden,
    };
    return { answer, config: after.config, warnings };
  }

  /** Reads a text of config.toml. Throws an RpcError if it is not valid TOML. */
  async #state(text: string): Promise<ConfigState> {
    const toml = await loadToml();
    const name = { type: 'user' as const, file: this.#file.path, profile: null };
    const read = parseLayer(
      Buffer.from(text),
      { file: this.#file.path, name },
      { toml, breaks: this.#breaks },
    );
    const layer = await read.catch((error: unknown) => {
      throw asInvalid(error);
    });
    await this.#breaks.yielded();
    const { config, failure } = await this.#load(text, layer);
    await this.#breaks.yielded();
    const problems = configProblems(config, this.#deps.further);
    if (failure === null) return { text, layer, config, problems };
    return { text, layer, config, problems: [unreadable(failure), ...problems] };
  }

  async #load(
    text: string,
    layer: Layer,
  ): Promise<{ config: Config; failure: ConfigError | null }> {
    try {
      return { config: await this.#deps.configWith(text), failure: null };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const { home } = this.#deps;
      return {
        config: new Config({
          home,
          env: {},
          modelGiven: false,
          layers: [layer],
          values: layer.config,
        }),
        failure: error,
      };
    }
  }
}

function requireFitting(text: string): void {
  if (Buffer.byteLength(text) > CONFIG_BYTES_MAX)
    throw configWriteInvalid(`config.toml would be larger than ${CONFIG_BYTES_MAX} bytes`);
}

/**
 * Returns what a write adds that is incomplete or has no effect, and the problems of other files
 * that it brings into force. Throws an RpcError if it adds another problem.
 */
function addedWarnings(
  before: ConfigState,
  after: ConfigState,
  file: string,
): ConfigWarningNotification[] {
  const known = new Set(before.problems.map(({ problem }) => problem));
  const added = after.problems.filter(({ problem }) => !known.has(problem));
  const bad = added.find(
    ({ kind, warning: { path } }) => kind === 'invalid' && (path === null || path === file),
  );
  if (bad !== undefined) throw configWriteInvalid(`${bad.problem}. config.toml was not changed.`);
  return added.map(({ kind, warning }) =>
    kind === 'incomplete' ? { ...warning, details: LATER } : warning,
  );
}

const LATER = 'Add it before you start a thread that needs it.';

function readEdits(edits: readonly ConfigEdit[]): TomlEdit[] {
  if (edits.length > EDITS_MAX)
    throw configWriteInvalid(
      `a write can have at most ${EDITS_MAX} edits, not ${edits.length}: make several writes`,
    );
  return edits.map(({ keyPath, value, mergeStrategy }) => {
    const path = splitKey(keyPath);
    if (path === null)
      throw configWriteInvalid(
        `keyPath ${JSON.stringify(keyPath)}: expected names separated by dots, such as features.goals`,
      );
    return { path, value, mergeStrategy };
  });
}
