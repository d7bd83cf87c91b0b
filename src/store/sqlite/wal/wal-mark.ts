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

const TABLE = 'wal_mark';
const MAGIC = Buffer.from('heddle-wal-mark:');
const TOKEN_BYTES = 8;
/**
 * How the only row begins: the length of its record, its id, the length of the header, and the
 * types of its columns.
 */
const ROW = Buffer.concat([Buffer.from([0x25, 0x01, 0x05, 0x00, 0x2c, 0x1c, 0x1c]), MAGIC]);
const LEAF = 0x0d;
const INTERIOR = 0x05;
/** The header of a database is before the first page's own. */
const HEADER_BYTES = 100;
/** More pages than the schema of heddle takes. */
const SCHEMA_PAGES_MAX = 200;

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
 * told.
 */
export function markOf(readPage: ReadPage): WalMark | null | 'unknown' {
  const numbers = [1];
  let root: number | undefined;
  for (let read = 0; numbers.length > 0 && root === undefined; read++) {
    const tree = read < SCHEMA_PAGES_MAX ? treePage(readPage, numbers.shift() ?? 0) : null;
    if (tree === null) return 'unknown';
    numbers.push(...tree.below);
    root =
      tree.rows.map((row) => rootOfMark(tree.page, row)).find((found) => found !== null) ??
      undefined;
  }
  if (root === undefined) return null;
  const page = readPage(root);
  return (page && markIn(page)) ?? 'unknown';
}

interface TreePage {
  page: Buffer;
  /** The places of its rows. */
  rows: number[];
  /** The numbers of the pages below it. */
  below: number[];
}

/** A page of the tree of a table. Null if it is none. */
function treePage(readPage: ReadPage, number: number): TreePage | null {
  const page = readPage(number);
  if (page === null) return null;
  const start = number === 1 ? HEADER_BYTES : 0;
  const isLeaf = page[start] === LEAF;
  if (!isLeaf && page[start] !== INTERIOR) return null;
  const pointers = start + (isLeaf ? 8 : 12);
  const count = Math.min(page.readUInt16BE(start + 3), (page.length - pointers) / 2);
  const cells = Array.from({ length: count }, (_, index) =>
    page.readUInt16BE(pointers + 2 * index),
  ).filter((at) => at + 4 <= page.length);
  if (isLeaf) return { page, rows: cells, below: [] };
  return {
    page,
    rows: [],
    below: [...cells.map((at) => page.readUInt32BE(at)), page.readUInt32BE(start + 8)],
  };
}

/** The root page of the table of the mark, if this row of the schema is about it. */
function rootOfMark(page: Buffer, cell: number): number | null {
  const reader = new RecordReader(page, cell);
  // The length of the record, and the id of the row.
  reader.varint();
  reader.varint();
  const header = reader.at;
  const end = header + reader.varint();
  const types = [reader.varint(), reader.varint(), reader.varint(), reader.varint()];
  const [type, name, , root] = types.map((code, index) => reader.value(end, types, index, code));
  return type === 'table' && name === TABLE && typeof root === 'number' ? root : null;
}

/** Reads the parts of a record of SQLite. What lies behind the page reads as nothing. */
class RecordReader {
  readonly #page: Buffer;
  at: number;

  constructor(page: Buffer, at: number) {
    this.#page = page;
    this.at = at;
  }

  varint(): number {
    let value = 0;
    for (let index = 0; index < 9; index++) {
      const byte = this.#page[this.at++] ?? 0;
      value = value * 128 + (byte & 0x7f);
      if (byte < 0x80) break;
    }
    return value;
  }

  /** A string or a positive integer. Null for anything else. */
  value(
    start: number,
    types: readonly number[],
    index: number,
    code: number,
  ): string | number | null {
    const at = types.slice(0, index).reduce((sum, type) => sum + sizeOf(type), start);
    const end = at + sizeOf(code);
    if (end > this.#page.length) return null;
    if (code >= 13 && code % 2 === 1) return this.#page.toString('utf8', at, end);
    if (code === 8 || code === 9) return code - 8;
    return code >= 1 && code <= 6 ? this.#page.readUIntBE(at, Math.min(6, sizeOf(code))) : null;
  }
}

/** The bytes of a value, by the code of its type. */
function sizeOf(code: number): number {
  if (code >= 12) return Math.floor((code - 12) / 2);
  return [0, 1, 2, 3, 4, 6, 8, 8][code] ?? 0;
}
