import { dirname, isAbsolute, resolve } from 'node:path';
import { stringify } from 'smol-toml';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import type { JsonObject } from '../../base/json-value.ts';
import { showText } from '../../base/text/show-text.ts';
import type { Config } from '../../config/config.ts';
import { OTHER_KEYS } from '../../config/keys/unserved-keys.ts';
import { parseLayer, readConfigText } from '../../config/layers/layer.ts';
import { mcpSettings } from '../../config/mcp/mcp-settings.ts';
import { unusedAgentPaths } from '../../config/problems/agent-warnings.ts';
import { unusedPaths } from '../../config/problems/unknown-keys.ts';
import { isTable } from '../../config/toml/config-table.ts';
import { loadToml } from '../../config/toml/toml.ts';
import { HIDDEN } from '../../secrets/redact-likely-secrets.ts';
import { OptionError } from '../command-line/option-error.ts';
import { isPlainPath } from './is-plain.ts';
import { placeOf, uncopiedPaths } from './uncopied-paths.ts';

const COLUMNS_MAX = 100;

interface TakeDeps {
  /** The configuration with this text in place of that of the home's config.toml. */
  configWith: (text: string) => Promise<Config>;
}

/**
 * The text of a config.toml with the settings of Codex that heddle uses, and the names of those
 * that were left out.
 */
export interface TakenSettings {
  text: string;
  /** Keys that heddle does not use. */
  unused: string[];
  /** Keys that may have a secret, by the sentence that says where they belong. */
  secret: ReadonlyMap<string, readonly string[]>;
}

/**
 * Reads the config.toml of Codex, and writes it anew: only with settings that heddle uses, and of
 * them only with values that are known to be no secret. Comments are not copied, because anything
 * can be in them. Rejects with an OptionError if the file cannot be taken, and with a ConfigError
 * if it is not valid TOML. Errors quote no value.
 */
export async function takeCodex(file: string, { configWith }: TakeDeps): Promise<TakenSettings> {
  const text = readConfigText(file);
  if (text === null)
    throw new OptionError(
      `--from-codex: ${file} does not exist: answer the questions of heddle init instead`,
    );
  const reading = { toml: await loadToml(), breaks: new EventLoopYield() };
  const layer = await parseLayer(
    Buffer.from(text),
    { file, name: { type: 'user', file, profile: null } },
    reading,
  );
  const { leavable, needed, unknown } = uncopiedPaths(layer.config);
  const ofServers = mcpSettings(await configWith(text)).unknown.map(({ path }) => path);
  const ofClients = OTHER_KEYS.filter((key) => layer.config[key] !== undefined).map((key) => [key]);
  const unused = outermost([
    ...unusedPaths(layer),
    ...unusedAgentPaths(layer),
    ...ofServers,
    ...ofClients,
    ...unknown,
  ]);
  const dropped = new PathSet(unused);
  const limit = needed.find((path) => !dropped.covers(path));
  if (limit !== undefined)
    throw new OptionError(
      `--from-codex: ${shownKey(limit)} in ${file} may have a secret, which is not copied, and heddle cannot do without it: ` +
        `set HEDDLE_HOME=${dirname(file)} to use that home as it is`,
    );
  const secret = outermost(leavable).filter((path) => !dropped.covers(path));
  const hidden = new PathSet(secret);
  const left = unused.filter((path) => !hidden.covers(path));
  const kept = without(layer.config, new PathSet([...left, ...secret]), []);
  const names = { unused: left.map(shownKey), secret: byPlace(secret) };
  return { text: `${head(file, names)}${stringify(withRoleFiles(kept, dirname(file)))}`, ...names };
}

/** The table without the keys at these paths. */
function without(table: JsonObject, left: PathSet, path: Path): JsonObject {
  const kept = Object.entries(table).filter(([key]) => !left.has([...path, key]));
  return Object.fromEntries(
    kept.map(([key, value]) => [
      key,
      isTable(value) ? without(value, left, [...path, key]) : value,
    ]),
  );
}

/** The files of roles are named from the folder of the config.toml. */
function withRoleFiles(config: JsonObject, folder: string): JsonObject {
  const { agents } = config;
  if (!isTable(agents)) return config;
  const moved = Object.entries(agents).map(([role, table]) => {
    const path = isTable(table) ? table.config_file : undefined;
    const isRelative = typeof path === 'string' && !isAbsolute(path) && !path.startsWith('~');
    return [
      role,
      isTable(table) && isRelative ? { ...table, config_file: resolve(folder, path) } : table,
    ] as const;
  });
  return { ...config, agents: Object.fromEntries(moved) };
}

function byPlace(paths: readonly Path[]): Map<string, string[]> {
  const places = new Map<string, string[]>();
  for (const path of paths) {
    const place = placeOf(path);
    const names = places.get(place) ?? [];
    places.set(place, names);
    names.push(shownKey(path));
  }
  return places;
}

function head(file: string, { unused, secret }: Pick<TakenSettings, 'unused' | 'secret'>): string {
  return [
    `# Taken from ${showText(file)} by heddle init, without its comments.\n# docs/configuration.md lists all settings.\n`,
    listed('Left out, because heddle does not use them:', unused),
    ...[...secret].map(([place, names]) =>
      listed(`Left out, because they may have secrets. ${place}:`, names),
    ),
    '\n',
  ].join('');
}

function listed(title: string, names: readonly string[]): string {
  if (names.length === 0) return '';
  const lines: string[] = [];
  let line = '';
  for (const [index, name] of names.entries()) {
    const word = index < names.length - 1 ? `${name},` : name;
    if (line !== '' && line.length + word.length > COLUMNS_MAX) {
      lines.push(line);
      line = '';
    }
    line += line === '' ? `#   ${word}` : ` ${word}`;
  }
  return `${[`# ${title}`, ...lines, line].join('\n')}\n`;
}

/** A dotted key as a person reads it, in one line. Names that may be secrets are hidden. */
function shownKey(path: readonly string[]): string {
  return path
    .map((key) =>
      !isPlainPath(key) ? HIDDEN : /^[\w-]+$/.test(key) ? key : JSON.stringify(showText(key)),
    )
    .join('.');
}

/** The paths that are below no other one. */
function outermost(paths: readonly Path[]): Path[] {
  const taken = new PathSet([]);
  return [...paths]
    .sort((one, other) => one.length - other.length)
    .filter((path) => !taken.covers(path) && taken.add(path));
}

type Path = readonly string[];

class PathSet {
  readonly #keys: Set<string>;

  constructor(paths: readonly Path[]) {
    this.#keys = new Set(paths.map((path) => JSON.stringify(path)));
  }

  add(path: Path): true {
    this.#keys.add(JSON.stringify(path));
    return true;
  }

  has(path: Path): boolean {
    return this.#keys.has(JSON.stringify(path));
  }

  /** Whether it has the path, or one above it. */
  covers(path: Path): boolean {
    return path.some((_key, index) => this.#keys.has(JSON.stringify(path.slice(0, index + 1))));
  }
}
