import { posix } from 'node:path';

/**
 * The files that a page of docs/design names, in its order. `path`: from the root of the project;
 * null: there is no such file. A path on these pages begins in `src/` or in the root. A name alone
 * is in the folder of the path before it, or in `src/` itself.
 */
export function namedFiles(
  page: string,
  projectFiles: readonly string[],
): { name: string; path: string | null }[] {
  const files = new Set(projectFiles);
  let folder = 'src';
  return [...page.matchAll(/(?<![\w./*-])[\w./-]+\.ts\b/g)].map(([name]) => {
    const isPath = name.includes('/');
    const places = isPath ? ['src', '.'] : [folder, 'src'];
    const path = places.map((place) => posix.join(place, name)).find((each) => files.has(each));
    if (path !== undefined && isPath) folder = posix.dirname(path);
    return { name, path: path ?? null };
  });
}
