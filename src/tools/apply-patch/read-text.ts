import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { FileRefusedError, OwnFileError } from '../../base/files/file-refused-error.ts';
import { FileTooLargeError } from '../../base/files/open-regular-file.ts';
import { readRegularFile } from '../../base/files/read-regular-file.ts';
import { decodeUtf8 } from '../../base/text/decode-utf8.ts';
import type { FileLocation } from '../../files/file-location.ts';
import { PatchError } from './patch-error.ts';
import type { PinnedFolders } from './pinned-folders.ts';

/** The largest file that a patch can change. */
const FILE_BYTES_MAX = 64 * 1024 * 1024;

interface ReadOptions {
  folders: PinnedFolders;
  breaks: EventLoopYield;
}

/**
 * The content of a text file. Throws a PatchError if it is not a UTF-8 text file within the limit,
 * else the system's error.
 */
export async function readText(
  location: FileLocation,
  path: string,
  { folders, breaks }: ReadOptions,
): Promise<string> {
  try {
    const file = await readRegularFile(await folders.entry(location), {
      bytesMax: FILE_BYTES_MAX,
      followLinks: false,
    });
    if (file === null) throw new PatchError(`${path} does not exist`);
    const text = await decodeUtf8(file.bytes, breaks);
    if (text === null) throw new PatchError(`${path} is not UTF-8 text`);
    return text;
  } catch (error) {
    if (error instanceof FileTooLargeError)
      throw new PatchError(`${path} has ${error.size} bytes, and the limit is ${FILE_BYTES_MAX}`);
    if (error instanceof OwnFileError) throw new PatchError(error.message, { cause: error });
    if (error instanceof FileRefusedError)
      throw new PatchError(`${path} is not a regular file`, { cause: error });
    throw error;
  }
}
