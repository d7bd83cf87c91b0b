import { isFolder } from '../paths/is-folder.ts';
import { unlessUnseen } from '../paths/stat-of.ts';
import { listFolderSync } from './list-folder.ts';

/** The names of the entries of a guard: empty folders, one for each server that uses it. */
const HOLD_NAME = /^held-for-sandbox-(\d+)-(\d+)-[0-9a-f]+$/;
/** Each entry of a guard is a server that uses it, so a folder with more entries is not a guard. */
const HOLDS_MAX = 1000;

/**
 * Whether a `.git` is a folder that makes no repository: it is empty, or a guard of the sandbox,
 * which a killed server may have left. git ignores it, too, and looks for a repository further up.
 * Every search for a repository asks this. A folder that cannot be read is not known to be empty.
 */
export function isEmptyGitFolder(dotGit: string): boolean {
  if (!isFolder(dotGit)) return false;
  const listed = unlessUnseen(() => listFolderSync(dotGit, HOLDS_MAX));
  return (
    listed !== null && !listed.cut && listed.entries.every(({ name }) => holderOf(name) !== null)
  );
}

/**
 * The process that holds a guard by an entry with this name. Null: the name is not that of such an
 * entry.
 */
export function holderOf(name: string): { namespace: string; pid: string } | null {
  const [, namespace, pid] = HOLD_NAME.exec(name) ?? [];
  return namespace === undefined || pid === undefined ? null : { namespace, pid };
}
