import { randomUUID } from 'node:crypto';
import { closeSync, copyFileSync, existsSync, ftruncateSync, openSync, statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import type { Connect } from '../connect/load-sqlite.ts';
import { createDraft, type DraftDeps } from '../database/create-draft.ts';
import { swapDatabase } from '../database/swap-database.ts';
import type { Repair, Salvage } from './lost-records.ts';
import { unlessDamaged } from './readable-rows.ts';
import { removeDraft } from './remove-draft.ts';
import { salvageDatabase } from './salvage-database.ts';
import { withGraftedSchema } from './with-grafted-schema.ts';

/** A page of zeros: SQLite removes the WAL of an empty file, and reads that of any other. */
const PAGE_BYTES = 4096;

export interface RebuildDeps {
  /** The database file. */
  file: string;
  migrationsDir: string;
  connect: Connect;
  /** Called with the name of each table before it is copied. */
  onProgress: (table: string) => void;
}

/**
 * Copies what can be read of the database into a new one, which takes its place, and sets the old
 * one aside. Changes nothing of the old one, and is complete or has not happened, also after a
 * kill. Call it alone in the gate. Throws errors of SQLite and the file system.
 */
export function rebuildDatabase({ file, migrationsDir, connect, onProgress }: RebuildDeps): Repair {
  const draft = `${file}.${randomUUID()}.new`;
  const salvaged: Salvage[] = [];
  try {
    withReadable(file, { migrationsDir, connect }, (source) =>
      createDraft(
        draft,
        { migrationsDir, connect },
        (db) => void salvaged.push(salvageDatabase({ db: source, onProgress }, db)),
      ),
    );
    const [salvage] = salvaged;
    if (salvage === undefined) throw new Error('nothing was salvaged');
    return { ...salvage, setAside: swapDatabase(file, draft, 'damaged') };
  } finally {
    removeDraft(draft);
  }
}

type Work = (db: Database | null) => void;

/** Calls `work` with the damaged database, or with null if nothing of it can be read. */
function withReadable(file: string, deps: DraftDeps, work: Work): void {
  const isEmpty = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;
  if (!isEmpty) withConnection(file, deps, work);
  else if (existsSync(`${file}-wal`)) withCopyOfWal(file, deps, work);
  else work(null);
}

function withCopyOfWal(file: string, deps: DraftDeps, work: Work): void {
  const copy = `${file}.${randomUUID()}.new`;
  try {
    const descriptor = openSync(copy, 'wx', 0o600);
    ftruncateSync(descriptor, PAGE_BYTES);
    closeSync(descriptor);
    copyFileSync(`${file}-wal`, `${copy}-wal`);
    withConnection(copy, deps, work);
  } finally {
    removeDraft(copy);
  }
}

/** If the list of the tables cannot be read, tries once more with that of an empty database. */
function withConnection(path: string, deps: DraftDeps, work: Work): void {
  if (!isRead(path, deps, work))
    withGraftedSchema(path, deps, (copy) => isRead(copy, deps, work) || work(null));
}

/**
 * Calls `work` if the database can be read, and returns whether it can. Reads only, so that nothing
 * of the WAL gets into the file.
 */
function isRead(path: string, { connect }: DraftDeps, work: Work): boolean {
  const db = connect(path, { readonly: true, fileMustExist: true });
  try {
    // With a writable schema, SQLite reads a file that is shorter than its header says, too.
    db.unsafeMode(true);
    const opened = unlessDamaged(() =>
      db.exec(
        'PRAGMA writable_schema = ON; PRAGMA cell_size_check = ON; SELECT 1 FROM sqlite_master',
      ),
    );
    if (opened !== null) work(db);
    return opened !== null;
  } finally {
    db.close();
  }
}
