import { readRegularFile } from '../../base/files/read-regular-file.ts';
import { isObject } from '../../base/json-value.ts';
import { showText } from '../../base/text/show-text.ts';
import { oneLine, parseYaml } from './parse-yaml.ts';
import { splitFrontMatter } from './split-front-matter.ts';

/** Parsing takes longer than reading: YAML of this size may take some 10 ms. */
const FRONT_MATTER_BYTES_MAX = 8 * 1024;
const NAME_LENGTH_MAX = 64;
const DESCRIPTION_LENGTH_MAX = 1024;

/** The description of a skill, from its own file. */
interface SkillFrontMatter {
  name: string;
  description: string;
  /** For people; null: it has none. */
  shortDescription: string | null;
}

/**
 * Reads the front matter of a SKILL.md. Returns what the skill says about itself, or a string that
 * says what is wrong with the file.
 */
export async function readSkill(
  path: string,
  mayLieAt: (real: string) => boolean,
): Promise<SkillFrontMatter | string> {
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
