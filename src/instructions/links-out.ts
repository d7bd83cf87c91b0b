import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isWithin } from '../base/is-within.ts';
import { realPathOrSame } from '../base/real-path.ts';
import { projectFolders } from '../config/layers/project-folders.ts';
import { INSTRUCTION_FILES } from './agents-md.ts';

const ENTRIES_MAX = 500;

/**
 * The links of a project, by absolute paths, in place of instruction files and skills, that are not followed since they lead
 * out of it: whoever wrote the project would otherwise choose which files of the machine the model reads.
 */
export function linksOut(cwd: string, fallbackFileNames: readonly string[]): string[] {
  const { root, folders } = projectFolders(cwd);
  const places = folders.flatMap((folder) => {
    const skills = join(folder, '.agents', 'skills');
    return [
      ...[...INSTRUCTION_FILES, ...fallbackFileNames, '.agents'].map((name) => join(folder, name)),
      skills,
      ...entries(skills).flatMap((name) => [join(skills, name), join(skills, name, 'SKILL.md')]),
    ];
  });
  return places.filter((path) => leadsOut(path, root));
}

function leadsOut(path: string, root: string): boolean {
  try {
    if (!lstatSync(path).isSymbolicLink()) return false;
  } catch {
    // Nothing there, or nothing that can be looked at.
    return false;
  }
  const real = realPathOrSame(path);
  return real !== path && !isWithin(real, root);
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder).slice(0, ENTRIES_MAX);
  } catch {
    // Not there, or not to be read: no skills here.
    return [];
  }
}
