import { join, resolve } from 'node:path';
import type { JsonValue } from '../../base/json-value.ts';
import type { Config } from '../../config/config.ts';
import type { HiddenPattern } from '../../config/inherited-limits.ts';
import { flag, name, nullable, type Setting, wholeNumber } from '../../config/settings/setting.ts';
import { isTable } from '../../config/toml/config-table.ts';
import {
  extendedNetwork,
  type NetworkTable,
  NO_LIMITS,
  readNetworkTable,
} from '../network/read-network-table.ts';
import { joinedPatterns, problemOfPattern } from './hidden-files.ts';
import { isPattern, literalPattern } from './path-pattern.ts';

export type FileAccess = 'read' | 'write' | 'deny';

/** A permission profile, with the settings that it inherits. */
export interface ProfileTable {
  description: string | null;
  extends: string | null;
  /**
   * By an absolute path, or by `:root`, `:minimal`, `:workspace_roots`, `:tmpdir` or `:slash_tmp`,
   * or a path below one of these.
   */
  filesystem: ReadonlyMap<string, FileAccess>;
  /** The patterns of the files that it hides. */
  hidden: readonly HiddenPattern[];
  /**
   * The most names below its first folder that the search for a pattern goes through. Null: all.
   */
  depthMax: number | null;
  /** Absolute paths of further folders of the workspace. */
  workspaceRoots: readonly string[];
  network: ProfileNetwork;
}

interface ProfileNetwork {
  enabled: boolean;
  unixSockets: boolean;
  /** How the network is managed, if it is enabled. */
  limits: NetworkTable;
}

const WORDS = new Set([':root', ':minimal', ':workspace_roots', ':tmpdir', ':slash_tmp']);
const ACCESS: ReadonlyMap<JsonValue, FileAccess> = new Map([
  ['read', 'read'],
  ['write', 'write'],
  ['deny', 'deny'],
  ['none', 'deny'],
]);
/**
 * The keys of a profile. Other keys are refused: they may be limits that heddle does not know and
 * would not enforce.
 */
const KEYS = new Set(['description', 'extends', 'filesystem', 'network', 'workspace_roots']);

/** How many profiles a profile can extend, one through the other. */
const EXTENDS_MAX = 32;
const DEPTH = 'glob_scan_max_depth';
const UNIX_SOCKETS = 'dangerously_allow_all_unix_sockets';

const builtIn = (filesystem: [string, FileAccess][], enabled = false): ProfileTable => ({
  description: null,
  extends: null,
  filesystem: new Map(filesystem),
  hidden: [],
  depthMax: null,
  workspaceRoots: [],
  network: { enabled, unixSockets: false, limits: NO_LIMITS },
});

/** The profiles that need no definition. */
export const BUILT_IN_PROFILES: ReadonlyMap<string, ProfileTable> = new Map([
  [':read-only', builtIn([[':root', 'read']])],
  [
    ':workspace',
    builtIn([
      [':root', 'read'],
      [':workspace_roots', 'write'],
      [':slash_tmp', 'write'],
      [':tmpdir', 'write'],
    ]),
  ],
  [':danger-full-access', builtIn([[':root', 'write']], true)],
]);

/**
 * Reads `[permissions.ID]` and the profiles that it extends. Throws a ConfigError if one is invalid
 * or has an unknown key.
 */
export function readProfileTable(
  config: Config,
  id: string,
  under: readonly string[] = [],
): ProfileTable {
  const known = BUILT_IN_PROFILES.get(id);
  if (known !== undefined) return known;
  const path = ['permissions', id];
  const unknown = config.keys(path).find((key) => !KEYS.has(key));
  if (unknown !== undefined)
    throw config.error([...path, unknown], `unknown key, expected one of ${[...KEYS].join(', ')}`);
  const base = config.read([...path, 'extends'], nullable(name()));
  const inherited = base === null ? builtIn([]) : readBase(config, { id, base, under });
  const files = readFilesystem(config, [...path, 'filesystem'], inherited.depthMax);
  return {
    description: config.read([...path, 'description'], nullable(name())),
    extends: base,
    filesystem: new Map([...inherited.filesystem, ...files.exact]),
    hidden: joinedPatterns(inherited.hidden, files.hidden),
    depthMax: files.depthMax,
    workspaceRoots: [
      ...inherited.workspaceRoots,
      ...readRoots(config, [...path, 'workspace_roots']),
    ],
    network: readNetwork(config, [...path, 'network'], inherited.network),
  };
}

function readBase(
  config: Config,
  { id, base, under }: { id: string; base: string; under: readonly string[] },
): ProfileTable {
  const path = ['permissions', id, 'extends'];
  if (base === id || under.includes(base)) throw config.error(path, `\`${base}\` extends itself`);
  if (!BUILT_IN_PROFILES.has(base) && !config.isSet(['permissions', base]))
    throw config.error(path, `there is no permission profile \`${base}\``);
  // Each profile is read with all that it extends.
  if (under.length >= EXTENDS_MAX)
    throw config.error(path, `a permission profile can extend at most ${EXTENDS_MAX} others`);
  return readProfileTable(config, base, [...under, id]);
}

/**
 * A key of `filesystem`: a text that is taken as it is, and behind it a pattern, which begins with
 * a slash or is empty.
 */
interface FileKey {
  exact: string;
  pattern: string;
}

