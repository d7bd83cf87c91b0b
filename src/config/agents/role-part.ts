import { basename, dirname, join, resolve } from 'node:path';
import { inSlices } from '../../base/in-slices.ts';
import type { JsonObject } from '../../base/json-value.ts';
import { tellSome } from '../keys/tell-some.ts';
import { type Layer, parseLayer, readLayer, type TomlReading } from '../layers/layer.ts';
import { isRequestLayer } from '../layers/request-layer.ts';
import { isAgentSetting } from '../settings/settings.ts';
import { ConfigError, type ConfigLocation } from '../toml/config-error.ts';
import { emptyTable, isTable, mergeTables } from '../toml/config-table.ts';
import type { ProjectFile } from '../trust/judge-project-files.ts';
import { ROLE_FILES_MAX, roleFileNames } from '../trust/role-file-names.ts';
import { withProjectSettings } from '../with-project-settings.ts';
import type { RoleProblem } from './agent-role.ts';
import { ROLE_SETTINGS } from './role-settings.ts';

/** A table that defines a role, or a part of one. Its keys are those of the role. */
export interface RolePart {
  role: string;
  layer: Layer;
  isProjects: boolean;
}

export interface RoleSources extends TomlReading {
  home: string;
  /** All layers of the configuration, from the lowest to the highest. */
  layers: readonly Layer[];
  /** The files with roles of the thread's project, outermost first. */
  roleFiles: readonly ProjectFile[];
}

interface Parts {
  parts: RolePart[];
  problems: RoleProblem[];
}

/** No agent can have the role. */
export const UNUSABLE =
  'No sub-agent can have this role until you correct it. Everything else works.';
const IN_HOME = 'Define it in the config.toml in your heddle home instead.';

/**
 * The tables of the user's own roles: of the home's files, the home's config.toml, the profile, the
 * command line and the request.
 */
export async function ownParts({ home, layers, toml, breaks }: RoleSources): Promise<Parts> {
  const { parts, problems, attempt } = collector({ isProjects: false });
  const folder = join(home, 'agents');
  const names = roleFileNames(home);
  if (names.length > ROLE_FILES_MAX) problems.push(tooMany(folder, { isProjects: false }));
  const readFile = (path: string) =>
    readLayer(path, { type: 'user', file: path, profile: null }, { toml, breaks });
  const paths = names.slice(0, ROLE_FILES_MAX).map((name) => join(folder, name));
  for await (const path of inSlices(paths, 1, breaks))
    await attempt(stem(path), async () => [{ role: stem(path), layer: await readFile(path) }]);
  const own = layers.filter((layer) => !isProjects(layer)).flatMap(tables);
  for await (const { role, layer } of inSlices(own, 1, breaks)) {
    const read = async () => {
      const file = fileOf(layer);
      return [
        ...(file === null
          ? []
          : [{ role, layer: required(await readFile(resolve(home, file)), layer) }]),
        { role, layer },
      ];
    };
    await attempt(role, read, { isRequests: isRequestLayer(layer) });
  }
  return { parts, problems };
}

/**
 * The tables of the roles of the thread's project, with what a project can set. Files are read only
 * with the content that the user trusts.
 */
export async function projectParts({
  layers,
  roleFiles,
  toml,
  breaks,
}: RoleSources): Promise<Parts> {
  const { parts, problems, attempt } = collector({ isProjects: true });
  const own = layers
    .filter((layer) => !isProjects(layer))
    .map(({ config }) => config)
    .reduce(mergeTables, emptyTable());
  const narrowed = (layer: Layer): Layer => {
    const { kept, ignored } = narrow(layer, own);
    problems.push(...ignored);
    return kept;
  };
  const read = async ({ path, bytes }: ProjectFile & { isInForce: true }) => {
    const name = { type: 'project' as const, dotCodexFolder: dirname(dirname(path)) };
    return narrowed(await parseLayer(bytes, { file: path, name }, { toml, breaks }));
  };
  const inForce = roleFiles.filter((file) => file.isInForce);
  for (const folder of new Set(inForce.map(({ path }) => dirname(path)))) {
    const files = inForce.filter(({ path }) => dirname(path) === folder);
    if (files.length > ROLE_FILES_MAX) problems.push(tooMany(folder, { isProjects: true }));
    for await (const file of inSlices(files.slice(0, ROLE_FILES_MAX), 1, breaks))
      await attempt(stem(file.path), async () => [
        { role: stem(file.path), layer: await read(file) },
      ]);
  }
  for (const file of roleFiles) {
    if (file.isInForce || !file.isFolderTrusted) continue;
    problems.push({
      role: null,
      summary: file.reason,
      details: null,
      location: { path: file.path, range: null },
      isProjects: true,
    });
  }
  const tabled = layers.filter(isProjects).flatMap(tables);
  for await (const { role, layer } of inSlices(tabled, 1, breaks)) {
    await attempt(role, async () => {
      const path = fileOf(layer);
      const named =
        path === null ? null : inForce.find((file) => file.path === resolve(folderOf(layer), path));
      if (named === undefined)
        throw new ConfigError(
          'config_file: expected a file of agents/ beside this file that is in force',
          layer.locate(['config_file']),
        );
      return [
        ...(named === null ? [] : [{ role, layer: await read(named) }]),
        { role, layer: narrowed(layer) },
      ];
    });
  }
  return { parts, problems };
}

