-- What a history has before its own log: a closed segment, and the segment before it. Histories share their beginnings, so a fork
-- adds one row, however many segments its source has. 0: there is none before.
CREATE TABLE shared_segment (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  before_id    INTEGER NOT NULL,
  log_id       INTEGER NOT NULL REFERENCES log (id),
  last_ordinal INTEGER NOT NULL
) STRICT;

CREATE INDEX shared_segment_place ON shared_segment (before_id, log_id, last_ordinal);
CREATE INDEX shared_segment_log ON shared_segment (log_id);

-- A thread's history: its own log, whose end is the thread's tip, and the last of the segments before it. 0: there is none.
CREATE TABLE history (
  thread_id TEXT PRIMARY KEY REFERENCES thread (id),
  before_id INTEGER NOT NULL,
  log_id    INTEGER NOT NULL REFERENCES log (id)
) STRICT, WITHOUT ROWID;

CREATE INDEX history_before ON history (before_id);
CREATE INDEX history_log ON history (log_id);

INSERT INTO shared_segment (id, before_id, log_id, last_ordinal)
  SELECT number, CASE position WHEN 0 THEN 0 ELSE number - 1 END, log_id, last_ordinal
  FROM (SELECT row_number() OVER (ORDER BY thread_id, position) AS number, * FROM segment)
  WHERE last_ordinal IS NOT NULL;

INSERT INTO history (thread_id, before_id, log_id)
  SELECT thread_id, CASE position WHEN 0 THEN 0 ELSE number - 1 END, log_id
  FROM (SELECT row_number() OVER (ORDER BY thread_id, position) AS number, * FROM segment)
  WHERE last_ordinal IS NULL;

DROP TABLE segment;
