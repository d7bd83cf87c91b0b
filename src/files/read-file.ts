import { stat } from 'node:fs/promises';
import { openRegularFile } from '../base/files/open-regular-file.ts';
import { fileRefused } from '../protocol/errors/file-errors.ts';
import { LINE_BYTES_MAX } from '../protocol/line-bytes-max.ts';
import type { RpcError } from '../protocol/rpc-error.ts';
import { notAFile, unlessIrregular } from './file-failure.ts';

/**
 * The largest file that fits into one message as base64, with room for the rest of the message, so
 * that it can be written back.
 */
const FILE_BYTES_MAX = ((LINE_BYTES_MAX - 64 * 1024) / 4) * 3;

const CHUNK_BYTES_MIN = 4 * 1024;
const CHUNK_BYTES_MAX = 1024 * 1024;

/**
 * The reported size of a regular file. It may change until the file is read. Rejects other files,
 * and files that are too large.
 */
export async function readableSize(path: string): Promise<number> {
  // Examined before it is opened, because opening a device may have an effect.
  const stats = await stat(path);
  if (!stats.isFile()) throw notAFile(path);
  if (stats.size > FILE_BYTES_MAX) throw tooLarge(path);
  return stats.size;
}

/** Reads a regular file, even if it grows or reports no size. Never waits for a pipe. */
export async function readFile(path: string): Promise<Buffer> {
  const { file, stats } = await unlessIrregular(path, openRegularFile(path));
  try {
    const chunks: Buffer[] = [];
    let length = 0;
    for (;;) {
      const chunk = Buffer.allocUnsafe(
        Math.min(Math.max(stats.size + 1 - length, CHUNK_BYTES_MIN), CHUNK_BYTES_MAX),
      );
      const { bytesRead } = await file.read(chunk, 0, chunk.length);
      if (bytesRead === 0) return Buffer.concat(chunks, length);
      chunks.push(chunk.subarray(0, bytesRead));
      length += bytesRead;
      if (length > FILE_BYTES_MAX) throw tooLarge(path);
    }
  } finally {
    await file.close();
  }
}

function tooLarge(path: string): RpcError {
  return fileRefused(
    'file_too_large',
    `file is too large to read: limit is ${FILE_BYTES_MAX} bytes`,
    path,
  );
}
