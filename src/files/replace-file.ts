import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { hasErrorCode } from '../base/system-error-code.ts';
import { isADirectory, notAFile, unlessMissing } from './file-failure.ts';

const DRAFT_NAME = /^\.heddle-[0-9a-f-]{36}\.tmp$/;
const PERMISSION_BITS = 0o777;
/** What says that a file cannot be put beside another one, which may be writable all the same. */
const NO_DRAFT = ['EACCES', 'EPERM', 'EROFS'];

/** Writes what is to be in a file, from its beginning. */
export type Fill = (file: FileHandle) => Promise<void>;

/**
 * Makes a file, or gives one other contents: they are written beside it and take its name when they are whole, so that a
 * failure leaves it as it was. Its owner and its permissions stay, unless `mode` says otherwise; set-user-id bits do not.
 * A file with several names, one in a folder that cannot be written, and what a link leads to where nothing is are
 * written in their place. Refuses what is no regular file, without waiting for it.
 */
export async function replaceFile(path: string, fill: Fill, mode: number | null = null): Promise<void> {
  const there = await unlessMissing(stat(path));
  if (there?.isDirectory()) throw isADirectory(path);
  if (there !== undefined && !there.isFile()) throw notAFile(path);
  const isLink = (await unlessMissing(lstat(path)))?.isSymbolicLink() === true;
  if (there === undefined ? isLink : there.nlink > 1) return writeInPlace(path, fill, mode);
  const target = isLink ? await realpath(path) : path;
  const drafted = await drafting(target, there ?? null, { fill, mode });
  if (!drafted) await writeInPlace(path, fill, mode);
}

/** A name for what is written beside a file, to take its place. */
export function draftName(): string {
  return `.heddle-${randomUUID()}.tmp`;
}

/** Whether a name is one under which this server writes what is to take another's place. */
export function isDraftName(name: string): boolean {
  return DRAFT_NAME.test(basename(name));
}

/** False: there can be no draft, and nothing was done. */
async function drafting(target: string, there: Stats | null, { fill, mode }: { fill: Fill; mode: number | null }): Promise<boolean> {
  const draft = join(dirname(target), draftName());
  let file: FileHandle;
  try {
    file = await open(draft, 'wx', there === null && mode === null ? 0o666 : 0o600);
  } catch (error) {
    if (there !== null && hasErrorCode(error, NO_DRAFT)) return false;
    throw error;
  }
  try {
    try {
      if (there !== null && !(await takesOwner(file, there))) return false;
      await fill(file);
      const bits = mode ?? there?.mode ?? null;
      if (bits !== null) await file.chmod(bits & PERMISSION_BITS);
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(draft, target);
    return true;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Gives a new file the owner of another one; false where that is not ours to give. */
async function takesOwner(file: FileHandle, { uid, gid }: Stats): Promise<boolean> {
  const own = await file.stat();
  if (own.uid === uid && own.gid === gid) return true;
  try {
    await file.chown(uid, gid);
    return true;
  } catch (error) {
    if (hasErrorCode(error, ['EPERM'])) return false;
    throw error;
  }
}

async function writeInPlace(path: string, fill: Fill, mode: number | null): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | (constants.O_NONBLOCK ?? 0), mode ?? 0o666);
  try {
    if (!(await file.stat()).isFile()) throw notAFile(path);
    await file.truncate(0);
    await fill(file);
    if (mode !== null) await file.chmod(mode & PERMISSION_BITS);
  } finally {
    await file.close();
  }
}
