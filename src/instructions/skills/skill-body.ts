import { basename, isAbsolute } from 'node:path';
import { readRegularFile } from '../../base/files/read-regular-file.ts';
import type { ResponseItem, UserInput } from '../../protocol/generated/types.ts';
import { contextMessage, escapeTags } from '../messages/context-message.ts';
import type { Skill } from './find-skills.ts';

const BODY_BYTES_MAX = 64 * 1024;

type SkillName = Pick<Skill, 'name' | 'path'>;

/**
 * The message that gives the model a skill's contents, or a warning that says why they cannot be
 * read.
 */
export type SkillBody = { message: ResponseItem } | { warning: string };

/**
 * The skills that a user's input names, each once: by its `skill` parts, and by `$name` in its text
 * for known skills. If several skills have one name, the last one counts, which is the nearest to
 * the cwd.
 */
export function skillsUsed(input: readonly UserInput[], known: readonly Skill[]): SkillName[] {
  const used = new Map<string, SkillName>();
  const mentioned = new Set(input.flatMap((part) => (part.type === 'mention' ? [part.name] : [])));
  const chosen = input.filter((part) => part.type === 'skill');
  for (const { name, path } of chosen) used.set(path, { name, path });
  const texts = input.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  for (const [, name = ''] of texts.join('\n').matchAll(/(?<![\w$])\$([\w-]+(?::[\w-]+)*)/g)) {
    // A mention, or a skill chosen by its path, already says what the name stands for.
    if (mentioned.has(name) || chosen.some((part) => part.name === name)) continue;
    const skill = known.findLast((candidate) => candidate.name === name);
    if (skill !== undefined) used.set(skill.path, { name: skill.name, path: skill.path });
  }
  return [...used.values()];
}

/**
 * Reads a skill's contents. Refuses a path unless it is that of a SKILL.md and its real path
 * satisfies `mayLieAt`.
 */
export async function skillBody(
  { name, path }: SkillName,
  mayLieAt: (real: string) => boolean = () => true,
): Promise<SkillBody> {
  if (!isAbsolute(path) || basename(path) !== 'SKILL.md')
    return { warning: `skill ${name}: ${path} is not the absolute path of a SKILL.md` };
  try {
    const read = await readRegularFile(path, { bytesMax: BODY_BYTES_MAX, cut: true, mayLieAt });
    if (read === null) return { warning: `skill ${name}: ${path} does not exist` };
    const cut = read.bytes.length < read.size;
    const contents = new TextDecoder().decode(read.bytes, { stream: cut });
    const note = cut ? `\n[truncated after ${read.bytes.length} of ${read.size} bytes]` : '';
    const head = `<name>${escapeTags(name)}</name>\n<path>${escapeTags(path)}</path>`;
    return {
      message: contextMessage('user', [
        `<skill>\n${head}\n<contents>\n${contents.trim()}${note}\n</contents>\n</skill>`,
      ]),
    };
  } catch (error) {
    return {
      warning: `skill ${name}: ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}
