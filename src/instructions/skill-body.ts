import { basename, isAbsolute } from 'node:path';
import { readRegularFile } from '../config/read-regular-file.ts';
import type { ResponseItem, UserInput } from '../protocol/generated/types.ts';
import { contextMessage, escapeTags } from './context-message.ts';
import type { Skill } from './find-skills.ts';

const BODY_BYTES_MAX = 64 * 1024;

type SkillName = Pick<Skill, 'name' | 'path'>;

/** What a skill brings to the model when it is used, or why it cannot be read. */
export type SkillBody = { message: ResponseItem } | { warning: string };

/**
 * The skills that a user's input calls for, each once: its `skill` parts, and `$name` in its text for the known ones.
 * Of several skills with one name the last is meant, which is the one nearest to the cwd.
 */
export function skillsUsed(input: readonly UserInput[], known: readonly Skill[]): SkillName[] {
  const used = new Map<string, SkillName>();
  const mentioned = new Set(input.flatMap((part) => (part.type === 'mention' ? [part.name] : [])));
  const chosen = input.filter((part) => part.type === 'skill');
  for (const { name, path } of chosen) used.set(path, { name, path });
  const texts = input.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  for (const [, name = ''] of texts.join('\n').matchAll(/(?<![\w$])\$([\w-]+(?::[\w-]+)*)/g)) {
    // A mention, and a skill that was chosen by its path, say themselves what the name stands for.
    if (mentioned.has(name) || chosen.some((part) => part.name === name)) continue;
    const skill = known.findLast((candidate) => candidate.name === name);
    if (skill !== undefined) used.set(skill.path, { name: skill.name, path: skill.path });
  }
  return [...used.values()];
}

/** Reads a skill for use. The path is refused unless it is that of a SKILL.md, and leads to where that may lie. */
export function skillBody({ name, path }: SkillName, mayLieAt: (real: string) => boolean = () => true): SkillBody {
  if (!isAbsolute(path) || basename(path) !== 'SKILL.md')
    return { warning: `skill ${name}: ${path} is not the absolute path of a SKILL.md` };
  try {
    const read = readRegularFile(path, BODY_BYTES_MAX, mayLieAt);
    if (read === null) return { warning: `skill ${name}: there is no ${path}` };
    const cut = read.bytes.length < read.size;
    const contents = new TextDecoder().decode(read.bytes, { stream: cut });
    const note = cut ? `\n[cut after ${read.bytes.length} of ${read.size} bytes]` : '';
    const head = `<name>${escapeTags(name)}</name>\n<path>${escapeTags(path)}</path>`;
    return { message: contextMessage('user', [`<skill>\n${head}\n<contents>\n${contents.trim()}${note}\n</contents>\n</skill>`]) };
  } catch (error) {
    return { warning: `skill ${name}: ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  }
}
