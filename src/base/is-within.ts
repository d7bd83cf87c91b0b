import { relative, sep } from 'node:path';

/** Whether the path is the folder or lies somewhere below it. Both absolute; links are not looked at. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && way !== path);
}

/** The same, but for the folder itself. */
export function isBelow(path: string, folder: string): boolean {
  return relative(folder, path) !== '' && isWithin(path, folder);
}
