import { resolve } from 'node:path';
import { isFolder } from '../base/paths/is-folder.ts';
import { OptionError } from './command-line/option-error.ts';

/**
 * The absolute path of the folder that `--cd` names; null: the current one. Throws an OptionError
 * if it does not exist.
 */
export function workingDirectory(named: string | null): string {
  const folder = resolve(named ?? '.');
  if (named !== null && !isFolder(folder))
    throw new OptionError(`--cd ${named}: the folder does not exist`);
  return folder;
}
