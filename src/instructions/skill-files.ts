import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isBelow } from '../base/paths/is-within.ts';
import { realPathOrSame } from '../base/paths/real-path.ts';

const SKILL_FILE = 'SKILL.md';
const DEPTH_MAX = 6;
const FOLDERS_MAX = 2000;

/**
 * The SKILL.md files under a folder, sorted. Hidden folders and folders inside a skill are not searched. If `root` is not
 * null, nothing outside it is searched, even through symbolic links.
 */
export function skillFiles(top: string, root: string | null): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  let level = [top];
  for (let depth = 0; depth < DEPTH_MAX && level.length > 0; depth++) {
    const read = level.map((folder) => readSkillFolder(folder, root, seen));
    found.push(...read.flatMap((each) => each.file ?? []));
    level = read.flatMap((each) => each.folders);
  }
  return found.sort();
}

interface FolderContents {
  file: string | null;
  folders: string[];
}

function readSkillFolder(folder: string, root: string | null, seen: Set<string>): FolderContents {
  const real = realPathOrSame(folder);
  if (seen.has(real) || seen.size >= FOLDERS_MAX || !isAllowed(real, root)) return { file: null, folders: [] };
  seen.add(real);
  const entries = listFolder(folder);
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
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  try {
    return statSync(join(folder, entry.name)).isDirectory();
  } catch {
    // A broken or circular link.
    return false;
  }
}

function listFolder(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Missing, not a folder, or not readable: no skills here.
    return [];
  }
}
