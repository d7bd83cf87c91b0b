import { unlessUnseen } from '../paths/stat-of.ts';
import { FileRefusedError } from './file-refused-error.ts';
import { readRegularFileSync } from './read-regular-file.ts';

/**
 * The text of an optional small file. Returns null if there is none that this user can read: also
 * for a file that is not regular or has more than `bytesMax` bytes.
 */
export function textOf(path: string, bytesMax: number): string | null {
  try {
    return (
      unlessUnseen(() => readRegularFileSync(path, { bytesMax }))?.bytes.toString('utf8') ?? null
    );
  } catch (error) {
    if (error instanceof FileRefusedError) return null;
    throw error;
  }
}
