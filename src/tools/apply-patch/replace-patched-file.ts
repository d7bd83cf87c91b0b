import { type BigIntStats, constants } from 'node:fs';
import { access, type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasErrorCode } from '../../base/system-error-code.ts';
import { draftName } from '../../files/replace-file.ts';
import type { FileLocation } from './file-location.ts';
import { PatchError } from './patch-error.ts';

/** New content for a file. */
export interface NewContent {
  text: string;
  /** What the file held, where that is known. */
  before: string | null;
  /** Permissions; null: those of a new file. */
  mode: number | null;
}

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;

/**
 * Gives a file its content as a whole: a full disk or the process's death leave it as it was. `path` is where `place` is.
 * The content is written beside the file and put in its place. A file with further names, and one in a folder that takes no new
 * files, is written as it lies, so that it stays the same file; a failure then puts back what it held. Rejects with the system's error.
 */
export async function replacePatchedFile(path: string, { found }: FileLocation, content: NewContent): Promise<void> {
  if (found?.isFile()) await access(path, constants.W_OK);
  if (found !== null && found.nlink > 1n) return overwrite(path, found, content);
  try {
    await putInPlace(await writeBeside(path, found, content), path);
  } catch (error) {
    if (found === null || !hasErrorCode(error, ['EACCES', 'EPERM'])) throw error;
    await overwrite(path, found, content);
  }
}

/** Writes the content to a new file in the folder of `path`, and gives its path. */
export async function writeBeside(path: string, found: FileLocation['found'], { text, mode }: NewContent): Promise<string> {
  const beside = join(dirname(path), draftName());
  const handle = await open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode === null ? 0o666 : 0o600);
  try {
    await handle.writeFile(text);
    if (found !== null) await keepOwner(handle, found);
    if (mode !== null) await handle.chmod(mode);
    return beside;
  } catch (error) {
    await unlink(beside);
    throw error;
  } finally {
    await handle.close();
  }
}

export async function putInPlace(beside: string, path: string): Promise<void> {
  try {
    await rename(beside, path);
  } catch (error) {
    await unlink(beside);
    throw error;
  }
}

/** Who is not the owner, and not root, may not give a file away: then it becomes theirs. */
async function keepOwner(handle: FileHandle, { uid, gid }: { uid: bigint; gid: bigint }): Promise<void> {
  const own = await handle.stat({ bigint: true });
  if (own.uid === uid && own.gid === gid) return;
  await handle.chown(Number(uid), Number(gid)).catch((error: unknown) => {
    if (!hasErrorCode(error, ['EPERM'])) throw error;
  });
}

async function overwrite(path: string, { dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>, { text, before }: NewContent): Promise<void> {
  const handle = await open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const opened = await handle.stat({ bigint: true });
    if (opened.dev !== dev || opened.ino !== ino) throw new PatchError('it has changed since the patch was checked');
    await write(handle, text).catch(async (error: unknown) => {
      if (before !== null) await write(handle, before);
      throw error;
    });
  } finally {
    await handle.close();
  }
}

/** From the start on, and cut off at its end only then: until all has found room nothing is thrown away. */
async function write(handle: FileHandle, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) {
    written += (await handle.write(bytes, written, bytes.length - written, written)).bytesWritten;
  }
  await handle.truncate(bytes.length);
}
