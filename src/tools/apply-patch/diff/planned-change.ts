import type { FileLocation } from '../../../files/file-location.ts';

/** One change of a patch that was verified against the files. */
export interface PlannedChange {
  type: 'add' | 'delete' | 'update';
  /** The path as the patch writes it. For a rename, the new path. */
  shown: string;
  /** Absolute, links not resolved. */
  path: string;
  /** The new path of a rename, absolute. Null: no rename. */
  moveTo: string | null;
  /** The content before. Null if there was no file, or if it cannot be shown. */
  before: string | null;
  /**
   * The content of the file that a rename replaces. Null if there is none, or if it cannot be
   * shown.
   */
  replaced: string | null;
  /** The content after. Null for a delete. */
  after: string | null;
  /** The entry at `path` now, which a rename or a delete removes. */
  entry: FileLocation;
  /** The location that the content is written to. Null for a delete. */
  target: FileLocation | null;
  /** The permissions that the file has and keeps. Null: those of a new file. */
  mode: number | null;
}
