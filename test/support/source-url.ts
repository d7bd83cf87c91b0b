import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = dirname(dirname(import.meta.dirname));

/** The URL of a file in `src`, as a literal of JavaScript: for programs that tests write. */
export function sourceUrl(path: string): string {
  return JSON.stringify(pathToFileURL(join(root, 'src', path)).href);
}
