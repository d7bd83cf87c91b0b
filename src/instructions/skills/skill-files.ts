import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { type FolderEntries, listFolder } from '../../base/files/list-folder.ts';
import { inSlices } from '../../base/in-slices.ts';
import { isFolder } from '../../base/paths/is-folder.ts';
import { isBelow } from '../../base/paths/is-within.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import { isOwnFailure, statOf } from '../../base/paths/stat-of.ts';
import type { SkillPlace } from './skill-places.ts';

const SKILL_FILE = 'SKILL.md';
const FOLDER_DEPTH_MAX = 6;
const FOLDERS_MAX = 2000;
/** The maximum number of entries that are read, over all folders without a skill. */
const ENTRIES_MAX = 20_000;

/** Says how much of a place is searched. */
export const SEARCH_LIMITS = `at most ${FOLDERS_MAX} folders, ${ENTRIES_MAX} entries and ${FOLDER_DEPTH_MAX} levels are searched`;

export interface SkillFiles {
  /** The SKILL.md files, sorted. */
  files: string[];
  /** The folders that were searched. */
  searched: string[];
  /** Whether a part of the place was not searched, because it is too large. */
  isCut: boolean;
}

/**
 * Finds the SKILL.md files of a place. Hidden folders and folders inside a skill are not searched.
 * If the place has a root, nothing outside it is searched, even through symbolic links.
 */
export async function skillFiles(place: SkillPlace, working: EventLoopYield): Promise<SkillFiles> {
  const search = new Search(place, working);
  let level = [place.folder];
  for (let depth = 0; depth < FOLDER_DEPTH_MAX && level.length > 0; depth++) {
    const below: string[] = [];
    for await (const folder of inSlices(level, 1, working))
      below.push(...(await search.foldersIn(folder)));
    level = below;
  }
  return {
    files: search.files.sort(),
    searched: search.searched,
    isCut: search.isCut || level.length > 0,
  };
}

class Search {
  readonly files: string[] = [];
  readonly searched: string[] = [];
  isCut = false;
  readonly #root: string | null;
  readonly #working: EventLoopYield;
  readonly #seen = new Set<string>();
  #entriesLeft = ENTRIES_MAX;

  constructor({ root }: SkillPlace, working: EventLoopYield) {
    this.#root = root;
    this.#working = working;
  }

  /**
   * Takes the skill of a folder. If it has none, returns the folders in it that must be searched.
   */
  async foldersIn(folder: string): Promise<string[]> {
    if (!this.#enters(folder)) return [];
    this.searched.push(folder);
    const file = join(folder, SKILL_FILE);
    if (isSkill(file)) {
      if (isAllowed(realPathOrSame(file), this.#root)) this.files.push(file);
      return [];
    }
    const { entries, cut } = await entriesOf(folder, this.#entriesLeft);
    this.#entriesLeft -= entries.length;
    this.isCut ||= cut;
    const below: string[] = [];
    for await (const entry of inSlices(entries, 1, this.#working))
      if (isVisibleFolder(folder, entry)) below.push(join(folder, entry.name));
    return below;
  }

  /** Whether a folder must be searched, and has not been searched under another name. */
  #enters(folder: string): boolean {
    const real = realPathOrSame(folder);
    if (this.#seen.has(real) || !isAllowed(real, this.#root)) return false;
    this.isCut ||= this.#seen.size === FOLDERS_MAX;
    if (this.#seen.size < FOLDERS_MAX) this.#seen.add(real);
    return this.#seen.has(real);
  }
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

async function entriesOf(folder: string, entriesMax: number): Promise<FolderEntries> {
  try {
    return await listFolder(folder, entriesMax);
  } catch (error) {
    // Skills that are there must be known: their files may need approval.
    if (isOwnFailure(error)) throw error;
    // Missing, not a folder, or not readable: no skills here.
    return { entries: [], cut: false };
  }
}
