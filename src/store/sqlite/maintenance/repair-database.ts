import { randomUUID } from 'node:crypto';
import { closeSync, copyFileSync, existsSync, ftruncateSync, openSync, rmSync, statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { createDraft } from '../database/create-draft.ts';
import type { Connect } from '../database/load-sqlite.ts';
import { swapDatabase } from '../database/swap-database.ts';
import type { Repair, Salvage } from './losses.ts';
import { unlessDamaged } from './readable-rows.ts';
import { salvageDatabase } from './salvage-database.ts';

/** A page of zeros: SQLite removes the WAL of an empty file, and reads that of any other. */
const PAGE_BYTES = 4096;

export interface RepairDeps {
  /** The database file. */
  file: string;
  migrationsDir: string;
  connect: Connect;
  /** Called with the name of each table before it is copied. */
  onProgress: (table: string) => void;
}

/**
 * Copies what can be read of the database into a new one, which takes its place, and sets the old one aside. Changes nothing of the
 * old one, and is complete or has not happened, also after a kill. Call it alone in the gate. Throws errors of SQLite and the file
 * system.
 */
export function repairDatabase({ file, migrationsDir, connect, onProgress }: RepairDeps): Repair {
  const draft = `${file}.${randomUUID()}.new`;
  const salvaged: Salvage[] = [];
  try {
    withReadable({ file, connect }, (source) =>
      createDraft(draft, { migrationsDir, connect }, (db) => void salvaged.push(salvageDatabase({ db: source, onProgress }, db))),
    );
    const [salvage] = salvaged;
    if (salvage === undefined) throw new Error('nothing was salvaged');
    return { ...salvage, setAside: swapDatabase(file, draft, 'damaged') };
  } finally {
    removeDraft(draft);
  }
}

/** Removes an incomplete database, if it is there. */
export function removeDraft(draft: string): void {
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(draft + end, { force: true });
}

/** Calls `work` with the damaged database, or with null if nothing of it can be read. */
function withReadable({ file, connect }: { file: string; connect: Connect }, work: (db: Database | null) => void): void {
  const isEmpty = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;
  if (!isEmpty) withConnection(file, connect, work);
  else if (existsSync(`${file}-wal`)) withCopyOfWal(file, connect, work);
  else work(null);
}

function withCopyOfWal(file: string, connect: Connect, work: (db: Database | null) => void): void {
  const copy = `${file}.${randomUUID()}.new`;
  try {
    const descriptor = openSync(copy, 'wx', 0o600);
    ftruncateSync(descriptor, PAGE_BYTES);
    closeSync(descriptor);
    copyFileSync(`${file}-wal`, `${copy}-wal`);
    withConnection(copy, connect, work);
  } finally {
    removeDraft(copy);
  }
}

/** Reads only, so that nothing of the WAL is moved into the damaged file. */
function withConnection(path: string, connect: Connect, work: (db: Database | null) => void): void {
  const db = connect(path, { readonly: true, fileMustExist: true });
  try {
    // With a writable schema, SQLite reads a file that is shorter than its header says, too.
    db.unsafeMode(true);
    const isReadable = unlessDamaged(() =>
      db.exec('PRAGMA writable_schema = ON; PRAGMA cell_size_check = ON; SELECT 1 FROM sqlite_master'),
    );
    work(isReadable === null ? null : db);
  } finally {
    db.close();
  }
}
