import { systemErrorCode } from '../base/system-error-code.ts';

const WHY: Record<string, string> = {
  EACCES: 'the server may not write there',
  EDQUOT: 'the quota of the disk is used up',
  EEXIST: 'there is already a file',
  ENOENT: 'its folder does not exist',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is not a folder',
  EPERM: 'the server may not write there',
  EROFS: 'the file system is read-only',
};

/**
 * Says why the system did not let a file be written, as a part of a sentence. Null: the error is
 * not the system's.
 */
export function whyNotWritten(error: unknown): string | null {
  const code = systemErrorCode(error);
  return code === null ? null : (WHY[code] ?? `the system answered ${code}`);
}
