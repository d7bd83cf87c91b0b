import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { realPathOrSame } from '../paths/real-path.ts';
import { storeFolder } from './own-file.ts';
import { processTag, TAG_FORM } from './process-tag.ts';

/** Drafts of this and of earlier versions. */
const DRAFT_NAME = /^\.heddle-[0-9a-f-]{36,}\.tmp$/;
const TAGGED_NAME = new RegExp(`^\\.heddle-(${TAG_FORM})-[0-9a-f-]{36}\\.tmp$`);
/** The end of the name of a list of the folders in which a process has written drafts. */
const LIST_END = '.drafts';
const LIST_NAME = new RegExp(`^\\.heddle-(${TAG_FORM})\\.drafts$`);
/** The folders that one process lists. Drafts in others are not found after a kill. */
const FOLDERS_MAX = 10_000;

const listed = new Set<string>();
/** The list of this process, once it exists. */
let written: string | null = null;

/**
 * Returns a new path beside a file, for the draft that is to replace it. The folder is listed
 * beside the store, so that the next server removes the draft if this process is killed before.
 */
export function draftFile(path: string): string {
  const folder = dirname(path);
  list(realPathOrSame(folder));
  return join(folder, `.heddle-${processTag()}-${randomUUID()}.tmp`);
}

/** Whether a path ends in the name of a draft of this or another process. */
export function isDraftName(path: string): boolean {
  return DRAFT_NAME.test(basename(path));
}

/**
 * The tag of the process that has written the draft with this name. Null: it is none, or one of an
 * earlier version.
 */
export function draftTag(name: string): string | null {
  return TAGGED_NAME.exec(name)?.[1] ?? null;
}

/** The tag of the process whose list of folders has this name. Null: it is none. */
export function draftListTag(name: string): string | null {
  return LIST_NAME.exec(name)?.[1] ?? null;
}

/** Removes the list of this process. Call it when no draft is being written. */
export function endDrafts(): void {
  if (written !== null) rmSync(written, { force: true });
  written = null;
  listed.clear();
}

function list(folder: string): void {
  const home = storeFolder();
  if (home === null || listed.has(folder) || listed.size === FOLDERS_MAX || !existsSync(home))
    return;
  listed.add(folder);
  const file = written ?? join(home, `.heddle-${processTag()}${LIST_END}`);
  try {
    const descriptor = openSync(file, 'a', 0o600);
    written = file;
    try {
      writeSync(descriptor, `${JSON.stringify(folder)}\n`);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // The home cannot be written: a draft that a kill leaves stays.
  }
}
