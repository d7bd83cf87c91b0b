import { closeSync, fstatSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import type { Log } from '../../../base/log.ts';
import { posixLocks } from '../connect/posix-locks.ts';
import { markIn, markOf, NO_TOKEN, type ReadPage, type WalMark } from './wal-mark.ts';

const WAL_MAGIC = 0x377f0682;
const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const PAGE_SIZE_AT = 16;
const PAGE_BYTES_MIN = 512;
const PAGE_BYTES_MAX = 65_536;

/**
 * Whether this database file is the one that the WAL was written for. True if that cannot be told.
 */
export function ownsWal(readPage: ReadPage, walFile: string): boolean {
  const marks = marksInWal(walFile);
  if (marks.length === 0) return true;
  const mark = markOf(readPage);
  if (mark === 'unknown') return true;
  const token = mark?.token ?? NO_TOKEN;
  // The file has what it had when the WAL began, or a checkpoint has already given it something of
  // the WAL.
  return marks.some((one) => one.token === token || one.before === token);
}

/**
 * Whether the WAL beside a database was left by another file in its place. False while any process
 * has the database open.
 */
export function hasForeignWal(file: string): boolean {
  const wal = `${file}-wal`;
  if ((statSync(wal, { throwIfNoEntry: false })?.size ?? 0) <= WAL_HEADER_BYTES) return false;
  return (
    statSync(file, { throwIfNoEntry: false }) !== undefined &&
    !isOpenAnywhere(file) &&
    !ownsFile(file, wal)
  );
}

/**
 * Sets a WAL aside that was left by another file in the place of the database, before SQLite
 * replays it into this one. Call it alone in the gate: otherwise the WAL may be that of a process
 * that has just opened the database. Throws the system's error.
 */
export function setAsideForeignWal(file: string, log: Log): void {
  if (!hasForeignWal(file)) return;
  const aside = `${file}.stale-${new Date().toISOString().replace(/[:.]/g, '-')}-wal`;
  renameSync(`${file}-wal`, aside);
  rmSync(`${file}-shm`, { force: true });
  log.warn(
    { file, aside },
    'the database was replaced by another file, so the WAL of the former file was renamed, and is not used',
  );
}

function ownsFile(file: string, wal: string): boolean {
  // No process has it open, so closing it drops no lock.
  const descriptor = openSync(file, 'r');
  try {
    return ownsWal(pagesOf(descriptor), wal);
  } finally {
    closeSync(descriptor);
  }
}

/** Whether a process, also this one, has the database open. True where the system does not tell. */
function isOpenAnywhere(file: string): boolean {
  const inodes = [file, `${file}-shm`].map(
    (path) => statSync(path, { throwIfNoEntry: false })?.ino,
  );
  return posixLocks()?.some(({ inode }) => inodes.includes(inode)) ?? true;
}

/** Reads the pages of an open database file. */
export function pagesOf(descriptor: number): ReadPage {
  const header = bytesAt(descriptor, PAGE_SIZE_AT, 2)?.readUInt16BE(0) ?? 0;
  const size = header === 1 ? PAGE_BYTES_MAX : header;
  return (number) =>
    size < PAGE_BYTES_MIN ? null : bytesAt(descriptor, (number - 1) * size, size);
}

/** The marks in the frames that the WAL has now. Frames of its earlier rounds have other salts. */
function marksInWal(wal: string): WalMark[] {
  if (statSync(wal, { throwIfNoEntry: false }) === undefined) return [];
  const descriptor = openSync(wal, 'r');
  try {
    const header = bytesAt(descriptor, 0, WAL_HEADER_BYTES);
    if (header === null || (header.readUInt32BE(0) & ~1) >>> 0 !== WAL_MAGIC) return [];
    const pageSize = header.readUInt32BE(8);
    if (pageSize < PAGE_BYTES_MIN || pageSize > PAGE_BYTES_MAX) return [];
    const salts = header.subarray(16, 24);
    const marks: WalMark[] = [];
    const { size } = fstatSync(descriptor);
    for (let at = WAL_HEADER_BYTES; at < size; at += FRAME_HEADER_BYTES + pageSize) {
      const frame = bytesAt(descriptor, at, FRAME_HEADER_BYTES + pageSize);
      if (frame === null || !frame.subarray(8, 16).equals(salts)) break;
      const mark = markIn(frame.subarray(FRAME_HEADER_BYTES));
      if (mark !== null) marks.push(mark);
    }
    return marks;
  } finally {
    closeSync(descriptor);
  }
}

function bytesAt(descriptor: number, at: number, length: number): Buffer | null {
  const bytes = Buffer.allocUnsafe(length);
  return readSync(descriptor, bytes, 0, length, at) === length ? bytes : null;
}
