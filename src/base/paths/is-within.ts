import { relative, sep } from 'node:path';

/** A part that `relative` would leave out or resolve. */
const UNNORMALIZED = /\/\.{1,2}(?:\/|$)/;
const SLASH = 0x2f;

/**
 * Whether the path is the folder or anywhere below it. Both must be absolute. Does not follow
 * links.
 */
export function isWithin(path: string, folder: string): boolean {
  if (isNormalized(path) && isNormalized(folder)) {
    return (
      path.startsWith(folder) &&
      (path.length === folder.length || path.charCodeAt(folder.length) === SLASH)
    );
  }
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && way !== path);
}

/** Whether the path is below the folder. */
export function isBelow(path: string, folder: string): boolean {
  return isWithin(path, folder) && !isWithin(folder, path);
}

/**
 * Whether this is an absolute path of which `relative`, which takes much longer, only compares the
 * characters.
 */
function isNormalized(path: string): boolean {
  const isPlain =
    sep === '/' &&
    path.charCodeAt(0) === SLASH &&
    path.charCodeAt(path.length - 1) !== SLASH &&
    !path.includes('//');
  return isPlain && !(path.includes('/.') && UNNORMALIZED.test(path));
}
