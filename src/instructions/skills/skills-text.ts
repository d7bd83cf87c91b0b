import type { Skill } from './find-skills.ts';

const LIST_LENGTH_MAX = 16 * 1024;

/** Lists the skills for the model, without their contents; null if there are none. */
export function skillsText(skills: readonly Skill[]): string | null {
  if (skills.length === 0) return null;
  const lines: string[] = [];
  let length = 0;
  for (const { name, description, path } of skills) {
    const line = `- ${name}: ${description} (file: ${path})`;
    length += line.length;
    if (length > LIST_LENGTH_MAX) break;
    lines.push(line);
  }
  const left = skills.length - lines.length;
  if (left > 0) lines.push(`(${left} more skills are not listed)`);
  return `Skills

A skill is a file of instructions for one kind of task. If a task matches a description below, or the user writes a skill's name
after a dollar sign, read the file before you start, and follow its instructions if they apply. The file may refer to other files in
the same folder. If the contents of the file are already in the conversation, do not read it again. Do not use a skill for other tasks.

${lines.join('\n')}`;
}
