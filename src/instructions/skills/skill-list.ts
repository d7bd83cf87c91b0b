import type { Skill } from './find-skills.ts';

const LIST_LENGTH_MAX = 16 * 1024;
/** For the names of the skills that have no place in the list. */
const NAMES_LENGTH_MAX = 4 * 1024;

/** A skill as the list shows it. */
export type ListedSkill = Pick<Skill, 'name' | 'description' | 'path'>;

/** The list of skills for the model. */
export interface SkillList {
  /** Null: there are no skills. */
  text: string | null;
  /** The names of the skills that the list does not describe, because it would be too long. */
  leftOut: string[];
}

/** Lists the skills for the model, without their contents. Names those that do not fit in. */
export function skillList(skills: readonly ListedSkill[]): SkillList {
  if (skills.length === 0) return { text: null, leftOut: [] };
  const lines: string[] = [];
  let length = 0;
  for (const { name, description, path } of skills) {
    const line = `- ${name}: ${description} (file: ${path})`;
    length += line.length;
    if (length > LIST_LENGTH_MAX) break;
    lines.push(line);
  }
  const leftOut = skills.slice(lines.length).map(({ name }) => name);
  const text = `Skills

A skill is a file of instructions for one kind of task. If a task matches a description below, or the user writes a skill's name
after a dollar sign, read the file before you start, and follow its instructions if they apply. The file may refer to other files in
the same folder. If the contents of the file are already in the conversation, do not read it again. Do not use a skill for other tasks.

${[...lines, ...rest(leftOut)].join('\n')}`;
  return { text, leftOut };
}

function rest(names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const named: string[] = [];
  for (const name of names) {
    if ([...named, name].join(', ').length > NAMES_LENGTH_MAX) break;
    named.push(name);
  }
  const unnamed = names.length - named.length;
  const further = unnamed === 0 ? '' : `, and ${unnamed} more`;
  return [`The list is too long to describe these skills, which the user can name after a dollar sign: ${named.join(', ')}${further}.`];
}
