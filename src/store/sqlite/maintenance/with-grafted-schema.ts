import { randomUUID } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { createDraft, type DraftDeps } from '../database/create-draft.ts';
import { removeDraft } from './remove-draft.ts';

/**
 * The header says how long the file is, unless these two numbers in it differ, and where its free
 * pages begin.
 */
const HEADER = { changes: 24, freePages: 32, freeCount: 36, validFor: 92 } as const;

/**
 * Calls `work` with a copy of a database whose first page, or others that list its tables, are
 * damaged. The copy has those pages of an empty database instead. The tables of a database that
 * this version has made begin at the same pages; those of others are not found, and then nothing
 * can be read.
 */
export function withGraftedSchema(
  file: string,
  deps: DraftDeps,
  work: (copy: string) => void,
): void {
  const [empty, copy] = [`${file}.${randomUUID()}.new`, `${file}.${randomUUID()}.new`];
  try {
    let pages: number[] = [];
    let pageBytes = 0;
    createDraft(empty, deps, (db) => {
      pages = db
        .prepare<[], number>("SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'")
        .pluck()
        .all();
      pageBytes = Number(db.pragma('page_size', { simple: true }));
    });
    for (const end of ['', '-wal'])
      if (existsSync(file + end)) copyFileSync(file + end, copy + end);
    copyPages(empty, copy, { pages, pageBytes });
    work(copy);
  } finally {
    removeDraft(empty);
    removeDraft(copy);
  }
}

function copyPages(
  from: string,
  to: string,
  { pages, pageBytes }: { pages: number[]; pageBytes: number },
): void {
  const length = statSync(to).size;
  const [source, target] = [openSync(from, 'r'), openSync(to, 'r+')];
  try {
    for (const page of pages) {
      const bytes = Buffer.alloc(pageBytes);
      readSync(source, bytes, 0, pageBytes, (page - 1) * pageBytes);
      if (page === 1) {
        bytes.writeUInt32BE(bytes.readUInt32BE(HEADER.changes) + 1, HEADER.validFor);
        bytes.writeUInt32BE(0, HEADER.freePages);
        bytes.writeUInt32BE(0, HEADER.freeCount);
      }
      if (page === 1 || page * pageBytes <= length)
        writeSync(target, bytes, 0, pageBytes, (page - 1) * pageBytes);
    }
  } finally {
    closeSync(source);
    closeSync(target);
  }
}
