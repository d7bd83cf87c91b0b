import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileLocation } from '../../files/file-location.ts';
import { PatchError } from './patch-error.ts';
import type { PinnedFolders } from './pinned-folders.ts';

/** The largest file that a patch can change. */
const FILE_BYTES_MAX = 64 * 1024 * 1024;

/** Does not follow a link, and does not wait for a pipe. */
const READING = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The content of a text file. Throws a PatchError if it is not a UTF-8 text file within the limit, else the system's error. */
export async function readText(folders: PinnedFolders, location: FileLocation, path: string): Promise<string> {
  const handle = await open(await folders.entry(location), READING);
  try {
    const { size } = await handle.stat();
    if (location.found?.isFile() !== true) throw new PatchError(`${path} is not a regular file`);
    if (size > FILE_BYTES_MAX) throw new PatchError(`${path} has ${size} bytes, and the limit is ${FILE_BYTES_MAX}`);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await handle.readFile());
  } catch (error) {
    if (error instanceof TypeError) throw new PatchError(`${path} is not UTF-8 text`, { cause: error });
    throw error;
  } finally {
    await handle.close();
  }
}
