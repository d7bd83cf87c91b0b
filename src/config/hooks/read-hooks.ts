import { dirname, join } from 'node:path';
import { readRegularFileSync } from '../../base/files/read-regular-file.ts';
import { isObject, type JsonObject, type JsonValue } from '../../base/json-value.ts';
import { jsonFault } from '../../base/text/json-fault.ts';
import { suggestKey } from '../../base/text/suggest-key.ts';
import type { HookSource, HookTrustStatus } from '../../protocol/generated/types.ts';
import { NO_LOCATION } from '../config-error.ts';
import { emptyTable, isTable, toTable, valueAt } from '../layers/config-table.ts';
import type { Layer } from '../layers/layer.ts';
import { isRequestLayer } from '../layers/request-layer.ts';
import { FILE_BYTES_MAX } from '../trust/find-project-files.ts';
import type { ProjectFile } from '../trust/project-files.ts';
import {
  HOOKS_FILE,
  type HookDefinition,
  type HookProblem,
  type HookSet,
  REQUEST_PATH,
} from './hook-definition.ts';
import { HOOK_EVENTS, separatedName } from './hook-events.ts';
import { HookFields } from './hook-fields.ts';
import { parseHooks } from './parse-hooks.ts';

/** Stands for a file where the command line defines hooks. */
const SESSION_PATH = '/<session-flags>/config.toml';

export interface HookSources {
  home: string;
  layers: readonly Layer[];
  /** The files with hooks of the project. */
  files: readonly ProjectFile[];
  /** The settings of the main checkout, whose hooks count in a folder of a linked worktree. */
  mainLayers: readonly { layer: Layer; folder: string }[];
  /** `features.hooks`: without it, no hook runs. */
  isEnabled: boolean;
}

/** One table of hooks. */
interface Origin {
  source: HookSource;
  path: string;
  /** Begins the keys of its hooks. Absent: the path. */
  keyStart?: string;
  projectFolder?: string;
  table: JsonObject;
  /** The trust in it where `[hooks.state]` says nothing. */
  trust: HookTrustStatus;
  /** Why there is no table. */
  problem?: string;
}

/**
 * Reads the hooks of a working directory: `hooks.json` in the home and in the folders of the
 * project, and the `[hooks]` tables of the layers. Never throws a ConfigError: what cannot be used
 * becomes a problem.
 */
export function readHooks(sources: HookSources): HookSet {
  const errors: HookProblem[] = [];
  const warnings: HookProblem[] = [];
  const origins = [
    ...systemOrigins(sources),
    ...ownOrigins(sources, errors, warnings),
    ...projectOrigins(sources, errors, warnings),
    ...sessionOrigins(sources),
  ];
  const states = statesOf(sources.layers, warnings);
  const keyStarts = new Set(origins.map(({ keyStart, path }) => keyStart ?? path));
  const hooks: HookDefinition[] = [];
  for (const {
    source,
    path,
    keyStart = path,
    projectFolder = null,
    table,
    trust,
    problem,
  } of origins) {
    const isProjects = source === 'project';
    const parsed = parseHooks(table, keyStart);
    const problems = problem === undefined ? parsed.problems : [problem];
    warnings.push(
      ...problems.map((message) => ({ path, message: `${path}: ${message}`, isProjects })),
    );
    warnings.push(
      ...parsed.advice.map((message) => ({
        path,
        message: `${path}: ${message}`,
        isProjects,
        isAdvice: true as const,
      })),
    );
    for (const hook of parsed.hooks) {
      // Users do not decide about the hooks of the administrator.
      const state = trust === 'managed' ? undefined : states.get(hook.key);
      const facts = { source, sourcePath: path, projectFolder, displayOrder: hooks.length };
      const isEnabled = sources.isEnabled && state?.isEnabled !== false;
      hooks.push({ ...hook, ...facts, isEnabled, trust: trustOf(hook.hash, trust, state) });
    }
  }
  warnings.push(
    ...unusedStates(states, hooks, keyStarts),
    ...changedHooks(hooks, sources.files),
    ...notInForce(sources, hooks),
  );
  return { hooks, warnings, errors };
}

/** The user's record of a hash overrides everything else. */
function trustOf(
  hash: string,
  trust: Origin['trust'],
  state: HookState | undefined,
): HookTrustStatus {
  const trusted = state?.trustedHash;
  if (trusted === undefined) return trust;
  return trusted === hash ? 'trusted' : 'modified';
}

/** The config.toml of the system, which an administrator writes. */
function systemOrigins({ layers }: HookSources): Origin[] {
  return layers.flatMap((layer) => {
    const { name } = layer;
    return name.type === 'system'
      ? inLayer(layer, 'system', name.file).map((origin) => ({
          ...origin,
          trust: 'managed' as const,
        }))
      : [];
  });
}

