import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { inSlices } from '../../base/in-slices.ts';
import { isBelow } from '../../base/paths/is-within.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import type { SkillSwitch } from '../../config/settings/skill-switches.ts';
import { readSkill } from './read-skill.ts';
import { SEARCH_LIMITS, skillFiles } from './skill-files.ts';
import { type SkillPlace, type SkillSources, skillPlaces } from './skill-places.ts';

const SKILLS_MAX = 500;

/**
 * A folder with instructions for one kind of task. The model always gets the name and the
 * description, and the contents only when the skill is used.
 */
export interface Skill {
  name: string;
  description: string;
  /** For people; null: it has none. */
  shortDescription: string | null;
  /** Absolute path of the SKILL.md. */
  path: string;
  scope: 'user' | 'repo';
  /** False: the user has switched it off, so that the model does not get it. */
  enabled: boolean;
}

/** A SKILL.md that cannot be used, and why. */
export interface SkillError {
  path: string;
  message: string;
}

export interface FoundSkills {
  skills: Skill[];
  errors: SkillError[];
  /**
   * The folders in which not all skills were looked for, or from which not all are taken, and why.
   */
  leftOut: SkillError[];
  /**
   * The absolute paths of the folders that were searched. Where skills appear or change, one of
   * them changes.
   */
  searched: string[];
}

export interface SkillSearch extends SkillSources {
  switches: readonly SkillSwitch[];
  /**
   * Whether a file may be read. Its argument is a path without links. It may throw if that cannot
   * be found out. Absent: every file may.
   */
  mayBeRead?: (real: string) => boolean;
}

/**
 * Finds the skills of all places, from the least to the most specific place, to a limited depth. If
 * there are too many, the innermost ones count. In a project, links are followed only inside the
 * project.
 */
export async function findSkills({
  switches,
  mayBeRead = () => true,
  ...sources
}: SkillSearch): Promise<FoundSkills> {
  const { files, ...found } = await allSkillFiles(sources);
  const skills: Skill[] = [];
  const errors: SkillError[] = [];
  const isEnabled = skillSwitch(switches);
  for (const { path, real, place } of files) {
    const mayLieAt = (at: string) =>
      (place.root === null || isBelow(at, place.root)) && mayBeRead(at);
    const read = await readSkill(path, mayLieAt);
    if (typeof read === 'string') errors.push({ path, message: read });
    else skills.push({ ...read, path, scope: place.scope, enabled: isEnabled(read.name, real) });
  }
  return { skills, errors, ...found };
}

interface FoundFile {
  path: string;
  real: string;
  place: SkillPlace;
}

async function allSkillFiles(
  sources: SkillSources,
): Promise<{ files: FoundFile[] } & Pick<FoundSkills, 'leftOut' | 'searched'>> {
  const working = new EventLoopYield();
  const files: FoundFile[] = [];
  const seen = new Set<string>();
  const searched: string[] = [];
  const leftOut: SkillError[] = [];
  for (const place of skillPlaces(sources).toReversed()) {
    const found = await skillFiles(place, working);
    searched.push(place.folder, ...found.searched.filter((folder) => folder !== place.folder));
    const fresh: FoundFile[] = [];
    for await (const path of inSlices(found.files, 1, working)) {
      const real = realPathOrSame(path);
      if (!seen.has(real)) fresh.push({ path, real, place });
      seen.add(real);
    }
    const taken = fresh.slice(0, SKILLS_MAX - files.length);
    files.unshift(...taken);
    const path = place.folder;
    const missing = fresh.length - taken.length;
    if (missing > 0)
      leftOut.push({
        path,
        message: `${missing} skills are left out, because there are more than ${SKILLS_MAX}`,
      });
    if (found.isCut)
      leftOut.push({ path, message: `not all skills may be found: ${SEARCH_LIMITS}` });
  }
  return { files, searched, leftOut };
}

/**
 * Returns the function that says whether the user has left a skill switched on. The last entry
 * about it counts.
 */
function skillSwitch(
  switches: readonly SkillSwitch[],
): (name: string, realPath: string) => boolean {
  const known = switches.map(({ path, name, enabled }) => ({
    path: path === null ? null : realPathOrSame(path),
    name,
    enabled,
  }));
  return (name, realPath) =>
    known.findLast((entry) => entry.path === realPath || entry.name === name)?.enabled ?? true;
}
