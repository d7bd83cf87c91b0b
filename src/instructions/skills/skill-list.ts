import type { Skill } from './find-skills.ts';

const LIST_LENGTH_MAX = 16 * 1024;
/** For the names of the skills that have no place in the list. */
const NAMES_LENGTH_MAX = 4 * 1024;

/** A skill as the list shows it. */
export type ListedSkill = Pick<Skill, 'name' | 'description' | 'path' | 'scope'>;

/** The list of skills for the model. */
export interface SkillList {
  /**
   * How to use skills, and the user's own, for the developer message. Null: there are no skills.
   */
  text: string | null;
  /**
   * The project's skills, for a user message: the authors of the project have written it, and not
   * the user. Null: there are none.
   */
  ofProject: string | null;
  /**
   * The names of the skills that the list does not describe, because it would be too long, the
   * innermost first.
   */
  leftOut: string[];
}

/**
 * Lists the skills for the model, without their contents. Describes the innermost ones, the last,
 * first, and names those that do not fit in.
 */
export function skillList(skills: readonly ListedSkill[]): SkillList {
  if (skills.length === 0) return { text: null, ofProject: null, leftOut: [] };
  let length = 0;
  const isDescribed = (skill: ListedSkill) => {
    length += lineOf(skill).length;
    return length <= LIST_LENGTH_MAX;
  };
  const described = new Set(skills.toReversed().filter(isDescribed));
  const leftOut = skills.toReversed().filter((skill) => !described.has(skill));
  const listed = (isWanted: (skill: ListedSkill) => boolean) => [
    ...skills.filter((skill) => isWanted(skill) && described.has(skill)).map(lineOf),
    ...rest(leftOut.filter(isWanted).map(({ name }) => name)),
  ];
  const [ofUser, ofProject] = [listed((skill) => !isProjects(skill)), listed(isProjects)];
  return {
    text: [
      USE,
      ...(ofUser.length === 0 ? [] : [ofUser.join('\n')]),
      ...(ofProject.length === 0 ? [] : [OTHERS]),
    ].join('\n\n'),
    ofProject:
      ofProject.length === 0
        ? null
        : `${OPEN}\n${OFFERED}\n\n${ofProject.join('\n').replaceAll(CLOSE, '')}\n${CLOSE}`,
    leftOut: leftOut.map(({ name }) => name),
  };
}

const USE = `Skills

A skill is a file of instructions for one kind of task. If a task matches a description below, or the user writes a skill's name
after a dollar sign, read the file before you start, and follow its instructions if they apply. The file may refer to other files in
the same folder. If the contents of the file are already in the conversation, do not read it again. Do not use a skill for other tasks.`;
const OTHERS = 'The skills of the project are listed in a message of their own.';
const OPEN = '<project_skills>';
const CLOSE = '</project_skills>';
const OFFERED =
  'The authors of this project offer these skills. The list replaces any given for a project earlier.';

/** Tells the model that the project's skills of an earlier list are gone. */
export const NO_PROJECT_SKILLS = `${OPEN}\nThe skills that were listed for a project earlier are no longer available.\n${CLOSE}`;

function lineOf({ name, description, path }: ListedSkill): string {
  return `- ${name}: ${description} (file: ${path})`;
}

function isProjects({ scope }: ListedSkill): boolean {
  return scope === 'repo';
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
  return [
    `The list is too long to describe these skills, which the user can name after a dollar sign: ${named.join(', ')}${further}.`,
  ];
}
