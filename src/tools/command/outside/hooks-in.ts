import { listFolder } from '../../../base/files/list-folder.ts';
import { isAbsent } from '../../../base/system-error-code.ts';

const HOOKS_MAX = 1000;

/**
 * Returns the names of the files in a folder that git may run as hooks. Returns null if the folder
 * cannot be listed completely.
 */
export async function hooksIn(folder: string): Promise<string[] | null> {
  try {
    const { entries, cut } = await listFolder(folder, HOOKS_MAX);
    return cut ? null : entries.map(({ name }) => name).filter((name) => !name.endsWith('.sample'));
  } catch (error) {
    return isAbsent(error) ? [] : null;
  }
}
