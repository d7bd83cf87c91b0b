import { dirname, join } from 'node:path';
import { readRegularFileSync } from '../../base/files/read-regular-file.ts';
import { isObject, type JsonObject } from '../../base/json-value.ts';
import { jsonFault } from '../../base/text/json-fault.ts';
import { suggestKey } from '../../base/text/suggest-key.ts';
import type { HookSource, HookTrustStatus } from '../../protocol/generated/types.ts';
import type { Layer } from '../layers/layer.ts';
import { isRequestLayer } from '../layers/request-layer.ts';
import { NO_LOCATION } from '../toml/config-error.ts';
import { emptyTable, isTable, toTable } from '../toml/config-table.ts';
import { FILE_BYTES_MAX } from '../trust/find-project-files.ts';
import type { ProjectFile } from '../trust/judge-project-files.ts';
import { HOOKS_FILE, type HookProblem, REQUEST_PATH, SESSION_PATH } from './hook-definition.ts';

/** What can define the hooks of a working directory. */
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
export interface HookOrigin {
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
 * Returns the tables of hooks, in the order in which clients see their hooks. Adds an error for
 * each file that cannot be used, and a warning for each key in it that has no effect.
 */
export function hookOrigins(
  sources: HookSources,
  errors: HookProblem[],
  warnings: HookProblem[],
): HookOrigin[] {
  return [
    ...systemOrigins(sources),
    ...ownOrigins(sources, errors, warnings),
    ...projectOrigins(sources, errors, warnings),
    ...sessionOrigins(sources),
  ];
}

/** The config.toml of the system, which an administrator writes. */
function systemOrigins({ layers }: HookSources): HookOrigin[] {
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
): HookOrigin[] {
  const path = join(home, HOOKS_FILE);
  const origins: HookOrigin[] = [];
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
): HookOrigin[] {
  const fromFiles = files.flatMap((file): HookOrigin[] => {
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
function sessionOrigins({ layers }: HookSources): HookOrigin[] {
  const session = layers.filter(({ name }) => name.type === 'sessionFlags');
  return session.flatMap((layer) =>
    inLayer(layer, 'sessionFlags', isRequestLayer(layer) ? REQUEST_PATH : SESSION_PATH),
  );
}

function inLayer({ config }: Layer, source: HookSource, path: string): HookOrigin[] {
  const { hooks } = config;
  if (hooks === undefined) return [];
  if (!isTable(hooks))
    return [
      { source, path, table: emptyTable(), trust: 'trusted', problem: 'hooks: expected a table' },
    ];
  const { state: _, ...table } = hooks;
  return Object.keys(table).length === 0 ? [] : [{ source, path, table, trust: 'trusted' }];
}
