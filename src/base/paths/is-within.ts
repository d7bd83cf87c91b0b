import { relative, sep } from 'node:path';

/** Whether the path is the folder or anywhere below it. Both must be absolute. Does not follow links. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && way !== path);
}

/** Whether the path is below the folder. */
export function isBelow(path: string, folder: string): boolean {
  return relative(folder, path) !== '' && isWithin(path, folder);
}
