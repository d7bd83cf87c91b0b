import { type Dir, type Dirent, opendirSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { absentPath, hasNul } from '../paths/stat-of.ts';

/** How many entries are read from the system at once. */
const ENTRIES_AT_ONCE = 256;

/** Entries of a folder, in no order. */
export interface FolderEntries {
  entries: Dirent[];
  /** Whether the folder has more entries than these. */
  cut: boolean;
}

/** Lists at most `entriesMax` entries of a folder, off the main loop. Rejects with the system's error. */
export async function listFolder(path: string, entriesMax: number): Promise<FolderEntries> {
  if (hasNul(path)) throw absentPath(path);
  const folder = await opendir(path, { bufferSize: ENTRIES_AT_ONCE });
  try {
    const entries: Dirent[] = [];
    for (let entry = await folder.read(); entry !== null; entry = await folder.read()) {
      if (entries.length === entriesMax) return { entries, cut: true };
      entries.push(entry);
    }
    return { entries, cut: false };
  } finally {
    await folder.close();
  }
}

/** Like `listFolder`, but synchronous, for a small number of entries. Throws the system's error. */
export function listFolderSync(path: string, entriesMax: number): FolderEntries {
  if (hasNul(path)) throw absentPath(path);
  const folder: Dir = opendirSync(path, { bufferSize: Math.min(entriesMax + 1, ENTRIES_AT_ONCE) });
  try {
    const entries: Dirent[] = [];
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
      if (entries.length === entriesMax) return { entries, cut: true };
      entries.push(entry);
    }
    return { entries, cut: false };
  } finally {
    folder.closeSync();
  }
}
