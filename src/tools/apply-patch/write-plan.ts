import { type BigIntStats, constants } from 'node:fs';
import { lstat, rename, unlink } from 'node:fs/promises';
import { basename } from 'node:path';
import { OwnFileError } from '../../base/files/file-refused-error.ts';
import { requireForeignName } from '../../base/files/open-new-file.ts';
import { hasErrorCode, isAbsent, systemErrorCode } from '../../base/system-error-code.ts';
import { type FileLocation, pathOf } from '../../files/file-location.ts';
import {
  FileChangedError,
  type NewContents,
  OWNER_REFUSED,
  putInPlace,
  replaceFile,
  writeDraft,
} from '../../files/replace-file.ts';
import { writeText } from '../../files/write-all.ts';
import type { PlannedChange } from './diff/planned-change.ts';
import { PatchError } from './patch-error.ts';
import type { PinnedFolders } from './pinned-folders.ts';

const CHANGED = 'it changed after the patch was verified';

/** The result of writing a plan. Changes that were written before a failure stay. */
export interface Written {
  written: PlannedChange[];
  /**
   * The reason why a change could not be written, for the model and the user. Null: everything was
   * written.
   */
  failure: string | null;
}

const WORDS = new Map([
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EISDIR', 'there is a directory at this path'],
  ['ENOTEMPTY', 'there is a directory at this path'],
  ['EEXIST', 'there is a directory at this path'],
  ['ENOTDIR', 'a file or a link is where a directory should be'],
  ['ELOOP', 'there is a symbolic link on the path'],
  ['ENAMETOOLONG', 'the name is too long'],
]);

/**
 * Writes the changes in order, each at the location that was judged. A change fails if the file at
 * its location has been replaced or changed since. An interrupt does not stop it, so that no patch
 * is left half written. Errors of the file system are returned, not thrown.
 */
export async function writePlan(
  changes: readonly PlannedChange[],
  folders: PinnedFolders,
): Promise<Written> {
  const writer = new PlanWriter(changes, folders);
  const written: PlannedChange[] = [];
  let current = changes[0];
  try {
    await writer.saveEndangered();
    for (const change of changes) {
      current = change;
      await writer.write(change);
      written.push(change);
      await folders.trim();
    }
    return { written, failure: null };
  } catch (error) {
    const why = reason(error);
    if (why === null) throw error;
    const kept = await writer.giveUp();
    return {
      written,
      failure: [`Failed to write ${current?.moveTo ?? current?.path}: ${why}`, ...kept].join('\n'),
    };
  }
}

class PlanWriter {
  readonly #changes: readonly PlannedChange[];
  readonly #folders: PinnedFolders;
  /** The real paths that renames write to. */
  readonly #reached: ReadonlySet<string>;
  readonly #done = new Set<string>();
  /**
   * Drafts of renames whose own file another rename replaces. Each is on disk in the folder that
   * its content goes to.
   */
  readonly #saved = new Map<PlannedChange, FileLocation>();

