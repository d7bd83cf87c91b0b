import { isAbsolute, resolve } from 'node:path';
import { isObject, type JsonValue } from '../base/json-value.ts';
import { isBelow } from '../base/paths/is-within.ts';
import { realPathOrSame } from '../base/paths/real-path.ts';
import type { Config } from '../config/config.ts';
import type { SkillSwitch } from '../config/settings/skill-switches.ts';
import { valueAt } from '../config/toml/config-table.ts';
import { projectFolders } from '../config/trust/project-folders.ts';
import type { Skill, SkillError } from '../instructions/skills/find-skills.ts';
import { skillPresentation } from '../instructions/skills/skill-presentation.ts';
import { contradictoryParams } from '../protocol/errors/process-errors.ts';
import type { SkillMetadata, SkillsListEntry } from '../protocol/generated/types.ts';
import { invalidParams } from '../protocol/rpc-error.ts';
import type { Configured } from './config-writing/configured.ts';
import { beforeOthersIn, type MethodTable, unqueued } from './requested/method.ts';
import type { ThreadServices } from './thread-loading/thread-services.ts';

const CWDS_MAX = 50;
const EXTRA_ROOTS_MAX = 50;

type SkillServices = Pick<ThreadServices, 'cwd'> &
  Pick<Configured, 'config' | 'configWriter' | 'skillFolders'>;

export function skillsMethods(deps: SkillServices) {
  const { cwd: serverCwd, skillFolders } = deps;
  return {
    'skills/list': {
      order: unqueued,
      async handle({ cwds }) {
        const asked = cwds == null || cwds.length === 0 ? [serverCwd] : cwds;
        if (asked.length > CWDS_MAX)
          throw invalidParams(
            `params.cwds: expected at most ${CWDS_MAX} folders, found ${asked.length}`,
          );
        await skillFolders.watch(asked.map((cwd) => resolve(serverCwd, cwd)));
        const data: SkillsListEntry[] = [];
        for (const cwd of asked)
          data.push({ cwd, ...(await listSkills(deps, resolve(serverCwd, cwd))) });
        return { data };
      },
    },

    'skills/config/write': {
      order: beforeOthersIn(() => 'skills/config/write'),
      async handle({ path, name, enabled }, { after }) {
        const changed = toSwitch({ path: path ?? null, name: name ?? null, enabled });
        await writeSwitch(deps, changed);
        after(() => skillFolders.changed());
        return { effectiveEnabled: await isEffective(deps, changed) };
      },
    },

    'skills/extraRoots/set': {
      order: beforeOthersIn(() => 'skills/extraRoots/set'),
      handle({ extraRoots }, { after }) {
        if (extraRoots.length > EXTRA_ROOTS_MAX)
          throw invalidParams(
            `params.extraRoots: expected at most ${EXTRA_ROOTS_MAX} folders, found ${extraRoots.length}`,
          );
        const relative = extraRoots.find((root) => !isAbsolute(root));
        if (relative !== undefined)
          throw invalidParams(
            `params.extraRoots: ${JSON.stringify(relative)} is not an absolute path`,
          );
        skillFolders.setExtraRoots(extraRoots.map((root) => resolve(root)));
        after(() => skillFolders.changed());
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}

async function listSkills(
  { skillFolders }: SkillServices,
  cwd: string,
): Promise<{ skills: SkillMetadata[]; errors: SkillError[] }> {
  const found = await skillFolders.find(cwd);
  const { root } = projectFolders(cwd);
  const errors = [...found.errors, ...found.leftOut];
  const skills: SkillMetadata[] = [];
  // Of several with one name, the innermost comes first.
  for (const skill of found.skills.toReversed().sort(byScopeAndName)) {
    const shown = await skillPresentation(
      skill.path,
      (real) => skill.scope === 'user' || isBelow(real, root),
    );
    if (shown.error !== null) errors.push(shown.error);
    skills.push(toMetadata(skill, shown));
  }
  return { skills, errors };
}

/** The project's skills first. */
function byScopeAndName(a: Skill, b: Skill): number {
  return (
    Number(a.scope === 'user') - Number(b.scope === 'user') ||
    (a.name < b.name ? -1 : Number(a.name > b.name))
  );
}

function toMetadata(
  skill: Skill,
  shown: Pick<SkillMetadata, 'interface' | 'dependencies'>,
): SkillMetadata {
  const { name, description, shortDescription, path, scope, enabled } = skill;
  return {
    name,
    description,
    shortDescription,
    interface: shown.interface,
    dependencies: shown.dependencies,
    path,
    scope,
    enabled,
    pluginId: null,
  };
}

function toSwitch({ path, name, enabled }: SkillSwitch): SkillSwitch {
  const isNamed = name !== null && name.trim() !== '';
  if ((path === null) !== isNamed)
    throw contradictoryParams('skills/config/write needs either path or name');
  if (path !== null && !isAbsolute(path))
    throw invalidParams(`params.path: ${JSON.stringify(path)} is not an absolute path`);
  return { path, name: isNamed ? name : null, enabled };
}

/**
 * Replaces the entries of the user's config.toml about the skill. A skill without an entry is
 * switched on, so that needs none.
 */
async function writeSwitch({ configWriter }: SkillServices, changed: SkillSwitch): Promise<void> {
  const edits = ({ layers }: Config) => {
    const layer = layers.find(({ name }) => name.type === 'user' && name.profile === null);
    const value = switchesWith(valueAt(layer?.config ?? {}, ['skills', 'config']), changed);
    return [{ keyPath: 'skills.config', value, mergeStrategy: 'replace' as const }];
  };
  await configWriter.write({ edits });
}

/** Returns the value of `skills.config` with the change; null: it needs no entry. */
function switchesWith(before: JsonValue | undefined, changed: SkillSwitch): JsonValue {
  const others = (Array.isArray(before) ? before : []).filter((entry) => !isAbout(entry, changed));
  const named = changed.path === null ? { name: changed.name } : { path: changed.path };
  const entries = changed.enabled ? others : [...others, { ...named, enabled: false }];
  return entries.length === 0 ? null : entries;
}

function isAbout(entry: JsonValue, { path, name }: SkillSwitch): boolean {
  if (!isObject(entry)) return false;
  return path === null
    ? entry.name === name
    : typeof entry.path === 'string' && realPathOrSame(entry.path) === realPathOrSame(path);
}

/**
 * Whether the model gets the skill now: another entry, or another source of the configuration, may
 * say otherwise.
 */
async function isEffective(
  { cwd, skillFolders }: SkillServices,
  { path, name, enabled }: SkillSwitch,
): Promise<boolean> {
  const { skills } = await skillFolders.find(cwd);
  const real = path === null ? null : realPathOrSame(path);
  const meant = skills.filter(
    (skill) => skill.name === name || realPathOrSame(skill.path) === real,
  );
  return meant.length === 0 ? enabled : meant.some((skill) => skill.enabled);
}
