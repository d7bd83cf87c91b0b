import { mkdtempSync, rmdirSync } from 'node:fs';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import { hasErrorCode } from '../../base/system-error-code.ts';

/** A folder in which programs in a sandbox that otherwise only reads can write. */
export interface ScratchFolder {
  /** Its path as the programs see it. */
  path: string;
  /** The paths that the sandbox has to make writable. */
  writable: readonly string[];
  /** Call it once no program uses the folder. Programs remove what they put there. */
  release(): void;
}

/**
 * On Linux, each sandbox has a folder in memory, which is gone with it. Elsewhere it is a new
 * folder.
 */
export function takeScratchFolder(): ScratchFolder {
  if (platform() === 'linux') return { path: '/dev/shm', writable: [], release: () => undefined };
  const path = mkdtempSync(join(realPathOrSame(tmpdir()), 'heddle-git-'));
  return {
    path,
    writable: [path],
    release() {
      try {
        rmdirSync(path);
      } catch (error) {
        // A killed program has left files. The system removes them with others in this folder.
        if (!hasErrorCode(error, ['ENOTEMPTY', 'ENOENT'])) throw error;
      }
    },
  };
}
