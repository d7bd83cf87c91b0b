import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { systemErrorCode } from '../../base/system-error-code.ts';
import { type ProcessSpec, ProcessStartError } from './processes.ts';

/** The path that `execvp` searches without a PATH. */
export const PATH_DEFAULT = '/usr/bin:/bin';

const REASONS: Record<string, string> = {
  ENOENT: 'No such file or directory',
  ENOTDIR: 'Not a directory',
  EACCES: 'Permission denied',
  ELOOP: 'Too many levels of symbolic links',
  ENAMETOOLONG: 'File name too long',
};

/**
 * Finds the file of a program as `execvp` does. Rejects with a `ProcessStartError` that says
 * whether the folder or the program is missing. The system's own error does not say that.
 */
export async function findProgram(
  name: string,
  { cwd, pinnedCwd = cwd, env }: Pick<ProcessSpec, 'cwd' | 'pinnedCwd' | 'env'>,
): Promise<string> {
  const problem = await folderProblem(pinnedCwd);
  if (problem !== null)
    throw new ProcessStartError(`cannot run in ${cwd}: ${REASONS[problem] ?? problem}`);
  if (name === '') throw new ProcessStartError('cannot run a program without a name');
  if (name.includes('/')) {
    const file = resolve(pinnedCwd, name);
    const reason = await programProblem(file);
    if (reason === null) return file;
    throw new ProcessStartError(`cannot run ${name}: ${REASONS[reason] ?? reason}`);
  }
  const path = env.PATH ?? PATH_DEFAULT;
  let denied = false;
  for (const folder of path.split(':')) {
    const file = resolve(pinnedCwd, folder, name);
    const reason = await programProblem(file);
    if (reason === null) return file;
    denied ||= reason === 'EACCES';
  }
  const reason = denied ? 'Permission denied' : 'No such file or directory';
  throw new ProcessStartError(`cannot run ${name}: ${reason} in PATH=${path}`);
}

/** Returns the error code, or null if it can be a working directory. */
async function folderProblem(folder: string): Promise<string | null> {
  try {
    const problem = access(folder, constants.X_OK).then(() => null, systemErrorCode);
    return (await stat(folder)).isDirectory() ? ((await problem) ?? null) : 'ENOTDIR';
  } catch (error) {
    return systemErrorCode(error) ?? String(error);
  }
}

/** Returns the error code, or null if the file can be run. */
async function programProblem(file: string): Promise<string | null> {
  try {
    const [facts] = await Promise.all([stat(file), access(file, constants.X_OK)]);
    return facts.isFile() ? null : 'EACCES';
  } catch (error) {
    return systemErrorCode(error) ?? String(error);
  }
}
