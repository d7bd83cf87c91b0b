import type { FileHandle } from 'node:fs/promises';

/** Writes all bytes at a position of the file, and returns how many they are. */
export async function writeAll(file: FileHandle, bytes: Buffer, position = 0): Promise<number> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
  return bytes.length;
}
