import { OwnFileError } from '../base/files/file-refused-error.ts';
import { IrregularFileError } from '../base/files/open-regular-file.ts';
import { hasErrorCode, systemErrorCode } from '../base/system-error-code.ts';
import { fileFailed, fileRefused } from '../protocol/errors/file-errors.ts';
import type { ErrorCode } from '../protocol/generated/error-code.ts';
import { RpcError } from '../protocol/rpc-error.ts';

type KnownFailure = readonly [code: ErrorCode, text: string];

/** The system's error codes that have an error code and a message of their own for clients. */
const KNOWN: Readonly<Record<string, KnownFailure>> = {
  EACCES: ['permission_denied', 'Permission denied'],
  EBUSY: ['file_busy', 'Device or resource busy'],
  EDQUOT: ['no_space', 'Disk quota exceeded'],
  EEXIST: ['already_exists', 'File exists'],
  EFBIG: ['file_too_large', 'File too large'],
  EISDIR: ['is_a_directory', 'Is a directory'],
  ELOOP: ['too_many_links', 'Too many levels of symbolic links'],
  EMFILE: ['too_many_open_files', 'Too many open files'],
  ENAMETOOLONG: ['name_too_long', 'File name too long'],
  ENFILE: ['too_many_open_files', 'Too many open files in system'],
  ENOENT: ['file_not_found', 'No such file or directory'],
  ENOSPC: ['no_space', 'No space left on device'],
  ENOTDIR: ['not_a_directory', 'Not a directory'],
  ENOTEMPTY: ['directory_not_empty', 'Directory not empty'],
  EPERM: ['permission_denied', 'Operation not permitted'],
  EROFS: ['read_only', 'Read-only file system'],
};

/** Larger numbers are not the system's but Node's own. */
const ERRNO_MAX = 255;

/**
 * Works on a file. Turns the system's errors into errors for clients, with `shown` as the path in
 * the message.
 */
export async function withFile<T>(path: string, work: () => Promise<T>, shown = path): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fileFailure(error, path, shown);
  }
}

/**
 * Returns the error for clients for one of the system's, and for an OwnFileError. Returns any other
 * error unchanged.
 */
export function fileFailure(error: unknown, path: string, shown = path): unknown {
  if (error instanceof OwnFileError) return fileRefused('store_file', error.message, path);
  const code = systemErrorCode(error);
  if (error instanceof RpcError || !(error instanceof Error) || code === null) return error;
  const [word, text]: KnownFailure = KNOWN[code] ?? ['file_failed', error.message];
  const errno = 'errno' in error && typeof error.errno === 'number' ? -error.errno : 0;
  const number = errno > 0 && errno <= ERRNO_MAX ? ` (os error ${errno})` : '';
  return fileFailed(word, `${text}${number}: ${shown}`, path);
}

/** Resolves with undefined if the file is missing. */
export function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (hasErrorCode(error, ['ENOENT'])) return undefined;
    throw error;
  });
}

/** Rejects with `not_a_file` instead of an IrregularFileError. */
export function unlessIrregular<T>(path: string, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw error instanceof IrregularFileError ? notAFile(path) : error;
  });
}

export function notAFile(path: string): RpcError {
  return fileRefused('not_a_file', `path \`${path}\` is not a file`, path);
}

export function isADirectory(path: string): RpcError {
  return fileFailed('is_a_directory', `Is a directory (os error 21): ${path}`, path);
}
