/** SQLite's primary result codes, by their numbers. */
const PRIMARY = (
  'OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL EMPTY SCHEMA ' +
  'TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB'
).split(' ');
/** The extended codes of the primary ones that heddle tells apart. The first has the number 1. */
const EXTENDED: Record<string, readonly string[]> = {
  BUSY: ['RECOVERY', 'SNAPSHOT', 'TIMEOUT'],
  CORRUPT: ['VTAB', 'SEQUENCE', 'INDEX'],
  IOERR: (
    'READ SHORT_READ WRITE FSYNC DIR_FSYNC TRUNCATE FSTAT UNLOCK RDLOCK DELETE BLOCKED NOMEM ACCESS CHECKRESERVEDLOCK LOCK CLOSE ' +
    'DIR_CLOSE SHMOPEN SHMSIZE SHMLOCK SHMMAP SEEK DELETE_NOENT MMAP GETTEMPPATH CONVPATH VNODE AUTH BEGIN_ATOMIC COMMIT_ATOMIC ' +
    'ROLLBACK_ATOMIC DATA CORRUPTFS IN_PAGE'
  ).split(' '),
  READONLY: ['RECOVERY', 'CANTLOCK', 'ROLLBACK', 'DBMOVED', 'CANTINIT', 'DIRECTORY'],
};

/** The name of an extended result code of SQLite, such as `SQLITE_IOERR_WRITE` for 778. */
export function resultCodeName(code: number): string {
  const primary = PRIMARY[code & 0xff] ?? 'ERROR';
  const detail = EXTENDED[primary]?.[(code >> 8) - 1];
  return detail === undefined ? `SQLITE_${primary}` : `SQLITE_${primary}_${detail}`;
}
