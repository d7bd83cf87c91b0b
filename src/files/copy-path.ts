import { type FileHandle, lstat, mkdir, readlink, realpath, stat, symlink } from 'node:fs/promises';
import type { AnyPath } from '../base/files/file-refused-error.ts';
import { openNewFile, requireForeignName } from '../base/files/open-new-file.ts';
import { openRegularFile } from '../base/files/open-regular-file.ts';
import { isWithin } from '../base/paths/is-within.ts';
import { fileRefused } from '../protocol/errors/file-errors.ts';
import { unlessIrregular, unlessMissing, withFile } from './file-failure.ts';
import { locateFile, pathOf } from './file-location.ts';
import { openFolder } from './open-folder.ts';
import { removeFolder } from './remove-path.ts';
import { writeAll } from './write-all.ts';
import { writeFile } from './write-file.ts';

const CHUNK_BYTES = 256 * 1024;
const PERMISSION_BITS = 0o777;

/**
 * Copies a file, a link, or with `recursive` a folder. Copies links as links. In a folder, skips
 * everything that is not a file, folder or link. Copies permissions, but not set-user-id bits. If
 * part of a folder cannot be copied, removes the copy.
 */
export async function copyPath(
  source: string,
  destination: string,
  recursive: boolean,
): Promise<void> {
  requireForeignName(destination);
  const from = await withFile(source, () => lstat(source));
  if (from.isSymbolicLink()) return copyLink(source, destination);
  if (from.isFile()) return copyFile(source, destination, from.mode);
  if (!from.isDirectory())
    throw fileRefused(
      'not_copyable',
      `fs/copy only supports regular files, directories, and symlinks: ${source}`,
      source,
    );
  if (!recursive)
    throw fileRefused(
      'recursive_required',
      `fs/copy requires recursive: true when sourcePath is a directory: ${source}`,
      source,
    );
  if (await liesIn(destination, source))
    throw fileRefused(
      'copy_into_itself',
      `fs/copy cannot copy a directory to itself or one of its descendants: ${destination}`,
      destination,
    );
  await mkdir(destination, 0o700);
  try {
    await fillFolder(source, destination, from.mode);
  } catch (error) {
    await removeFolder(destination);
    throw error;
  }
}

/** Whether a path, which need not exist, is the folder or is below it. */
async function liesIn(path: string, folder: string): Promise<boolean> {
  const [real, top] = [pathOf(await locateFile(path)), await realpath(folder)];
  return isWithin(real, top);
}

async function fillFolder(source: AnyPath, destination: AnyPath, mode: number): Promise<void> {
  const from = await openFolder(source);
  try {
    const to = await openFolder(destination);
    try {
      for (const name of await from.names()) await copyEntry(from.child(name), to.child(name));
      await to.chmod(mode & PERMISSION_BITS);
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

async function copyEntry(source: Buffer, destination: Buffer): Promise<void> {
  const { mode, isLink, isFolder, isFile } = kind(await lstat(source));
  if (isLink) await copyLink(source, destination);
  else if (isFolder) {
    await mkdir(destination, 0o700);
    await fillFolder(source, destination, mode);
  } else if (isFile) {
    const from = await openFile(source);
    try {
      const to = await openNewFile(destination, 0o600);
      try {
        await pour(from, to);
        await to.chmod(mode & PERMISSION_BITS);
      } finally {
        await to.close();
      }
    } finally {
      await from.close();
    }
  }
}

function kind(stats: Awaited<ReturnType<typeof lstat>>) {
  return {
    mode: Number(stats.mode),
    isLink: stats.isSymbolicLink(),
    isFolder: stats.isDirectory(),
    isFile: stats.isFile(),
  };
}

async function copyLink(source: AnyPath, destination: AnyPath): Promise<void> {
  requireForeignName(destination);
  await symlink(await readlink(source, { encoding: 'buffer' }), destination);
}

async function copyFile(source: string, destination: string, mode: number): Promise<void> {
  const from = await openFile(source);
  try {
    const [own, other] = [await from.stat(), await unlessMissing(stat(destination))];
    // The source and the destination are the same file.
    if (other !== undefined && own.ino === other.ino && own.dev === other.dev) return;
    await writeFile(destination, (file) => pour(from, file), { mode });
  } finally {
    await from.close();
  }
}

/**
 * Opens a regular file for reading, not through a link. Rejects with `not_a_file` if it is none.
 */
async function openFile(path: AnyPath): Promise<FileHandle> {
  return (await unlessIrregular(String(path), openRegularFile(path, { followLinks: false }))).file;
}

/** Copies all bytes from the start of a file, and returns how many they are. */
async function pour(from: FileHandle, to: FileHandle): Promise<number> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let position = 0; ; ) {
    const { bytesRead } = await from.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) return position;
    position += await writeAll(to, chunk.subarray(0, bytesRead), position);
  }
}
