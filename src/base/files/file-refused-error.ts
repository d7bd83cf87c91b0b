/** A path as a string or as bytes, because names need not be UTF-8. */
export type AnyPath = string | Buffer;

/** A file that the server does not open, though the system would allow it. */
export class FileRefusedError extends Error {
  override readonly name: string = 'FileRefusedError';
}

const INSTEAD = 'read threads with thread/list and thread/read, and make a copy with `heddle store backup FILE`';

/** A file of heddle's own store. Opening and closing it would drop the store's locks, and writing to it would destroy the store. */
export class OwnFileError extends FileRefusedError {
  override readonly name = 'OwnFileError';

  /** `own` is the path at which the store has the file. */
  constructor(path: AnyPath, own: string) {
    const what = String(path) === own ? 'belongs to' : `is ${own}, which belongs to`;
    super(`${path} ${what} heddle's own store, and nothing else may use it: ${INSTEAD}`);
  }
}
