import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isWithin } from '../base/paths/is-within.ts';
import { realPathOrSame } from '../base/paths/real-path.ts';
import { projectFolders } from '../config/layers/project-folders.ts';
import { INSTRUCTION_FILES } from './agents-md.ts';

const ENTRIES_MAX = 500;

/**
 * Absolute paths of the links that a project has in place of instruction files and skills, and that lead out of the project.
 * They are not followed: otherwise the project's author would choose which files of this machine the model reads.
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
    // Missing, or not accessible.
    return false;
  }
  const real = realPathOrSame(path);
  return real !== path && !isWithin(real, root);
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder).slice(0, ENTRIES_MAX);
  } catch {
    // Missing, or not readable: no skills here.
    return [];
  }
}