  constructor(changes: readonly PlannedChange[], folders: PinnedFolders) {
    this.#changes = changes;
    this.#folders = folders;
    this.#reached = new Set(
      changes.flatMap(({ moveTo, target }) =>
        moveTo === null || target === null ? [] : [pathOf(target)],
      ),
    );
  }

  /**
   * Saves the content of files that another rename replaces: when files swap names, it would exist
   * only in memory for a moment.
   */
  async saveEndangered(): Promise<void> {
    for (const change of this.#changes) {
      const { moveTo, entry, target, after } = change;
      if (moveTo === null || target === null || after === null || !this.#reached.has(pathOf(entry)))
        continue;
      const path = await this.#folders.entry(target, { create: true });
      const draft = await writeMoved(path, change);
      this.#saved.set(change, { folder: target.folder, name: basename(draft), found: null });
    }
  }

  async write(change: PlannedChange): Promise<void> {
    const { entry, target, moveTo } = change;
    if (target !== null) await this.#put(change, target);
    const leaves = target === null || (moveTo !== null && !isRespelled(change));
    if (leaves && !this.#reached.has(pathOf(entry)))
      await unlink(foreign(await this.#unchanged(entry)));
    if (target !== null) this.#done.add(pathOf(target));
  }

  /**
   * Deletes the drafts that are not needed. Returns a sentence about each draft that holds the only
   * copy of some content.
   */
  async giveUp(): Promise<string[]> {
    const kept: string[] = [];
    for (const [change, draft] of this.#saved) {
      if (this.#done.has(pathOf(change.entry)))
        kept.push(`The content of ${change.path}, with the patch applied, is in ${pathOf(draft)}.`);
      else await unlink(await this.#folders.entry(draft));
    }
    return kept;
  }

  async #put(change: PlannedChange, target: FileLocation): Promise<void> {
    const { entry, moveTo } = change;
    const path = await this.#unchanged(target, { create: true });
    const saved = this.#saved.get(change);
    if (saved !== undefined) {
      this.#saved.delete(change);
      return putInPlace(await this.#folders.entry(saved), path);
    }
    if (moveTo === null) return replaceFile(path, target.found, contentsOf(change));
    if (isRespelled(change)) await rename(foreign(await this.#folders.entry(entry)), foreign(path));
    await putInPlace(await writeMoved(path, change), path);
  }

  /**
   * Returns the path of a location. Throws if the entry there is no longer the one that was judged.
   */
  async #unchanged(location: FileLocation, { create = false } = {}): Promise<string> {
    const path = await this.#folders.entry(location, { create });
    if (this.#done.has(pathOf(location))) return path;
    const now = await lstat(path, { bigint: true }).catch((error: unknown) => {
      if (isAbsent(error)) return null;
      throw error;
    });
    const { found } = location;
    if (found === null ? now !== null : !isSame(found, now) || !isUntouched(found, now))
      throw new PatchError(CHANGED);
    return path;
  }
}

/** Returns the path. Throws an OwnFileError if heddle's store has its files there. */
function foreign(path: string): string {
  requireForeignName(path);
  return path;
}

function contentsOf({ after, mode, before }: PlannedChange): NewContents {
  return { fill: (file) => writeText(file, after ?? ''), mode, before };
}

/**
 * Writes the content of a rename to a draft beside its new path. It keeps the owner of the file if
 * this process can set that owner.
 */
async function writeMoved(path: string, change: PlannedChange): Promise<string> {
  const contents = contentsOf(change);
  try {
    return await writeDraft(path, change.entry.found, contents);
  } catch (error) {
    if (!hasErrorCode(error, OWNER_REFUSED)) throw error;
    return writeDraft(path, null, contents);
  }
}

/**
 * Whether the new path leads to the file itself: the file system may ignore upper and lower case.
 */
function isRespelled({ entry, target }: PlannedChange): boolean {
  return isSame(entry.found, target?.found ?? null) && entry.found?.nlink === 1n;
}

function isSame(one: BigIntStats | null, other: BigIntStats | null): boolean {
  return (
    one !== null &&
    other !== null &&
    one.dev === other.dev &&
    one.ino === other.ino &&
    kind(one) === kind(other)
  );
}

function isUntouched(one: BigIntStats, other: BigIntStats | null): boolean {
  return one.size === other?.size && one.mtimeNs === other.mtimeNs && other.nlink <= one.nlink;
}

function kind({ mode }: BigIntStats): bigint {
  return mode & BigInt(constants.S_IFMT);
}

/**
 * The reason of a failure in words. Returns null for errors that are neither of the patch nor of
 * the file system.
 */
function reason(error: unknown): string | null {
  if (error instanceof PatchError || error instanceof OwnFileError) return error.message;
  if (error instanceof FileChangedError) return CHANGED;
  const code = systemErrorCode(error);
  return code === null
    ? null
    : (WORDS.get(code) ?? (isAbsent(error) ? 'its directory no longer exists' : code));
}
