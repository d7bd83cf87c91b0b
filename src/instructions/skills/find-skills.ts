import { join } from 'node:path';
import { readRegularFile } from '../../base/files/read-regular-file.ts';
import { isObject } from '../../base/json-value.ts';
import { isBelow } from '../../base/paths/is-within.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import { projectFolders } from '../../config/layers/project-folders.ts';
import { skillFiles } from './skill-files.ts';

const SKILLS_MAX = 500;
/** Parsing takes longer than reading: YAML of this size may take some 10 ms. */
const FRONT_MATTER_BYTES_MAX = 8 * 1024;
const NAME_LENGTH_MAX = 64;
const DESCRIPTION_LENGTH_MAX = 1024;
const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n(.*?\n)??---[ \t]*(?:\r?\n|$)/s;

/**
 * A folder with instructions for one kind of task. The model always gets the name and the description, and the contents only when
 * the skill is used.
 */
export interface Skill {
  name: string;
  description: string;
  /** Absolute path of the SKILL.md. */
  path: string;
  scope: 'user' | 'repo';
}

/** A SKILL.md that cannot be used, and why. */
export interface SkillError {
  path: string;
  message: string;
}

export interface FoundSkills {
  skills: Skill[];
  errors: SkillError[];
}

/**
 * Finds skills in the home's `skills` folder and in `.agents/skills` of the project's folders, from its root down to the cwd,
 * both to a limited depth. In a project, links are followed only inside the project.
 */
export async function findSkills({ home, cwd }: { home: string; cwd: string }): Promise<FoundSkills> {
  const { root, folders } = projectFolders(cwd);
  const files: { path: string; scope: Skill['scope'] }[] = [];
  for (const path of await skillFiles(join(home, 'skills'), null)) files.push({ path, scope: 'user' });
  for (const folder of folders) {
    for (const path of await skillFiles(join(folder, '.agents', 'skills'), root)) files.push({ path, scope: 'repo' });
  }
  const skills: Skill[] = [];
  const errors: SkillError[] = [];
  if (files.length === 0) return { skills, errors };

  const yaml = await import('yaml');
  const byRealPath = new Map(files.slice(0, SKILLS_MAX).map((file) => [realPathOrSame(file.path), file]));
  for (const { path, scope } of byRealPath.values()) {
    const mayLieAt = (real: string) => scope === 'user' || isBelow(real, root);
    const read = await readSkill(path, mayLieAt, (text) => parseYaml(yaml, text));
    if (typeof read === 'string') errors.push({ path, message: read });
    else skills.push({ ...read, path, scope });
  }
  return { skills, errors };
}

/** Returns the skill's name and description, or a string that says what is wrong with the file. */
async function readSkill(
  path: string,
  mayLieAt: (real: string) => boolean,
  parse: (text: string) => unknown,
): Promise<{ name: string; description: string } | string> {
  let head: string;
  try {
    head = (await readRegularFile(path, { bytesMax: FRONT_MATTER_BYTES_MAX, cut: true, mayLieAt }))?.bytes.toString('utf8') ?? '';
  } catch (error) {
    return `cannot be read: ${messageOf(error)}`;
  }
  const found = FRONT_MATTER.exec(head);
  if (found === null) return 'no front matter: expected name and description between two lines of ---';
  let matter: unknown;
  try {
    matter = parse(found[1] ?? '');
  } catch (error) {
    return `front matter is not valid YAML: ${messageOf(error).split('\n')[0]}`;
  }
  if (!isObject(matter)) return 'front matter: expected name and description';
  const name = oneLine(matter.name);
  const description = oneLine(matter.description);
  if (name === null || name.length > NAME_LENGTH_MAX) return `front matter: expected a name of at most ${NAME_LENGTH_MAX} characters`;
  if (description === null || description.length > DESCRIPTION_LENGTH_MAX) {
    return `front matter: expected a description of at most ${DESCRIPTION_LENGTH_MAX} characters`;
  }
  return { name, description };
}

/** Throws if the YAML is invalid or has aliases. A few bytes of aliases can expand to more nodes than fit into memory. */
function parseYaml({ parseDocument, visit }: typeof import('yaml'), text: string): unknown {
  const document = parseDocument(text, { logLevel: 'error', prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) throw error;
  visit(document, {
    Alias() {
      throw new Error('aliases are not allowed');
    },
  });
  return document.toJS();
}

/** Returns a string on one line, since it goes into a list; null if the value is not a string or is blank. */
function oneLine(value: unknown): string | null {
  const line = typeof value === 'string' ? value.replace(/\s+/g, ' ').trim() : '';
  return line === '' ? null : line;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
