const REASONS: Record<string, string> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'what should be a folder on the way is a file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** An option of the command line that cannot be followed: the text names it. The exit code is 2, as for one that is wrong. */
export class OptionError extends Error {}

/** What `open` gives. Throws an OptionError where it cannot open `file`, which an option names. */
export function openFor<T>(option: string, file: string, open: (file: string) => T): T {
  try {
    return open(file);
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    const reason = REASONS[String(error.code)] ?? error.message;
    throw new OptionError(`${option} ${file}: the file cannot be opened: ${reason}`, { cause: error });
  }
}
