/** A path as a string or as bytes, because names need not be UTF-8. */
export type AnyPath = string | Buffer;

/** A file that the server does not open, though the system would allow it. */
export class FileRefusedError extends Error {
  override readonly name: string = 'FileRefusedError';
}

/** Paths of open files and of entries of open folders, which say nothing to a reader. */
const BY_DESCRIPTOR = /^\/proc\/[^/]+\/fd\//;
const INSTEAD =
  "read threads with thread/list and thread/read, and make a copy with 'heddle store backup FILE'";

/**
 * A file of heddle's own store. Opening and closing it would drop the store's locks, and writing to
 * it would destroy the store.
 */
export class OwnFileError extends FileRefusedError {
  override readonly name = 'OwnFileError';

  /** `own` is the path at which the store has the file. */
  constructor(path: AnyPath, own: string) {
    const isSame = String(path) === own || BY_DESCRIPTOR.test(String(path));
    super(
      `${isSame ? own : `${path} is ${own}, which`} belongs to heddle's own store, and nothing else may use it: ${INSTEAD}`,
    );
  }
}
