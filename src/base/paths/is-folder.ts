import { statSync } from 'node:fs';

/** Whether a folder is at the path, or a link to one. False for a path that cannot be looked at. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
