import type { FileHandle } from 'node:fs/promises';
import { textPieces } from '../base/text/text-pieces.ts';

/** The text that is turned into bytes at once. */
const PIECE_CHARS = 1024 * 1024;

/** Writes all bytes at a position of the file, and returns how many they are. */
export async function writeAll(file: FileHandle, bytes: Buffer, position = 0): Promise<number> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await file.write(
      bytes,
      written,
      bytes.length - written,
      position + written,
    );
    written += bytesWritten;
  }
  return bytes.length;
}

/**
 * Writes a text from the start of the file as UTF-8, and returns how many bytes it has. Other work
 * runs in between.
 */
export async function writeText(file: FileHandle, text: string): Promise<number> {
  let position = 0;
  for (const piece of textPieces(text, PIECE_CHARS))
    position += await writeAll(file, Buffer.from(piece), position);
  return position;
}
