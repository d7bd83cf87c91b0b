import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import { listFolder } from '../base/files/list-folder.ts';
import { isFolder } from '../base/paths/is-folder.ts';
import { isBelow } from '../base/paths/is-within.ts';
import { realPathOrSame } from '../base/paths/real-path.ts';

const SKILL_FILE = 'SKILL.md';
const DEPTH_MAX = 6;
const FOLDERS_MAX = 2000;
/** In one folder. Others are not looked at. */
const ENTRIES_MAX = 2000;

/**
 * The SKILL.md files under a folder, sorted. Hidden folders and folders inside a skill are not searched. If `root` is not
 * null, nothing outside it is searched, even through symbolic links.
 */
export async function skillFiles(top: string, root: string | null): Promise<string[]> {
  const found: string[] = [];
  const seen = new Set<string>();
  let level = [top];
  for (let depth = 0; depth < DEPTH_MAX && level.length > 0; depth++) {
    const read: FolderContents[] = [];
    for (const folder of level) read.push(await readSkillFolder(folder, root, seen));
    found.push(...read.flatMap((each) => each.file ?? []));
    level = read.flatMap((each) => each.folders);
  }
  return found.sort();
}

interface FolderContents {
  file: string | null;
  folders: string[];
}

async function readSkillFolder(folder: string, root: string | null, seen: Set<string>): Promise<FolderContents> {
  const real = realPathOrSame(folder);
  if (seen.has(real) || seen.size >= FOLDERS_MAX || !isAllowed(real, root)) return { file: null, folders: [] };
  seen.add(real);
  const entries = await entriesOf(folder);
  const path = join(folder, SKILL_FILE);
  if (entries.some((entry) => entry.name === SKILL_FILE && !entry.isDirectory())) {
    return { file: isAllowed(realPathOrSame(path), root) ? path : null, folders: [] };
  }
  return { file: null, folders: entries.filter((entry) => isVisibleFolder(folder, entry)).map((entry) => join(folder, entry.name)) };
}

function isAllowed(real: string, root: string | null): boolean {
  return root === null || isBelow(real, root);
}

function isVisibleFolder(folder: string, entry: Dirent): boolean {
  if (entry.name.startsWith('.')) return false;
  return entry.isSymbolicLink() ? isFolder(join(folder, entry.name)) : entry.isDirectory();
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return (await listFolder(folder, ENTRIES_MAX)).entries;
  } catch {
    // Missing, not a folder, or not readable: no skills here.
    return [];
  }
}
