import type { Skill } from './find-skills.ts';

const LIST_LENGTH_MAX = 16 * 1024;

/** Names the skills to the model, without their bodies; null where there are none. */
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
  if (left > 0) lines.push(`(${left} more are not listed)`);
  return `Skills

A skill is a file of instructions for one kind of task. When a task fits a description below, or the user writes the name with
a dollar sign in front, read the file first and follow it as far as it fits the task; files that it refers to lie beside it. If
its contents are already in the conversation, do not read it again. Do not carry a skill over to tasks that it is not for.

${lines.join('\n')}`;
}
