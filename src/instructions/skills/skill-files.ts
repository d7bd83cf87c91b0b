import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import { listFolder } from '../../base/files/list-folder.ts';
import { isFolder } from '../../base/paths/is-folder.ts';
import { isBelow } from '../../base/paths/is-within.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import { statOf } from '../../base/paths/stat-of.ts';

const SKILL_FILE = 'SKILL.md';
const DEPTH_MAX = 6;
const FOLDERS_MAX = 2000;
/** The maximum number of entries that are read, over all folders without a skill. */
const ENTRIES_MAX = 20_000;

/**
 * The SKILL.md files under a folder, sorted, and the folders that were searched. Hidden folders and folders inside a skill are not
 * searched. If `root` is not null, nothing outside it is searched, even through symbolic links.
 */
export async function skillFiles(top: string, root: string | null): Promise<{ files: string[]; searched: string[] }> {
  const found: string[] = [];
  const searched: string[] = [];
  const seen = new Set<string>();
  let entriesLeft = ENTRIES_MAX;
  let level = [top];
  for (let depth = 0; depth < DEPTH_MAX && level.length > 0; depth++) {
    const below: string[] = [];
    for (const folder of level) {
      if (!isNew(folder, root, seen)) continue;
      searched.push(folder);
      const file = join(folder, SKILL_FILE);
      if (isSkill(file)) {
        if (isAllowed(realPathOrSame(file), root)) found.push(file);
        continue;
      }
      const entries = await entriesOf(folder, entriesLeft);
      entriesLeft -= entries.length;
      below.push(...entries.filter((entry) => isVisibleFolder(folder, entry)).map((entry) => join(folder, entry.name)));
    }
    level = below;
  }
  return { files: found.sort(), searched };
}

/** Whether a folder must be searched, and has not been searched under another name. */
function isNew(folder: string, root: string | null, seen: Set<string>): boolean {
  const real = realPathOrSame(folder);
  if (seen.has(real) || seen.size >= FOLDERS_MAX || !isAllowed(real, root)) return false;
  seen.add(real);
  return true;
}

function isSkill(file: string): boolean {
  const stats = statOf(file);
  return stats !== null && !stats.isDirectory();
}

function isAllowed(real: string, root: string | null): boolean {
  return root === null || isBelow(real, root);
}

function isVisibleFolder(folder: string, entry: Dirent): boolean {
  if (entry.name.startsWith('.')) return false;
  return entry.isSymbolicLink() ? isFolder(join(folder, entry.name)) : entry.isDirectory();
}

async function entriesOf(folder: string, entriesMax: number): Promise<Dirent[]> {
  try {
    return (await listFolder(folder, entriesMax)).entries;
  } catch {
    // Missing, not a folder, or not readable: no skills here.
    return [];
  }
}
