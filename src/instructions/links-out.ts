import { dirname, join } from 'node:path';
import { listFolder } from '../base/files/list-folder.ts';
import { inSlices } from '../base/in-slices.ts';
import { isLink } from '../base/paths/is-link.ts';
import { isWithin } from '../base/paths/is-within.ts';
import { realPathOrSame } from '../base/paths/real-path.ts';
import { projectFolders } from '../config/trust/project-folders.ts';
import { INSTRUCTION_FILES } from './agents-md.ts';
import { PROJECT_SKILLS } from './skills/skill-places.ts';

const ENTRIES_MAX = 500;

/**
 * Absolute paths of the links that a project has in place of instruction files and skills, and that
 * lead out of the project. They are not followed: otherwise the project's author would choose which
 * files of this machine the model reads.
 */
export async function linksOut(
  cwd: string,
  fallbackFileNames: readonly string[],
): Promise<string[]> {
  const { root, folders } = projectFolders(cwd);
  const places: string[] = [];
  for (const folder of folders) {
    places.push(...[...INSTRUCTION_FILES, ...fallbackFileNames].map((name) => join(folder, name)));
    for (const skills of PROJECT_SKILLS.map((path) => join(folder, path))) {
      const names = await namesIn(skills);
      places.push(
        dirname(skills),
        skills,
        ...names.flatMap((name) => [join(skills, name), join(skills, name, 'SKILL.md')]),
      );
    }
  }
  const out: string[] = [];
  for await (const path of inSlices(places, 1)) if (leadsOut(path, root)) out.push(path);
  return out;
}

function leadsOut(path: string, root: string): boolean {
  if (!isLink(path)) return false;
  const real = realPathOrSame(path);
  return real !== path && !isWithin(real, root);
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await listFolder(folder, ENTRIES_MAX)).entries.map(({ name }) => name).sort();
  } catch {
    // Missing, or not readable: no skills here.
    return [];
  }
}
