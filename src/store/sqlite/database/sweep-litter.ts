import { existsSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { draftListTag, draftTag } from '../../../base/files/draft-file.ts';
import { listFolder } from '../../../base/files/list-folder.ts';
import { WRITERS_FOLDER } from '../../../base/files/own-file.ts';
import { hasEnded, TAG_FORM } from '../../../base/files/process-tag.ts';
import { readRegularFile } from '../../../base/files/read-regular-file.ts';
import { parsedJson } from '../../../base/json-value.ts';
import type { Log } from '../../../base/log.ts';
import { systemErrorCode } from '../../../base/system-error-code.ts';
import type { Connect } from '../connect/load-sqlite.ts';
import { lockFileOf } from './leases.ts';

/** The most entries of a folder that are looked at, and the most folders of one dead process. */
const ENTRIES_MAX = 20_000;
const FOLDERS_MAX = 1_000;
const LIST_BYTES_MAX = 1024 * 1024;
/** Folders for temporary files that heddle makes, and drafts of the database. */
const TEMPORARY = new RegExp(`^heddle-(?:read-only|deterministic)-(${TAG_FORM})-`);
const NEW_DATABASE = new RegExp(`\\.(${TAG_FORM})-[0-9a-f-]{36}\\.new(?:-wal|-shm)?$`);

export interface LitterPlaces {
  /** The database file. */
  file: string;
  tempDir: string;
  connect: Connect;
  log: Log;
  /** The owners of leases, dead or alive. */
  owners: () => readonly string[];
}

/**
 * Removes what killed processes have left: drafts of files and of databases, folders with copies,
 * and lock files. Only what carries the tag of a process that has surely ended, or a lock that
 * nobody holds. Never rejects.
 */
export async function sweepLitter(places: LitterPlaces): Promise<void> {
  const { file, tempDir, log } = places;
  const home = dirname(file);
  try {
    await sweepFolder(home, (name) => [
      draftTag(name),
      name.startsWith(basename(file)) ? NEW_DATABASE.exec(name)?.[1] : null,
    ]);
    await sweepFolder(tempDir, (name) => [TEMPORARY.exec(name)?.[1]]);
    await sweepDrafts(home);
    await sweepLocks(join(home, WRITERS_FOLDER), places);
  } catch (error) {
    log.info(
      { err: error },
      'not everything that killed processes have left could be removed; the next start tries again',
    );
  }
}

/** Removes the entries that belong to an ended process: `tagsOf` gives the tags in a name. */
async function sweepFolder(
  folder: string,
  tagsOf: (name: string) => readonly (string | null | undefined)[],
): Promise<void> {
  if (!existsSync(folder)) return;
  const { entries } = await listFolder(folder, ENTRIES_MAX);
  for (const { name } of entries) {
    if (tagsOf(name).some((tag) => tag != null && hasEnded(tag)))
      rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** Removes the drafts in the folders that ended processes have listed, and the lists. */
async function sweepDrafts(home: string): Promise<void> {
  const { entries } = await listFolder(home, ENTRIES_MAX);
  for (const { name } of entries) {
    const tag = draftListTag(name);
    if (tag === null || !hasEnded(tag)) continue;
    const list = join(home, name);
    for (const folder of await listedFolders(list)) {
      // A folder that is gone or may not be read has nothing to remove.
      await sweepFolder(folder, (entry) => [draftTag(entry) === tag ? tag : null]).catch(() => {});
    }
    rmSync(list, { force: true });
  }
}

async function listedFolders(list: string): Promise<string[]> {
  const text =
    (await readRegularFile(list, { bytesMax: LIST_BYTES_MAX, cut: true }))?.bytes.toString(
      'utf8',
    ) ?? '';
  const folders = text.split('\n').map((line) => parsedJson(line));
  return folders.filter((folder) => typeof folder === 'string').slice(0, FOLDERS_MAX);
}

/**
 * Removes the lock files that nobody holds. It holds each one itself meanwhile: a process that has
 * just made one makes it again. The file of an owner in the database stays, because others would
 * take that owner for alive meanwhile; who takes its threads removes it.
 */
async function sweepLocks(folder: string, { connect, owners }: LitterPlaces): Promise<void> {
  if (!existsSync(folder)) return;
  const { entries } = await listFolder(folder, ENTRIES_MAX);
  const kept = new Set(owners().map(lockFileOf));
  for (const name of entries
    .map((entry) => entry.name)
    .filter((one) => one.endsWith('.lock') && !kept.has(one))) {
    const lock = connect(join(folder, name), { timeout: 0 });
    try {
      lock.exec('BEGIN EXCLUSIVE');
      rmSync(join(folder, name), { force: true });
    } catch (error) {
      if (systemErrorCode(error)?.startsWith('SQLITE_BUSY') !== true) throw error;
    } finally {
      lock.close();
    }
  }
}
