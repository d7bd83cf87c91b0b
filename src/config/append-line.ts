import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Appends a line to a text file, and makes the file with mode 0600 if there is none. Resolves when the line is on the disk. Lines
 * that other processes append at the same time are kept. Rejects if the line cannot be written completely, and then removes what
 * it wrote. Also rejects if the file would become larger than `bytesMax`, because it could not be read any more.
 */
export async function appendLine(path: string, line: string, bytesMax: number): Promise<void> {
  const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NONBLOCK, 0o600);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new Error(`${path} is not a regular file`);
    await append(file, { line: `${line}\n`, size: stat.size, bytesMax });
  } finally {
    await file.close();
  }
  await syncFolder(dirname(path));
}

/** Writes once: with O_APPEND the system puts it at the current end of the file. */
async function append(file: FileHandle, { line, size, bytesMax }: { line: string; size: number; bytesMax: number }): Promise<void> {
  const bytes = Buffer.from((await endsLine(file, size)) ? line : `\n${line}`);
  if (size + bytes.length > bytesMax) throw new Error(`the file would be larger than ${bytesMax} bytes`);
  const { bytesWritten } = await file.write(bytes);
  if (bytesWritten < bytes.length) {
    // An incomplete line would make the server ask about every command.
    if ((await file.stat()).size === size + bytesWritten) await file.truncate(size);
    throw new Error('no space left to write the line');
  }
  await file.sync();
}

async function endsLine(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return true;
  const { bytesRead, buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 && buffer.toString() === '\n';
}

/** Makes the name of a new file durable. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
