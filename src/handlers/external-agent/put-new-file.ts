import { dirname } from 'node:path';
import { isLink } from '../../base/paths/is-link.ts';
import { isBelow } from '../../base/paths/is-within.ts';
import { makeFolder } from '../../base/paths/make-folder.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import { statOf } from '../../base/paths/stat-of.ts';
import { writeText } from '../../files/write-all.ts';
import { writeFile } from '../../files/write-file.ts';
import { TakenError } from './found.ts';
import type { Scope } from './scope.ts';

/** Whether something is at the path, also a link that leads nowhere. */
export function isOccupied(path: string): boolean {
  return isLink(path) || statOf(path) !== null;
}

/**
 * Writes a new file with its folders, whole or not at all. Rejects with a TakenError if something
 * is there. `cwd`: as in `Scope`.
 */
export async function putNewFile(
  path: string,
  text: string,
  scope: Pick<Scope, 'cwd'>,
): Promise<void> {
  const check = () => {
    if (isOccupied(path)) throw new TakenError(`${path} exists already`);
  };
  check();
  await makeFolderFor(path, scope);
  await writeFile(path, (file) => writeText(file, text), {
    mode: scope.cwd === null ? 0o600 : null,
    check,
  });
}

/**
 * Makes the folder of a path. In a project, rejects with a TakenError if a link leads out of it.
 */
export async function makeFolderFor(path: string, { cwd }: Pick<Scope, 'cwd'>): Promise<void> {
  const folder = dirname(path);
  if (cwd !== null) requireInside(folder, cwd);
  await makeFolder(folder, cwd === null ? 0o700 : undefined);
}

function requireInside(folder: string, root: string): void {
  for (let at = folder; at !== root && at !== dirname(at); at = dirname(at)) {
    if (isOccupied(at) && !isBelow(realPathOrSame(at), root))
      throw new TakenError(`${at} is a link out of the project`);
  }
}
