import { IrregularFileError, openRegularFile } from '../base/files/open-regular-file.ts';
import { LineSplitter } from '../base/text/line-splitter.ts';
import { LINE_BYTES_MAX } from '../protocol/line-bytes-max.ts';

/** The largest file that is read. Its contents are held in memory until all of them are stored. */
export const ROLLOUT_BYTES_MAX = 512 * 1024 * 1024;

/**
 * Reads the lines of a regular file, or of its first `bytes` bytes. Yields null for a line that is
 * too long or not UTF-8. Skips blank lines, and reads a last line without a line end too. Never
 * waits for a pipe or a device. Throws if the file cannot be read, is not a regular file, is too
 * large or is shorter than `bytes`.
 */
export async function* readLines(
  path: string,
  bytes?: number,
): AsyncGenerator<string | null, void> {
  const { file, stats } = await openRegularFile(path).catch((error: unknown) => {
    throw error instanceof IrregularFileError
      ? new Error('it is not a regular file', { cause: error })
      : error;
  });
  try {
    if (stats.size > ROLLOUT_BYTES_MAX)
      throw new Error(`it is larger than ${ROLLOUT_BYTES_MAX} bytes`);
    if (bytes !== undefined && stats.size < bytes)
      throw new Error(`it ends after ${stats.size} of ${bytes} bytes`);
    const size = bytes ?? stats.size;
    if (size === 0) return;
    let lines: (string | null)[] = [];
    const splitter = new LineSplitter(
      (line) => {
        if (line.trim() !== '') lines.push(line);
      },
      () => lines.push(null),
      LINE_BYTES_MAX,
    );
    for await (const chunk of file.createReadStream({ end: size - 1, autoClose: false })) {
      splitter.push(chunk);
      yield* lines;
      lines = [];
    }
    splitter.end();
    yield* lines;
  } finally {
    await file.close();
  }
}