function ownOrigins(
  { home, layers }: HookSources,
  errors: HookProblem[],
  warnings: HookProblem[],
): Origin[] {
  const path = join(home, HOOKS_FILE);
  const origins: Origin[] = [];
  const table = ownFile(path, errors, warnings);
  if (table !== null) origins.push({ source: 'user', path, table, trust: 'trusted' });
  const inConfig = layers.flatMap((layer) => {
    const { name } = layer;
    if (name.type !== 'user') return [];
    const ofLayer = inLayer(layer, 'user', name.file);
    return name.profile === null
      ? ofLayer
      : ofLayer.map((origin) => ({
          ...origin,
          keyStart: `${origin.path}:profiles.${name.profile}`,
        }));
  });
  if (table !== null && inConfig.length > 0) {
    const places = `${path} and in ${inConfig[0]?.path}`;
    const message = `Hooks are defined both in ${places}. Both are used: it is clearer to have them in one place.`;
    warnings.push({ path, message, isProjects: false, isAdvice: true });
  }
  return [...origins, ...inConfig];
}

function ownFile(path: string, errors: HookProblem[], warnings: HookProblem[]): JsonObject | null {
  try {
    const file = readRegularFileSync(path, { bytesMax: FILE_BYTES_MAX });
    return file === null ? null : hooksIn(file.bytes, { path, isProjects: false }, warnings);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    errors.push({ path, message: `${path} cannot be used: ${error.message}`, isProjects: false });
    return null;
  }
}

/** Returns the events of a file. Throws an error if the file cannot be used. */
function hooksIn(
  bytes: Uint8Array,
  { path, isProjects }: Pick<HookProblem, 'path' | 'isProjects'>,
  warnings: HookProblem[],
): JsonObject {
  const parsed = parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  if (!isObject(parsed)) throw new Error('it is not a JSON object');
  const table = toTable(parsed, NO_LOCATION);
  for (const key of Object.keys(table)) {
    if (key === 'hooks' || key === 'description') continue;
    const suggested = suggestKey(key, ['description', 'hooks']);
    const advice =
      suggested === null ? 'Put the events under "hooks".' : `Did you mean ${suggested}?`;
    const message = `${path}: ${JSON.stringify(key)} is ignored, because it is not a known key. ${advice}`;
    // A table or a list is probably meant to have hooks.
    warnings.push({
      path,
      message,
      isProjects,
      ...(typeof table[key] === 'object' ? {} : { isAdvice: true }),
    });
  }
  const { hooks = emptyTable() } = table;
  if (!isTable(hooks)) throw new Error('"hooks" is not an object');
  return hooks;
}

/**
 * Parses JSON. The error says where the text is not valid, and does not quote it: it may have
 * secrets.
 */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const before = text.slice(0, jsonFault(text)?.index);
    const line = before.split('\n').length;
    throw new Error(
      `it is not valid JSON at line ${line}, column ${before.length - before.lastIndexOf('\n')}`,
      { cause: error },
    );
  }
}

function projectOrigins(
  { files, layers, mainLayers }: HookSources,
  errors: HookProblem[],
  warnings: HookProblem[],
): Origin[] {
  const fromFiles = files.flatMap((file): Origin[] => {
    const { path } = file;
    const bytes = file.isInForce ? file.bytes : file.offered?.bytes;
    if (bytes === undefined) return [];
    const trust = file.isInForce
      ? 'trusted'
      : file.offered?.isChanged === true
        ? 'modified'
        : 'untrusted';
    try {
      const table = hooksIn(bytes, { path, isProjects: true }, warnings);
      return [{ source: 'project', path, projectFolder: file.folder, table, trust }];
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      errors.push({ path, message: `${path} cannot be used: ${error.message}`, isProjects: true });
      return [];
    }
  });
  const own = layers.map((layer) => ({
    layer,
    folder: layer.name.type === 'project' ? dirname(layer.name.dotCodexFolder) : '',
  }));
  const fromLayers = [...own, ...mainLayers].flatMap(({ layer, folder: projectFolder }) => {
    const { name, disabledReason } = layer;
    if (name.type !== 'project' || disabledReason !== null) return [];
    return inLayer(layer, 'project', join(name.dotCodexFolder, 'config.toml')).map((origin) => ({
      ...origin,
      projectFolder,
    }));
  });
  return [...fromFiles, ...fromLayers];
}

/** The user's own clients and command line define these. */
function sessionOrigins({ layers }: HookSources): Origin[] {
  const session = layers.filter(({ name }) => name.type === 'sessionFlags');
  return session.flatMap((layer) =>
    inLayer(layer, 'sessionFlags', isRequestLayer(layer) ? REQUEST_PATH : SESSION_PATH),
  );
}

function inLayer({ config }: Layer, source: HookSource, path: string): Origin[] {
  const { hooks } = config;
  if (hooks === undefined) return [];
  if (!isTable(hooks))
    return [
      { source, path, table: emptyTable(), trust: 'trusted', problem: 'hooks: expected a table' },
    ];
  const { state: _, ...table } = hooks;
  return Object.keys(table).length === 0 ? [] : [{ source, path, table, trust: 'trusted' }];
}

/** The user's decision about a hook. */
interface HookState {
  isEnabled?: boolean;
  trustedHash?: string;
  /** The file that says so. */
  path: string;
}

