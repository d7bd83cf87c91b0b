import { join } from 'node:path';
import { listFolderSync } from '../../base/files/list-folder.ts';
import { isFolder } from '../../base/paths/is-folder.ts';
import { systemErrorCode } from '../../base/system-error-code.ts';

/** The most files with roles of one folder that are used: the first ones by name. */
export const ROLE_FILES_MAX = 32;
const ENTRIES_MAX = 1000;

/**
 * The names of the files with roles in the folder `agents` of this folder, sorted: one more than
 * are used, if there are more. None if it cannot be read.
 */
export function roleFileNames(folder: string): string[] {
  const path = join(folder, 'agents');
  if (!isFolder(path)) return [];
  try {
    const names = listFolderSync(path, ENTRIES_MAX).entries.map(({ name }) => name);
    return names
      .filter((name) => name.endsWith('.toml'))
      .sort()
      .slice(0, ROLE_FILES_MAX + 1);
  } catch (error) {
    if (systemErrorCode(error) !== null) return [];
    throw error;
  }
}
