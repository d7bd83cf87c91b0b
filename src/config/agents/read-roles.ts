import { inSlices } from '../../base/in-slices.ts';
import { suggestKey } from '../../base/text/suggest-key.ts';
import { Config } from '../config.ts';
import { TOP_KEYS } from '../keys/known-tables.ts';
import type { Layer } from '../layers/layer.ts';
import { SETTING_NAMES } from '../settings/settings.ts';
import { ConfigError, NO_LOCATION } from '../toml/config-error.ts';
import { emptyTable, mergeTables, valueAt } from '../toml/config-table.ts';
import type { AgentRole, AgentRoles, RoleProblem } from './agent-role.ts';
import { confinedRole, type DroppedKey } from './confined-role.ts';
import {
  ownParts,
  pick,
  projectParts,
  type RolePart,
  type RoleSources,
  UNUSABLE,
} from './role-part.ts';
import { ROLE_SETTINGS } from './role-settings.ts';

/** The model reads the names and descriptions of all roles. */
const ROLES_MAX = 256;
const KNOWN_ROLE_KEYS = [...TOP_KEYS, ...Object.keys(ROLE_SETTINGS)];

/**
 * Reads the roles of sub-agents: `[agents.NAME]` of all layers, and the files of `agents/` in the
 * home and in trusted projects. A role of a project sets only what a project can set, and cannot
 * replace a role of the user. No role gives its agents more than the configuration `own` gives.
 * Never rejects with a ConfigError: it becomes a problem. Lets other work run in between.
 */
export async function readRoles(sources: RoleSources & { own: Config }): Promise<AgentRoles> {
  const own = await ownParts(sources);
  const projects = await projectParts(sources);
  const problems = [...own.problems, ...projects.problems];
  const broken = new Set(problems.map(({ role }) => role));
  const byName = new Map<string, RolePart[]>();
  for (const part of [...own.parts, ...projects.parts]) {
    const name = nameOf(part);
    const earlier = byName.get(name) ?? [];
    if (part.isProjects && earlier.some(({ isProjects }) => !isProjects))
      problems.push(replaced(name, part));
    else byName.set(name, [...earlier, part]);
  }
  const roles: AgentRole[] = [];
  const sorted = [...byName].sort(([a], [b]) => (a < b ? -1 : 1));
  if (sorted.length > ROLES_MAX) problems.push(tooMany(sorted.length));
  for await (const [name, parts] of inSlices(sorted.slice(0, ROLES_MAX), 1, sources.breaks)) {
    problems.push(...likelyTypos(parts));
    const role = broken.has(name) ? null : readRole(name, parts, sources);
    if (role !== null && 'problem' in role) problems.push(role.problem);
    else if (role !== null) {
      roles.push(role.role);
      problems.push(...role.dropped);
    }
  }
  return { roles, problems };
}

/**
 * The name in the part, else that of its file or table. An invalid one is found when the role is
 * read.
 */
function nameOf({ role, layer }: RolePart): string {
  const { name } = layer.config;
  return (name === undefined ? undefined : ROLE_SETTINGS.name.read(name)) ?? role;
}

function readRole(
  name: string,
  parts: readonly RolePart[],
  { home, own }: RoleSources & { own: Config },
): { role: AgentRole; dropped: RoleProblem[] } | { problem: RoleProblem } {
  const layers = parts.map(({ layer }) => layer);
  const values = layers.map(({ config }) => config).reduce(mergeTables, emptyTable());
  const config = new Config({ home, env: own.env, modelGiven: true, layers, values });
  const isProjects = parts.some((part) => part.isProjects);
  try {
    checkName(name, layers);
    config.read(['name'], ROLE_SETTINGS.name);
    // An invalid setting would refuse each agent of the role.
    for (const setting of SETTING_NAMES) config.get(setting);
    checkModel(config);
    const confined = confinedRole(
      pick(values, (key) => !Object.hasOwn(ROLE_SETTINGS, key)),
      own,
    );
    const role = {
      name,
      description: config.read(['description'], ROLE_SETTINGS.description) ?? '',
      nicknames: config.read(['nickname_candidates'], ROLE_SETTINGS.nickname_candidates),
      config: confined.config,
    };
    const told = confined.dropped.filter(
      ({ path: [key = '', ...rest] }) => rest.length > 0 || typoOf(key) === null,
    );
    return {
      role,
      dropped: told.map((key) => ({ ...withoutEffect(name, key, layers), isProjects })),
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return {
      problem: {
        role: name,
        summary: error.message,
        details: UNUSABLE,
        location: error.location,
        isProjects,
      },
    };
  }
}

function withoutEffect(
  name: string,
  { path, allowsMore }: DroppedKey,
  layers: readonly Layer[],
): Omit<RoleProblem, 'isProjects'> {
  const location = layers
    .findLast(({ config }) => valueAt(config, path) !== undefined)
    ?.locate(path);
  const problem = new ConfigError(`${path.join('.')} has no effect in the role ${name}`, location);
  const details = allowsMore
    ? 'With it, a sub-agent of the role could do more than the thread that starts it.'
    : 'A role cannot set it.';
  return { role: null, summary: problem.message, details, location: problem.location };
}

/** Checks the name of a table or of a file, which is not a value of a setting. */
function checkName(name: string, layers: readonly Layer[]): void {
  const { expected, read } = ROLE_SETTINGS.name;
  if (read(name) === undefined)
    throw new ConfigError(
      `the role ${JSON.stringify(name)}: expected ${expected}`,
      layers.at(-1)?.locate([]),
    );
}

/**
 * The model of an agent is chosen before its configuration is read, so a role cannot leave it to
 * another provider or profile.
 */
function checkModel(config: Config): void {
  if (config.get('profile') !== null)
    throw config.error(['profile'], 'a role cannot choose a profile');
  const needsModel = config.get('model_provider') !== null && config.get('model') === null;
  if (needsModel)
    throw config.error(['model_provider'], 'a role that sets it has to set model, too');
}

function typoOf(key: string): string | null {
  return suggestKey(key, KNOWN_ROLE_KEYS);
}

function likelyTypos(parts: readonly RolePart[]): RoleProblem[] {
  return parts.flatMap(({ layer, isProjects }) =>
    Object.keys(layer.config).flatMap((key) => {
      const suggested = typoOf(key);
      if (suggested === null) return [];
      const { message, location } = new ConfigError(
        `${key} is not a known key`,
        layer.locate([key]),
      );
      return [
        {
          role: null,
          summary: message,
          details: `Did you mean ${suggested}?`,
          location,
          isProjects,
        },
      ];
    }),
  );
}

function tooMany(count: number): RoleProblem {
  const summary = `there are ${count} roles of sub-agents: only the first ${ROLES_MAX} by name are used`;
  return { role: null, summary, details: null, location: NO_LOCATION, isProjects: false };
}

function replaced(name: string, { layer }: RolePart): RoleProblem {
  const { message, location } = new ConfigError(
    `the role ${name} is ignored: a project cannot replace a role of your own`,
    layer.locate([]),
  );
  return { role: null, summary: message, details: null, location, isProjects: true };
}
