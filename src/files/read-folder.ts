import type { Dirent } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EventLoopYield } from '../base/event-loop-yield.ts';
import { listFolder } from '../base/files/list-folder.ts';
import { inSlices, slicesOf } from '../base/in-slices.ts';
import { sortInParts } from '../base/sort-in-parts.ts';
import { fileRefused } from '../protocol/errors/file-errors.ts';
import type { FsReadDirectoryEntry } from '../protocol/generated/types.ts';

const ENTRIES_MAX = 200_000;
/** The number of links that are followed at once. */
const LOOKS_MAX = 32;

/** The entries of a folder, sorted by name. */
export async function readFolder(path: string): Promise<FsReadDirectoryEntry[]> {
  const { entries: found, cut } = await listFolder(path, ENTRIES_MAX);
  if (cut)
    throw fileRefused(
      'too_many_entries',
      `${path} has more than ${ENTRIES_MAX} entries: no more are listed`,
      path,
    );
  const breaks = new EventLoopYield();
  const sorted = await sortInParts(found, (one, other) => (one.name < other.name ? -1 : 1), breaks);
  const entries: FsReadDirectoryEntry[] = [];
  for await (const some of inSlices(slicesOf(sorted, LOOKS_MAX), LOOKS_MAX, breaks))
    entries.push(...(await Promise.all(some.map((entry) => described(path, entry)))));
  return entries;
}

async function described(folder: string, entry: Dirent): Promise<FsReadDirectoryEntry> {
  const seen = entry.isSymbolicLink() ? await targetOf(join(folder, entry.name)) : entry;
  return {
    fileName: entry.name,
    isDirectory: seen?.isDirectory() ?? false,
    isFile: seen?.isFile() ?? false,
  };
}

async function targetOf(link: string): Promise<Pick<Dirent, 'isDirectory' | 'isFile'> | null> {
  try {
    return await stat(link);
  } catch {
    // It leads nowhere, in a circle, or to a file that the server may not examine.
    return null;
  }
}
