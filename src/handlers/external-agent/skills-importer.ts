import { rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isFolder } from '../../base/paths/is-folder.ts';
import { isBelow } from '../../base/paths/is-within.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import { statOf } from '../../base/paths/stat-of.ts';
import { copyPath } from '../../files/copy-path.ts';
import { type Importer, type Refused, SourceError, TakenError } from './found.ts';
import { isOccupied, makeFolderFor } from './put-new-file.ts';
import { listSource, readSource } from './read-source.ts';
import type { Scope } from './scope.ts';
import { takeEach } from './take-each.ts';

const SKILLS_MAX = 200;
/** The most files and folders of one skill, and bytes of its files. */
const SKILL_ENTRIES_MAX = 500;
const SKILL_BYTES_MAX = 16 * 1024 * 1024;
const SKILL_FILE = 'SKILL.md';

/** The folders of skills, which are copied as they are. `ids` names the copies on their way. */
export function skillsImporter(ids: { next(): string }): Importer {
  return {
    itemType: 'SKILLS',
    details: 'skills',
    async look(scope) {
      const { source, target } = scope.skills;
      if (!isFolder(source)) return null;
      if (!isBelow(realPathOrSame(source), scope.root))
        throw new SourceError(`${source} is a link out of ${scope.root}`);
      const names: string[] = [];
      const refused: Refused[] = [];
      for (const name of await skillNames(source)) {
        const problem = await whyNotTaken(name, scope);
        if (problem === null) names.push(name);
        else if (problem !== 'same') refused.push({ source: name, ...problem });
      }
      return {
        description: `Migrate skills from ${source} to ${target}`,
        names: names.slice(0, SKILLS_MAX),
        refused,
        take: (wanted) =>
          takeEach(wanted, async (name) => {
            const copy = join(target, `.${name}.heddle-${ids.next()}`);
            await makeFolderFor(copy, scope);
            await copyPath(join(source, name), copy, true);
            if (isOccupied(join(target, name)))
              throw new TakenError(`${join(target, name)} exists already`);
            await rename(copy, join(target, name));
            return { source: name, target: name, title: null };
          }),
      };
    },
  };
}

async function skillNames(folder: string): Promise<string[]> {
  const { entries } = await listSource(folder, SKILLS_MAX * 4);
  return entries
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('.') && isFolder(join(folder, name)))
    .sort();
}

/** Null: the skill can be taken. `same`: heddle has it already. */
async function whyNotTaken(
  name: string,
  scope: Scope,
): Promise<Omit<Refused, 'source'> | 'same' | null> {
  const { source, target } = scope.skills;
  const from = join(source, name);
  if (realPathOrSame(from) !== join(realPathOrSame(source), name))
    return { message: `${from} is a link`, failureStage: 'read' };
  try {
    const text = await readSource(join(from, SKILL_FILE), scope.root);
    if (text === null) return { message: `${from} has no ${SKILL_FILE}`, failureStage: 'read' };
    const to = join(target, name);
    if (isOccupied(to)) {
      const isSame =
        (await readSource(join(to, SKILL_FILE), dirname(target)).catch(() => null)) === text;
      return isSame
        ? 'same'
        : { message: `${to} exists already, and was not changed`, failureStage: 'write' };
    }
    const problem = await problemIn(from);
    return problem === null ? null : { message: problem, failureStage: 'read' };
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return { message: error.message, failureStage: 'read' };
  }
}

/**
 * Why a folder cannot be copied; null: it can. Links could lead to files that nobody wants to
 * share.
 */
async function problemIn(folder: string): Promise<string | null> {
  const waiting = [folder];
  let count = 0;
  let bytes = 0;
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const { entries, cut } = await listSource(at, SKILL_ENTRIES_MAX);
    count += entries.length;
    if (cut || count > SKILL_ENTRIES_MAX)
      return `${folder} has more than ${SKILL_ENTRIES_MAX} files`;
    for (const entry of entries) {
      const path = join(at, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else if (!entry.isFile())
        return `${path} is a link or another special file (in the skill ${basename(folder)})`;
      else bytes += statOf(path)?.size ?? 0;
    }
    if (bytes > SKILL_BYTES_MAX) return `${folder} has more than ${SKILL_BYTES_MAX} bytes`;
  }
  return null;
}
