import { FileRefusedError } from '../../base/files/file-refused-error.ts';

const REASONS: Record<string, string> = {
  ENOENT: 'the folder does not exist',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/**
 * An option of the command line cannot be used. The message names the option. The exit code is 2,
 * as for an invalid option.
 */
export class OptionError extends Error {}

/**
 * Returns what `open` returns. Throws an OptionError if `open` cannot open the file, which the
 * option names.
 */
export function openFor<T>(option: string, file: string, open: (file: string) => T): T {
  try {
    return open(file);
  } catch (error) {
    if (!(error instanceof FileRefusedError) && !(error instanceof Error && 'code' in error))
      throw error;
    throw new OptionError(`${option} ${file}: the file cannot be opened: ${systemReason(error)}`, {
      cause: error,
    });
  }
}

/** Why the system or heddle refused a file, in words. */
export function systemReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? (REASONS[String(error.code)] ?? error.message) : error.message;
}
