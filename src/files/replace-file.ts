import { type BigIntStats, constants } from 'node:fs';
import { access, type FileHandle, rename, rm } from 'node:fs/promises';
import { draftFile } from '../base/files/draft-file.ts';
import { openNewFile, requireForeignName } from '../base/files/open-new-file.ts';
import { openPinned } from '../base/files/open-pinned.ts';
import { hasErrorCode } from '../base/system-error-code.ts';
import { writeText } from './write-all.ts';

const PERMISSION_BITS = 0o777;
/** Without waiting for a pipe. Windows does not have the second flag. */
const OVERWRITE = constants.O_WRONLY | (constants.O_NONBLOCK ?? 0);
const ALL_MODE_BITS = 0o7777n;
/**
 * The codes of a file that cannot get this owner. EINVAL: the owner does not exist in the user
 * namespace of a container.
 */
export const OWNER_REFUSED: readonly string[] = ['EPERM', 'EINVAL'];
/**
 * The codes of a draft that cannot be made, owned or put in place, beside a file that may be
 * writable all the same.
 */
const NO_DRAFT = [...OWNER_REFUSED, 'EACCES', 'EROFS'];

export interface NewContents {
  /**
   * Writes the contents from the start of the file, and returns their length in bytes. May be
   * called a second time.
   */
  fill: (file: FileHandle) => Promise<number>;
  /** Permissions; set-user-id bits are dropped. Null: those of a new file. */
  mode: number | null;
  /** The old contents, if they are known: put back if overwriting them fails. */
  before: string | null;
  /** Called right before the file is replaced. If it throws, the file stays as it is. */
  check?: () => void;
}

/**
 * Another file is now at the path of the file that was to be replaced, or the file has got a hard
 * link.
 */
export class FileChangedError extends Error {
  override readonly name = 'FileChangedError';
}

/**
 * Creates a file or replaces its contents. `path` must not be a link; `found` is the file that the
 * caller found there. The contents are written to a draft beside the file, and the draft is then
 * renamed to the file. So a full disk or the death of this process leaves the file as it was. The
 * file keeps its owner.
 *
 * A file with several hard links is overwritten in place instead, so that the links stay names of
 * the same file. A file is also overwritten in place if its draft cannot be created, cannot get the
 * same owner or cannot be renamed to the file. Rejects with the system's error, with a
 * FileChangedError, or with an OwnFileError for a file of heddle's store.
 */
export async function replaceFile(
  path: string,
  found: BigIntStats | null,
  contents: NewContents,
): Promise<void> {
  if (found?.isFile()) await access(path, constants.W_OK);
  if (found !== null && found.nlink > 1n) return overwrite(path, found, contents);
  try {
    await putInPlace(await writeDraft(path, found, contents), path, contents.check);
  } catch (error) {
    if (found === null || !hasErrorCode(error, NO_DRAFT)) throw error;
    await overwrite(path, found, contents);
  }
}

/**
 * Writes the contents to a new file beside `path`, and returns the path of that draft. Rejects with
 * the system's error, with one of OWNER_REFUSED if `owner` cannot be made the owner; then no draft
 * is left.
 */
export async function writeDraft(
  path: string,
  owner: Pick<BigIntStats, 'uid' | 'gid'> | null,
  { fill, mode }: Pick<NewContents, 'fill' | 'mode'>,
): Promise<string> {
  const draft = draftFile(path);
  const file = await openNewFile(draft, mode === null ? 0o666 : 0o600);
  try {
    try {
      if (owner !== null) await setOwner(file, owner);
      await fill(file);
      if (mode !== null) await file.chmod(mode & PERMISSION_BITS);
    } finally {
      await file.close();
    }
    return draft;
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/**
 * Gives a draft its name. A failure, also one of `check`, removes the draft. Rejects with it, the
 * system's error or an OwnFileError.
 */
export async function putInPlace(draft: string, path: string, check?: () => void): Promise<void> {
  try {
    requireForeignName(path);
    check?.();
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function setOwner(
  file: FileHandle,
  { uid, gid }: Pick<BigIntStats, 'uid' | 'gid'>,
): Promise<void> {
  const own = await file.stat({ bigint: true });
  if (own.uid !== uid || own.gid !== gid) await file.chown(Number(uid), Number(gid));
}

async function overwrite(
  path: string,
  found: BigIntStats,
  { fill, mode, before, check }: NewContents,
): Promise<void> {
  const { file } = await openPinned(path, { flags: OVERWRITE, followLinks: false });
  try {
    const opened = await file.stat({ bigint: true });
    const isFound =
      opened.dev === found.dev && opened.ino === found.ino && opened.nlink <= found.nlink;
    if (!isFound) throw new FileChangedError(`${path} has been replaced meanwhile`);
    check?.();
    // Before the contents, which must never have the set-user-id bits of the old ones.
    const bits = mode === null ? null : mode & PERMISSION_BITS;
    if (bits !== null && Number(opened.mode & ALL_MODE_BITS) !== bits) await file.chmod(bits);
    try {
      // Only now cut off at the end: nothing is thrown away before all of the new contents have
      // found room.
      await file.truncate(await fill(file));
    } catch (error) {
      if (before !== null) await file.truncate(await writeText(file, before));
      throw error;
    }
  } finally {
    await file.close();
  }
}
