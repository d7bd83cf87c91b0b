import { lstat, rmdir, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type AnyPath, OwnFileError } from '../base/files/file-refused-error.ts';
import { requireForeignName } from '../base/files/open-new-file.ts';
import { ownFileBelow } from '../base/files/own-file.ts';
import { fileRefused } from '../protocol/errors/file-errors.ts';
import { unlessMissing } from './file-failure.ts';
import { openFolder } from './open-folder.ts';

/**
 * Removes a file, a link or an empty folder. `recursive`: also a folder with entries. `force`: a
 * missing path is no error. Rejects with an OwnFileError for a file of heddle's store, and before
 * anything is removed for a folder that has such a file.
 */
export async function removePath(
  path: string,
  { recursive, force }: { recursive: boolean; force: boolean },
): Promise<void> {
  if (dirname(path) === path)
    throw fileRefused('root_refused', `fs/remove does not remove the root: ${path}`, path);
  const there = force ? await unlessMissing(lstat(path)) : await lstat(path);
  if (there === undefined) return;
  if (!there.isDirectory()) await unlinkForeign(path);
  else if (!recursive) await rmdir(path);
  else {
    const own = ownFileBelow(there);
    if (own !== null) throw new OwnFileError(path, own);
    await removeFolder(path);
  }
}

async function unlinkForeign(path: AnyPath): Promise<void> {
  requireForeignName(path);
  await unlink(path);
}

/**
 * Removes a folder. Never follows a link, even if a link replaces a folder in the meantime. Ignores
 * entries that disappear.
 */
export async function removeFolder(path: AnyPath): Promise<void> {
  const folder = await openFolder(path);
  try {
    for (const name of await folder.names()) {
      const child = folder.child(name);
      const there = await unlessMissing(lstat(child));
      if (there?.isDirectory()) await removeFolder(child);
      else if (there !== undefined) await unlessMissing(unlinkForeign(child));
    }
  } finally {
    await folder.close();
  }
  await unlessMissing(rmdir(path));
}
