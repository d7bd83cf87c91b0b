import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { readRegularFile } from '../../base/files/read-regular-file.ts';
import { inSlices } from '../../base/in-slices.ts';
import { isObject } from '../../base/json-value.ts';
import { isBelow } from '../../base/paths/is-within.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import { showText } from '../../base/text/show-text.ts';
import type { SkillSwitch } from '../../config/settings/skill-switches.ts';
import { oneLine, parseYaml } from './parse-yaml.ts';
import { SEARCH_LIMITS, skillFiles } from './skill-files.ts';
import { type SkillPlace, type SkillSources, skillPlaces } from './skill-places.ts';
import { splitFrontMatter } from './split-front-matter.ts';

const SKILLS_MAX = 500;
/** Parsing takes longer than reading: YAML of this size may take some 10 ms. */
const FRONT_MATTER_BYTES_MAX = 8 * 1024;
const NAME_LENGTH_MAX = 64;
const DESCRIPTION_LENGTH_MAX = 1024;

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

/** Returns what the skill says about itself, or a string that says what is wrong with the file. */
async function readSkill(
  path: string,
  mayLieAt: (real: string) => boolean,
): Promise<Pick<Skill, 'name' | 'description' | 'shortDescription'> | string> {
  if (showText(path) !== path) return 'its path has control characters or invisible ones';
  let head: string;
  try {
    head =
      (
        await readRegularFile(path, { bytesMax: FRONT_MATTER_BYTES_MAX, cut: true, mayLieAt })
      )?.bytes.toString('utf8') ?? '';
  } catch (error) {
    return `cannot be read: ${messageOf(error)}`;
  }
  const found = splitFrontMatter(head);
  if (found === null)
    return 'no front matter: expected name and description between two lines of ---';
  let matter: unknown;
  try {
    matter = await parseYaml(found.yaml);
  } catch (error) {
    return `front matter is not valid YAML: ${messageOf(error).split('\n')[0]}`;
  }
  if (!isObject(matter)) return 'front matter: expected name and description';
  const name = oneLine(matter.name);
  const description = oneLine(matter.description);
  if (name === null || name.length > NAME_LENGTH_MAX)
    return `front matter: expected a name of at most ${NAME_LENGTH_MAX} characters`;
  if (description === null || description.length > DESCRIPTION_LENGTH_MAX) {
    return `front matter: expected a description of at most ${DESCRIPTION_LENGTH_MAX} characters`;
  }
  const { metadata } = matter;
  return {
    name,
    description,
    shortDescription: oneLine(isObject(metadata) ? metadata['short-description'] : null),
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