function collector({ isProjects }: { isProjects: boolean }) {
  const parts: RolePart[] = [];
  const problems: RoleProblem[] = [];
  /**
   * Adds the parts that `read` returns, of a request if `isRequests`. A part that is not valid is a
   * problem of its role.
   */
  const attempt = async (
    role: string,
    read: () => Promise<{ role: string; layer: Layer }[]>,
    { isRequests = false } = {},
  ) => {
    const told = (location: ConfigLocation) =>
      isRequests ? { ...location, isRequests } : location;
    try {
      for (const { role, layer } of await read())
        parts.push({
          role,
          layer: { ...layer, locate: (path) => told(layer.locate(path)) },
          isProjects,
        });
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push({
        role,
        summary: error.message,
        details: UNUSABLE,
        location: told(error.location),
        isProjects,
      });
    }
  };
  return { parts, problems, attempt };
}

/** The tables of roles in a layer: `[agents.NAME]`. */
function tables(layer: Layer): { role: string; layer: Layer }[] {
  const { agents } = layer.config;
  return Object.entries(isTable(agents) ? agents : {}).flatMap(([role, config]) =>
    isTable(config) && !isAgentSetting(role)
      ? [
          {
            role,
            layer: { ...layer, config, locate: (path) => layer.locate(['agents', role, ...path]) },
          },
        ]
      : [],
  );
}

/** The part without the keys that a project cannot set. */
function narrow(layer: Layer, own: JsonObject): { kept: Layer; ignored: RoleProblem[] } {
  const describing = pick(layer.config, (key) => Object.hasOwn(ROLE_SETTINGS, key));
  const settings = pick(layer.config, (key) => !Object.hasOwn(ROLE_SETTINGS, key));
  const { config, ignoredKeys } = withProjectSettings({ ...layer, config: settings }, own);
  const problem = (text: string, path: readonly string[]): RoleProblem => {
    const { message, location } = new ConfigError(text, layer.locate(path));
    return { role: null, summary: message, details: IN_HOME, location, isProjects: true };
  };
  const ignored = tellSome(ignoredKeys, {
    each: ({ path, reason }) => problem(`${path.join('.')} is ignored: ${reason}`, path),
    rest: (names) => problem(`these keys are ignored, too: ${names}`, []),
  });
  return { kept: { ...layer, config: mergeTables(config, describing) }, ignored };
}

/** The keys of a table that `takes` accepts. */
export function pick(table: JsonObject, takes: (key: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(table).filter(([key]) => takes(key)));
}

function fileOf(layer: Layer): string | null {
  const value = layer.config.config_file;
  if (value === undefined) return null;
  const { expected, read } = ROLE_SETTINGS.config_file;
  const path = read(value);
  if (path === undefined)
    throw new ConfigError(`config_file: expected ${expected}`, layer.locate(['config_file']));
  return path;
}

/** The layer of a file that a table names. An empty one is probably a wrong path. */
function required(read: Layer, namedBy: Layer): Layer {
  if (Object.keys(read.config).length > 0) return read;
  const { path } = read.locate([]);
  throw new ConfigError(
    `config_file: ${path} does not exist or is empty`,
    namedBy.locate(['config_file']),
  );
}

function tooMany(folder: string, { isProjects }: { isProjects: boolean }): RoleProblem {
  const summary = `${folder} has more than ${ROLE_FILES_MAX} files with roles: only the first ${ROLE_FILES_MAX} by name are used`;
  return {
    role: null,
    summary,
    details: null,
    location: { path: folder, range: null },
    isProjects,
  };
}

function isProjects({ name }: Layer): boolean {
  return name.type === 'project';
}

function folderOf({ name }: Layer): string {
  return name.type === 'project' ? name.dotCodexFolder : '';
}

function stem(path: string): string {
  return basename(path, '.toml');
}