interface Files extends Pick<ProfileTable, 'hidden' | 'depthMax'> {
  exact: [string, FileAccess][];
}

function readFilesystem(
  config: Config,
  path: readonly string[],
  inheritedDepth: number | null,
): Files {
  const depthMax =
    config.read([...path, DEPTH], nullable(wholeNumber(1, Number.MAX_SAFE_INTEGER))) ??
    inheritedDepth;
  const exact: [string, FileAccess][] = [];
  const hidden: HiddenPattern[] = [];
  const add = (key: FileKey, access: FileAccess, at: readonly string[]) => {
    const pattern =
      key.pattern !== '' && access === 'deny'
        ? { path: `${literalPattern(key.exact)}${key.pattern}`, depthMax }
        : null;
    const problem = pattern === null ? null : problemOfPattern(pattern);
    if (problem !== null) throw config.error(at, `this pattern cannot be used: ${problem}`);
    if (pattern === null) exact.push([exactPath(key, config, at), access]);
    else hidden.push(pattern);
  };
  for (const key of config.keys(path)) {
    if (key === DEPTH) continue;
    const at = [...path, key];
    const filesystemKey = readFilesystemKey(config, key, at);
    const value = config.read(at, ACCESS_OR_TABLE);
    if (typeof value === 'string') add(filesystemKey, value, at);
    else {
      for (const below of config.keys(at))
        add(
          joinBelow(config, filesystemKey, [...at, below]),
          config.read([...at, below], ACCESS_ONLY) ?? 'deny',
          [...at, below],
        );
    }
  }
  return { exact, hidden, depthMax };
}

/** Returns the path. Access to a pattern can be given only to everything below a folder. */
function exactPath({ exact, pattern }: FileKey, config: Config, at: readonly string[]): string {
  const folder = pattern.endsWith('/**') ? pattern.slice(0, -'/**'.length) : pattern;
  const path = `${exact}${folder}`;
  if (path !== '' && !/[*?[\]]/.test(folder)) return path;
  throw config.error(
    at,
    'a pattern can only be denied: use an exact path, or one that ends with `/**` for everything below a folder',
  );
}

const ACCESS_ONLY: Setting<FileAccess | null> = {
  expected: '"read", "write" or "deny"',
  absent: null,
  read: (value) => ACCESS.get(value),
};

const ACCESS_OR_TABLE: Setting<FileAccess | object> = {
  expected: '"read", "write", "deny", or a table with one of these for each path below',
  absent: {},
  read: (value) => (isTable(value) ? value : ACCESS.get(value)),
};

/**
 * Returns one of WORDS, or an absolute path. `:project_roots` is an older name of
 * `:workspace_roots`.
 */
function readFilesystemKey(config: Config, key: string, at: readonly string[]): FileKey {
  const word = key === ':project_roots' ? ':workspace_roots' : key;
  if (WORDS.has(word)) return { exact: word, pattern: '' };
  if (key.startsWith(':'))
    throw config.error(at, `unknown name, expected one of ${[...WORDS].join(', ')}`);
  return readPath(config, key, at);
}

function readPath(config: Config, key: string, at: readonly string[]): FileKey {
  const { HOME } = config.env;
  if (isPattern(key)) requirePlain(config, key, at);
  // The folder of the user is no pattern, whatever its name is.
  if (key.startsWith('~/') && HOME !== undefined)
    return joined({ exact: resolve(HOME), pattern: '' }, key.slice(2));
  if (!key.startsWith('/'))
    throw config.error(
      at,
      'expected an absolute path, a path that begins with `~/`, or a name that begins with `:`',
    );
  return joined({ exact: '/', pattern: '' }, key);
}

/** The last part of `at` is the path below the key. */
function joinBelow(config: Config, key: FileKey, at: readonly string[]): FileKey {
  const below = at.at(-1) ?? '.';
  if (below === '.') return key;
  requirePlain(config, below, at);
  return joined(key, below);
}

function joined({ exact, pattern }: FileKey, below: string): FileKey {
  if (pattern === '' && !isPattern(below))
    return { exact: withoutSlash(join(exact, below)), pattern };
  return { exact: exact === '/' ? '' : exact, pattern: withoutSlash(join('/', pattern, below)) };
}

function textOf({ exact, pattern }: FileKey): string {
  return `${exact}${pattern}`;
}

function withoutSlash(path: string): string {
  return path === '/' ? path : path.replace(/\/$/, '');
}

/** In a pattern, `..` would be resolved before its meaning is known. */
function requirePlain(config: Config, path: string, at: readonly string[]): void {
  if (path.split('/').some((part) => part === '.' || part === '..'))
    throw config.error(at, 'expected a path without `.` and `..`');
}

function readRoots(config: Config, path: readonly string[]): string[] {
  return config
    .keys(path)
    .flatMap((key) =>
      config.read([...path, key], flag()) ? [textOf(readPath(config, key, [...path, key]))] : [],
    );
}

function readNetwork(
  config: Config,
  path: readonly string[],
  inherited: ProfileNetwork,
): ProfileNetwork {
  return {
    enabled: config.read([...path, 'enabled'], nullable(flag())) ?? inherited.enabled,
    unixSockets: config.read([...path, UNIX_SOCKETS], nullable(flag())) ?? inherited.unixSockets,
    limits: extendedNetwork(
      inherited.limits,
      readNetworkTable(config, path, ['enabled', UNIX_SOCKETS]),
    ),
  };
}
