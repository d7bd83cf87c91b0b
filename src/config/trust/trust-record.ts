import { createHash } from 'node:crypto';
import { isObject, parsedJson } from '../../base/json-value.ts';

/** The name of the record in the home. */
export const TRUST_RECORD = 'heddle-trust.jsonl';

/** A line of the record. */
export interface TrustLine {
  /** The folder that the user trusts, as `[projects]` names it. */
  folder: string;
  /**
   * True: the files that heddle found when it first saw that the folder is trusted. Only the first
   * such line of a folder counts.
   */
  first?: true;
  /**
   * The real path of the folder when heddle first saw it, where links led to it. Absent: the path
   * is a real one, or there was no folder.
   */
  at?: string;
  /**
   * Hashes of contents, by the path of the file, relative to the folder. A later line replaces an
   * earlier one.
   */
  files: Readonly<Record<string, string>>;
}

/**
 * The trusted contents: their hashes, by folder and by the path in it. A folder that heddle has not
 * seen yet is not in it.
 */
export type TrustRecord = ReadonlyMap<
  string,
  { at: string | null; files: ReadonlyMap<string, string> }
>;

/** Returns the hash of a content, as it is in the record. */
export function contentHash(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** Returns the record that the lines result in, or the number of the first invalid line. */
export function parseTrustRecord(text: string): TrustRecord | { invalidLine: number } {
  const record = new Map<string, { at: string | null; files: Map<string, string> }>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '') continue;
    const read = parseLine(line);
    if (read === null) return { invalidLine: index + 1 };
    const known = record.get(read.folder);
    if (read.first === true && known !== undefined) continue;
    const files = known?.files ?? new Map<string, string>();
    for (const [path, hash] of Object.entries(read.files)) files.set(path, hash);
    record.set(read.folder, { at: known === undefined ? (read.at ?? null) : known.at, files });
  }
  return record;
}

function parseLine(line: string): TrustLine | null {
  const value = parsedJson(line);
  if (!isObject(value)) return null;
  const { folder, first, at, files } = value;
  if (typeof folder !== 'string' || !isObject(files) || !hasStrings(files)) return null;
  if (first !== undefined && first !== true) return null;
  if (at !== undefined && typeof at !== 'string') return null;
  return {
    folder,
    files,
    ...(first === true ? { first } : {}),
    ...(at === undefined ? {} : { at }),
  };
}

function hasStrings(table: Record<string, unknown>): table is Record<string, string> {
  return Object.values(table).every((value) => typeof value === 'string');
}
