import { mkdirSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasErrorCode } from '../system-error-code.ts';
import { isFolder } from './is-folder.ts';

const MODE_DEFAULT = 0o777;

/**
 * Makes a folder and its missing parents, each with this mode, less the umask. A folder that exists
 * stays as it is. Rejects with the system's error. (Node's own `recursive` never returns where the
 * system refuses a child with ENOENT, as in /proc.)
 */
export async function makeFolder(path: string, mode = MODE_DEFAULT): Promise<void> {
  const steps = foldersToMake(path);
  for (let step = steps.next(); !step.done; step = steps.next(await failureOf(step.value, mode)));
}

/** The same, at once. Throws the system's error. */
export function makeFolderSync(path: string, mode = MODE_DEFAULT): void {
  const steps = foldersToMake(path);
  for (let step = steps.next(); !step.done; step = steps.next(failureOfSync(step.value, mode)));
}

/**
 * Yields the next folder to make, and takes the error of making it, or null if the folder is there
 * now.
 */
function* foldersToMake(path: string): Generator<string, void, unknown> {
  const failure = yield path;
  if (failure === null) return;
  const parent = dirname(path);
  if (parent === path || !hasErrorCode(failure, ['ENOENT'])) throw failure;
  yield* foldersToMake(parent);
  const secondFailure = yield path;
  if (secondFailure !== null) throw secondFailure;
}

async function failureOf(path: string, mode: number): Promise<unknown> {
  try {
    await mkdir(path, { mode });
    return null;
  } catch (error) {
    // It was there, or another process has just made it.
    const stats = await stat(path).catch(() => null);
    return stats?.isDirectory() ? null : error;
  }
}

function failureOfSync(path: string, mode: number): unknown {
  try {
    mkdirSync(path, { mode });
    return null;
  } catch (error) {
    return isFolder(path) ? null : error;
  }
}
