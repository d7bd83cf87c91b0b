import { type Dir, type Dirent, opendirSync } from 'node:fs';
import { opendir, readdir } from 'node:fs/promises';
import { absentPath, hasNul, statOf } from '../paths/stat-of.ts';
import { hasErrorCode, systemErrorCode } from '../system-error-code.ts';

/** How many entries are read from the system at once. */
const ENTRIES_AT_ONCE = 256;

/** A folder of this size has so many entries that listing them at once would block the server. */
const LARGE_FOLDER_BYTES = 64 * 1024;

/** Entries of a folder, in no order. */
export interface FolderEntries {
  entries: Dirent[];
  /** Whether the folder has more entries than these. */
  cut: boolean;
}

/**
 * Lists at most `entriesMax` entries of a folder, off the main loop. Rejects with the system's
 * error.
 */
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

/**
 * Passes all entries of a folder to a function, off the main loop. A folder that is gone or broken
 * has none. Returns false if this user may not read it.
 */
export async function eachEntry(path: string, take: (entry: Dirent) => void): Promise<boolean> {
  try {
    if ((statOf(path)?.size ?? 0) < LARGE_FOLDER_BYTES)
      for (const entry of await readdir(path, { withFileTypes: true })) take(entry);
    else
      for await (const entry of await opendir(path, { bufferSize: ENTRIES_AT_ONCE })) take(entry);
  } catch (error) {
    if (hasErrorCode(error, ['EACCES', 'EPERM'])) return false;
    if (systemErrorCode(error) === null) throw error;
  }
  return true;
}
