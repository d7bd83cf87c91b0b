import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { realPathOrSame } from '../../base/real-path.ts';

const STICKY_AND_WRITABLE_BY_ALL = 0o1002;

export interface ProjectFolders {
  /** The nearest folder upward that holds `.git`, but no folder for everyone's use, such as /tmp; the cwd itself where there is none. */
  root: string;
  isRepository: boolean;
  /** From the root down to the cwd, both included. */
  folders: string[];
}

/** The folders that a thread in `cwd` takes its project's files from, symbolic links resolved. */
export function projectFolders(cwd: string): ProjectFolders {
  const real = realPathOrSame(cwd);
  const folders: string[] = [];
  for (let folder = real; ; folder = dirname(folder)) {
    folders.unshift(folder);
    if (existsSync(join(folder, '.git')) && !isForEveryone(folder)) return { root: folder, isRepository: true, folders };
    if (dirname(folder) === folder) return { root: real, isRepository: false, folders: [real] };
  }
}

/** Whether anyone may put files there: a `.git` would make what they write the instructions of all who work below. */
function isForEveryone(folder: string): boolean {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0;
  return (mode & STICKY_AND_WRITABLE_BY_ALL) === STICKY_AND_WRITABLE_BY_ALL;
}
