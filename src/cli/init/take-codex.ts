import { dirname, isAbsolute, resolve } from 'node:path';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import type { JsonObject } from '../../base/json-value.ts';
import { showText } from '../../base/text/show-text.ts';
import { unusedAgentPaths } from '../../config/agents/agent-warnings.ts';
import type { Config } from '../../config/config.ts';
import { unusedPaths } from '../../config/keys/key-warnings.ts';
import { OTHER_KEYS } from '../../config/keys/unserved-keys.ts';
import { isTable } from '../../config/layers/config-table.ts';
import { parseLayer, readConfigText } from '../../config/layers/layer.ts';
import { loadToml } from '../../config/layers/toml.ts';
import { mcpSettings } from '../../config/mcp/mcp-settings.ts';
import type { EditToml, TomlEdit } from '../../config/writing/toml-edit.ts';
import { holdsSecret } from '../../secrets/redact-likely-secrets.ts';
import { OptionError } from '../option-error.ts';
import { secretPaths } from './secret-paths.ts';

const COLUMNS_MAX = 100;

interface TakeDeps {
  editToml: EditToml;
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
  /** Keys that may have a secret. */
  secret: string[];
}

/**
 * Reads the config.toml of Codex, with its comments, but without keys that have no effect in heddle
 * and without anything that may be a secret. Rejects with an OptionError if it cannot be taken, and
 * with a ConfigError if it is not valid TOML. Errors quote no value.
 */
export async function takeCodex(
  file: string,
  { editToml, configWith }: TakeDeps,
): Promise<TakenSettings> {
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
  const ofServers = mcpSettings(await configWith(text)).unknown.map(({ path }) => path);
  const ofClients = OTHER_KEYS.filter((key) => layer.config[key] !== undefined).map((key) => [key]);
  const unused = outermost([
    ...unusedPaths(layer),
    ...unusedAgentPaths(layer),
    ...ofServers,
    ...ofClients,
  ]);
  const dropped = new PathSet(unused);
  const { leavable, needed } = secretPaths(layer.config);
  const limit = needed.find((path) => !dropped.covers(path));
  if (limit !== undefined)
    throw new OptionError(
      `--from-codex: ${shownKey(limit)} in ${file} may have a secret, which is not copied, and heddle cannot do without it: ` +
        `set HEDDLE_HOME=${dirname(file)} to use that home as it is`,
    );
  const secret = outermost(leavable).filter((path) => !dropped.covers(path));
  const hidden = new PathSet(secret);
  const left = [...unused.filter((path) => !hidden.covers(path)), ...secret];
  const edits: TomlEdit[] = left.map((path) => ({ path, value: null, mergeStrategy: 'replace' }));
  const edited = await editToml(withoutSecretComments(text), [
    ...edits,
    ...roleFileEdits(layer.config, dirname(file)),
  ]);
  if ('problem' in edited) throw new OptionError(`--from-codex: ${file}: ${edited.problem}`);
  const names = { unused: unused.map(shownKey), secret: secret.map(shownKey) };
  return { text: `${head(file, names)}${edited.text}`, ...names };
}

/** The files of roles, which a relative path names from the folder of the config.toml. */
function roleFileEdits({ agents }: JsonObject, folder: string): TomlEdit[] {
  return Object.entries(isTable(agents) ? agents : {}).flatMap(([role, table]): TomlEdit[] => {
    const path = isTable(table) ? table.config_file : undefined;
    if (typeof path !== 'string' || isAbsolute(path) || path.startsWith('~')) return [];
    return [
      {
        path: ['agents', role, 'config_file'],
        value: resolve(folder, path),
        mergeStrategy: 'replace',
      },
    ];
  });
}

function head(file: string, { unused, secret }: Pick<TakenSettings, 'unused' | 'secret'>): string {
  return [
    `# Taken from ${showText(file)} by heddle init. docs/configuration.md lists all settings.\n`,
    listed('Left out, because heddle does not use them:', unused),
    listed(
      'Left out, because they may have secrets. Pass those in variables of the environment:',
      secret,
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

/** A dotted key as a person reads it, in one line. */
function shownKey(path: readonly string[]): string {
  return path.map((key) => (/^[\w-]+$/.test(key) ? key : JSON.stringify(showText(key)))).join('.');
}

/** Strings, which may have a `#`, comments, and the beginnings of tables. */
const TOKEN = new RegExp(
  [
    /"""(?:\\[\s\S]|[^\\])*?"""+/,
    /'''[\s\S]*?'''+/,
    /"(?:\\.|[^"\\\n])*"/,
    /'[^'\n]*'/,
    /#[^\r\n]*/,
    /(?<=^[ \t]*)\[(?:"[^"\n]*"|'[^'\n]*'|[^\]\n"'#])*\]/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gm',
);
/** The beginning of a table for secrets, which may be a comment, too. */
const SECRET_TABLE = /^\[[^\]]*\b(?:env|set|http_headers|query_params)["']?\s*\]/;

/** People switch a key off by making it a comment. */
function withoutSecretComments(text: string): string {
  let isForSecrets = false;
  return text.replace(TOKEN, (token) => {
    const line = token.replace(/^[#\s]+/, '');
    if (line.startsWith('[') && /^[#[]/.test(token)) isForSecrets = SECRET_TABLE.test(line);
    if (!token.startsWith('#')) return token;
    return isForSecrets || commentHoldsSecret(line)
      ? '# (a comment that may have a secret was left out)'
      : token;
  });
}

/** Settings may have quotes and spaces around their `=`. */
function commentHoldsSecret(comment: string): boolean {
  return holdsSecret(comment) || holdsSecret(comment.replace(/["']?\s*[=:]\s*/g, '='));
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

  /** Whether it has the path, or one above it. */
  covers(path: Path): boolean {
    return path.some((_key, index) => this.#keys.has(JSON.stringify(path.slice(0, index + 1))));
  }
}
