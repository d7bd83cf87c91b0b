/** The mark of a database file, or of a page in a WAL: as hexadecimal digits. */
export interface WalMark {
  token: string;
  /** The token that this one has replaced. */
  before: string;
}

/** A page of a database, by its number. Null if the file does not have it. */
export type ReadPage = (number: number) => Buffer | null;

/** Before the first token, and in a database that has no mark. */
export const NO_TOKEN = '0000000000000000';

const MAGIC = Buffer.from('heddle-wal-mark:');
const TOKEN_BYTES = 8;
/**
 * How the only row begins: the length of its record, its id, the length of the header, and the
 * types of its columns.
 */
const ROW = Buffer.concat([Buffer.from([0x25, 0x01, 0x05, 0x00, 0x2c, 0x1c, 0x1c]), MAGIC]);
/** The first byte of a page with rows of a table. */
const LEAF = 0x0d;
/** SQLite keeps the first pages of tables at the front. This is more than heddle's schema has. */
const FRONT_PAGES = 512;
/** How a database begins. */
const SQLITE = 'SQLite format 3';
/** The place of the schema's version in the first page, and the first version with a mark. */
const VERSION_AT = 60;
const MARKED_VERSION = 9;

/** The mark that a page holds. Null: it is not the page of the mark. */
export function markIn(page: Buffer): WalMark | null {
  if (page[0] !== LEAF || page.readUInt16BE(3) !== 1) return null;
  const at = page.readUInt16BE(8);
  const token = at + ROW.length;
  if (!page.subarray(at, token).equals(ROW)) return null;
  const hex = (from: number) => page.toString('hex', from, from + TOKEN_BYTES);
  return { token: hex(token), before: hex(token + TOKEN_BYTES) };
}

/**
 * The mark of a database file, from its pages. Null if it has none, and `unknown` if that cannot be
 * told. `likely`: the pages where it may also be, because files of earlier versions have it
 * anywhere.
 */
export function markOf(
  readPage: ReadPage,
  likely: Iterable<number> = [],
): WalMark | null | 'unknown' {
  const front = Array.from({ length: FRONT_PAGES }, (_, index) => index + 1);
  for (const number of [...likely, ...front]) {
    const page = readPage(number);
    const mark = page && markIn(page);
    if (mark !== null) return mark;
  }
  const first = readPage(1);
  const isOfEarlierVersion =
    first !== null &&
    first.toString('latin1', 0, SQLITE.length) === SQLITE &&
    first.readUInt32BE(VERSION_AT) < MARKED_VERSION;
  return isOfEarlierVersion ? null : 'unknown';
}
