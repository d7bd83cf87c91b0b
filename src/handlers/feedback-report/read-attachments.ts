import { isAbsolute } from 'node:path';
import { FileRefusedError } from '../../base/files/file-refused-error.ts';
import { readRegularFile } from '../../base/files/read-regular-file.ts';
import { systemErrorCode } from '../../base/system-error-code.ts';
import { fileFailed } from '../../protocol/errors/file-errors.ts';
import { invalidParams } from '../../protocol/rpc-error.ts';

const FILES_MAX = 10;
/** A larger file is attached in part. */
const FILE_BYTES_MAX = 256 * 1024;

export interface Attachment {
  path: string;
  /** The size of the whole file, in bytes. */
  size: number;
  isCut: boolean;
  text: string;
}

/**
 * Reads the files that a client wants in a report. Rejects with the client's error if one cannot be
 * read.
 */
export async function readAttachments(paths: readonly string[]): Promise<Attachment[]> {
  if (paths.length > FILES_MAX)
    throw invalidParams(
      `params.extraLogFiles must have at most ${FILES_MAX} files: it has ${paths.length}`,
    );
  const attachments: Attachment[] = [];
  for (const [index, path] of paths.entries())
    attachments.push(await readAttachment(path, `params.extraLogFiles[${index}]`));
  return attachments;
}

async function readAttachment(path: string, place: string): Promise<Attachment> {
  if (!isAbsolute(path))
    throw invalidParams(`${place}: ${JSON.stringify(path)} is not an absolute path`);
  try {
    const content = await readRegularFile(path, { bytesMax: FILE_BYTES_MAX, cut: true });
    if (content === null) throw invalidParams(`${place}: there is no file ${path}`);
    const { bytes, size } = content;
    return { path, size, isCut: size > bytes.length, text: bytes.toString('utf8') };
  } catch (error) {
    if (error instanceof FileRefusedError)
      throw fileFailed('file_failed', `${place}: ${error.message}`, path);
    const code = systemErrorCode(error);
    if (code === null) throw error;
    throw fileFailed('file_failed', `${place}: cannot read ${path} (${code})`, path);
  }
}
