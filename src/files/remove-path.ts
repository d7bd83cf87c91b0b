import { lstat, rmdir, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { AnyPath } from '../base/files/open-regular-file.ts';
import { fileRefused } from '../protocol/rpc-error.ts';
import { unlessMissing } from './file-failure.ts';
import { openFolder } from './open-folder.ts';

/** Removes a file, a link or an empty folder. `recursive`: also a folder with entries. `force`: a missing path is no error. */
export async function removePath(path: string, { recursive, force }: { recursive: boolean; force: boolean }): Promise<void> {
  if (dirname(path) === path) throw fileRefused('root_refused', `fs/remove does not remove the root: ${path}`, path);
  const there = force ? await unlessMissing(lstat(path)) : await lstat(path);
  if (there === undefined) return;
  if (!there.isDirectory()) await unlink(path);
  else if (recursive) await removeFolder(path);
  else await rmdir(path);
}

/** Removes a folder. Never follows a link, even if a link replaces a folder in the meantime. Ignores entries that disappear. */
export async function removeFolder(path: AnyPath): Promise<void> {
  const folder = await openFolder(path);
  try {
    for (const name of await folder.names()) {
      const child = folder.child(name);
      const there = await unlessMissing(lstat(child));
      if (there?.isDirectory()) await removeFolder(child);
      else if (there !== undefined) await unlessMissing(unlink(child));
    }
  } finally {
    await folder.close();
  }
  await unlessMissing(rmdir(path));
}
