import { delimiter, isAbsolute, resolve } from 'node:path';
import { isFile } from '../../base/paths/is-file.ts';

/** The most spaces in the path of a program. */
const SPACES_MAX = 16;

/**
 * Returns why a command is not one program, with the way to write it. Null: it may be one.
 * `searchPath`: the PATH of the program. A text that follows the program may have a secret, and is
 * not in the result.
 */
export function commandProblem(
  command: string,
  place: { cwd: string | null; searchPath: string },
): string | null {
  const [word = ''] = command.split(/\s+/);
  if (/^\w+=/.test(word))
    return 'expected only the program: write the variables as a table in env, and the arguments as a list in args';
  if (/^(?:~|\$)/.test(word))
    return 'expected a program or its whole path: `~` and variables have no meaning here';
  const folders = [place.cwd ?? '', ...place.searchPath.split(delimiter).filter(isAbsolute)];
  const exists = (program: string) => folders.some((folder) => isFile(resolve(folder, program)));
  if (word !== command && !exists(command)) return withArguments(command, word, exists);
  if (place.cwd === null && command.includes('/') && !isAbsolute(command)) {
    return 'a relative path needs cwd. Otherwise each project could have a program at it';
  }
  return null;
}

/** The path of a program may have spaces, so the longest one that exists is the program. */
function withArguments(
  command: string,
  word: string,
  exists: (program: string) => boolean,
): string {
  const starts = [...command.matchAll(/\s+/g)]
    .slice(0, SPACES_MAX)
    .map(({ index }) => command.slice(0, index));
  const found = starts.findLast(exists);
  if (found === undefined && word.includes('/')) {
    return 'no file is at this path. If it has arguments, write only the program here, and the rest as a list in args';
  }
  return `expected only the program: write command = ${JSON.stringify(found ?? word)}, and the rest as a list in args`;
}
