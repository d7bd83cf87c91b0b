-- "hedl": tells a heddle database from any other SQLite file.
PRAGMA application_id = 1751475308;

-- A thread without its history. Times are Unix milliseconds.
CREATE TABLE thread (
  id          TEXT PRIMARY KEY,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  recency_at  INTEGER NOT NULL,
  listed      INTEGER NOT NULL,
  archived_at INTEGER,
  provider    TEXT NOT NULL,
  cwd         TEXT NOT NULL,
  source_kind TEXT NOT NULL,
  name        TEXT,
  preview     TEXT NOT NULL,
  path        TEXT UNIQUE,
  -- The log that the thread's own writer appends to, how many entries it must hold, and when it last grew.
  log_id      INTEGER NOT NULL,
  tip         INTEGER NOT NULL,
  written_at  INTEGER NOT NULL,
  -- JSON: what never changes, and what changes as a whole.
  origin      TEXT NOT NULL,
  git_info    TEXT NOT NULL,
  settings    TEXT NOT NULL,
  token_usage TEXT NOT NULL,
  told        TEXT NOT NULL
) STRICT;

-- One for each order of a list. The filters stand behind the order, so that a list reads no row that it does not return.
CREATE INDEX thread_by_creation ON thread (listed, (archived_at IS NULL), created_at, id, cwd, provider, source_kind);
CREATE INDEX thread_by_update ON thread (listed, (archived_at IS NULL), updated_at, id, cwd, provider, source_kind);
CREATE INDEX thread_by_recency ON thread (listed, (archived_at IS NULL), recency_at, id, cwd, provider, source_kind);

-- A log belongs to no thread: any number of histories may hold it, each up to an ordinal of its own.
CREATE TABLE log (
  id INTEGER PRIMARY KEY AUTOINCREMENT
) STRICT;

-- Appended, never rewritten. Ordinals count from 1 without gaps. The payload is the whole entry as JSON, in which a
-- long string is replaced by the name of its blob; the columns beside it are what is searched for.
CREATE TABLE entry (
  log_id  INTEGER NOT NULL REFERENCES log (id),
  ordinal INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  type    TEXT,
  turn_id TEXT,
  item_id TEXT,
  payload TEXT NOT NULL,
  UNIQUE (log_id, ordinal)
) STRICT;

-- Where turns begin and end.
CREATE INDEX entry_mark ON entry (log_id, ordinal, kind, turn_id) WHERE kind IN ('turnStarted', 'turnEnded');
CREATE INDEX entry_turn ON entry (log_id, turn_id, ordinal) WHERE kind = 'turnStarted';
CREATE INDEX entry_item ON entry (log_id, item_id) WHERE kind = 'item';

-- A thread's history: logs in order, each up to an ordinal. The thread's own log comes last; its end is the thread's tip.
CREATE TABLE segment (
  thread_id    TEXT NOT NULL REFERENCES thread (id),
  position     INTEGER NOT NULL,
  log_id       INTEGER NOT NULL REFERENCES log (id),
  last_ordinal INTEGER,
  PRIMARY KEY (thread_id, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX segment_log ON segment (log_id);

-- Items that have begun and not completed, as far as they came: JSON, with no blobs, since each is soon replaced.
CREATE TABLE partial (
  thread_id TEXT NOT NULL REFERENCES thread (id),
  item_id   TEXT NOT NULL,
  saved_at  INTEGER NOT NULL,
  payload   TEXT NOT NULL,
  UNIQUE (thread_id, item_id)
) STRICT;

-- Long strings, each once: a JSON string by the SHA-256 of its text. Uses tell which logs need it.
CREATE TABLE blob (
  hash    TEXT NOT NULL UNIQUE,
  content TEXT NOT NULL
) STRICT;

CREATE TABLE blob_use (
  log_id INTEGER NOT NULL REFERENCES log (id),
  hash   TEXT NOT NULL REFERENCES blob (hash),
  PRIMARY KEY (log_id, hash)
) STRICT, WITHOUT ROWID;

-- Which process may append to a thread: one whose owner file is locked. Without that lock the lease is void.
CREATE TABLE lease (
  thread_id TEXT PRIMARY KEY,
  owner     TEXT NOT NULL,
  pid       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