const STATE_KEYS = ['enabled', 'trusted_hash'];
const KEY = /^(.+):([a-z_]+):\d+:\d+$/s;
const KEY_EVENTS = new Set(HOOK_EVENTS.map(({ name }) => separatedName(name, '_')));

/**
 * `[hooks.state]` of the administrator's file, of the user's own, and of the session. Later ones
 * replace single values of earlier ones.
 */
function statesOf(layers: readonly Layer[], warnings: HookProblem[]): Map<string, HookState> {
  const states = new Map<string, HookState>();
  for (const layer of layers.filter(({ name }) => name.type !== 'project')) {
    const pathOf = (key: readonly string[]) =>
      layer.locate(key).path ?? (isRequestLayer(layer) ? REQUEST_PATH : SESSION_PATH);
    const tell = (key: readonly string[], problem: string) => {
      const path = pathOf(key);
      warnings.push({ path, message: `${path}: ${problem}`, isProjects: false });
    };
    const table = valueAt(layer.config, ['hooks', 'state']) ?? emptyTable();
    if (!isTable(table)) {
      tell(['hooks', 'state'], 'hooks.state: expected a table');
      continue;
    }
    for (const [key, state] of Object.entries(table)) {
      const place = ['hooks', 'state', key];
      const problems: string[] = [];
      const read = readState(state, stateName(key), problems);
      for (const problem of problems) tell(place, problem);
      if (read !== null) states.set(key, { ...states.get(key), ...read, path: pathOf(place) });
    }
  }
  return states;
}

/** Returns what is set; null: it cannot be used. */
function readState(
  state: JsonValue,
  where: string,
  problems: string[],
): Omit<HookState, 'path'> | null {
  const { enabled, trusted_hash: trustedHash } = isTable(state) ? state : emptyTable();
  const isEnabledValid = enabled === undefined || typeof enabled === 'boolean';
  const isHashValid = trustedHash === undefined || typeof trustedHash === 'string';
  if (!isTable(state) || !isEnabledValid || !isHashValid) {
    problems.push(
      `${where}: expected a table with enabled = true or false and trusted_hash = "sha256:…"`,
    );
    return null;
  }
  new HookFields(state, where, { problems, advice: problems }).endWith(STATE_KEYS);
  return {
    ...(enabled === undefined ? {} : { isEnabled: enabled }),
    ...(trustedHash === undefined ? {} : { trustedHash }),
  };
}

/**
 * A warning for each state of a hook that does not exist. Keys of other sources can belong to
 * another project, or to another profile.
 */
function unusedStates(
  states: ReadonlyMap<string, HookState>,
  hooks: readonly HookDefinition[],
  keyStarts: ReadonlySet<string>,
): HookProblem[] {
  const keys = new Set(hooks.map(({ key }) => key));
  return [...states].flatMap(([key, { path }]) => {
    const [, start = '', event = ''] = KEY.exec(key) ?? [];
    if (keys.has(key) || (KEY_EVENTS.has(event) && !keyStarts.has(start))) return [];
    const message = `${path}: ${stateName(key)} has no effect, because no hook has this key. hooks/list has the keys.`;
    return [{ path, message, isProjects: false, isAdvice: true }];
  });
}

/**
 * A warning for each hook of a file in force that does not run, because its definition is not the
 * one that the user trusts.
 */
function changedHooks(
  hooks: readonly HookDefinition[],
  files: readonly ProjectFile[],
): HookProblem[] {
  const notInForce = new Set(files.filter(({ isInForce }) => !isInForce).map(({ path }) => path));
  return hooks.flatMap(({ key, hash, trust, isEnabled, source, sourcePath: path }) => {
    if (!isEnabled || trust !== 'modified' || notInForce.has(path)) return [];
    const why = `${path}: the hook ${key} has changed since you trusted it, so it does not run.`;
    const message = `${why} If you trust it as it is now, set ${stateName(key)}.trusted_hash = ${JSON.stringify(hash)} in config.toml.`;
    return [{ path, message, isProjects: source === 'project', isAdvice: true }];
  });
}

function stateName(key: string): string {
  return `hooks.state.${JSON.stringify(key)}`;
}

/** A warning for each file whose hooks do not run although the user trusts its folder. */
function notInForce(
  { files, mainLayers }: HookSources,
  hooks: readonly HookDefinition[],
): HookProblem[] {
  const ofMain = mainLayers.flatMap(
    ({ layer: { disabledReason: message, warnsDisabled, locate } }): HookProblem[] => {
      const { path } = locate([]);
      return message !== null && warnsDisabled && path !== null
        ? [{ path, message, isProjects: true }]
        : [];
    },
  );
  const ofFiles = files.flatMap((file) => {
    if (file.isInForce || !file.isFolderTrusted) return [];
    const own = hooks.filter(({ sourcePath }) => sourcePath === file.path);
    if (own.length > 0 && own.every(({ trust }) => trust === 'trusted')) return [];
    return [{ path: file.path, message: file.reason, isProjects: true }];
  });
  return [...ofMain, ...ofFiles];
}
