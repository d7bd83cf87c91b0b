-- Logs that no history holds any more: what they leave is taken out of the tables bit by bit.
CREATE TABLE discarded_log (
  log_id INTEGER PRIMARY KEY REFERENCES log (id)
) STRICT;

-- Logs that ephemeral threads hold, whose histories are in the memory of their process: good while that process lives,
-- as with a lease.
CREATE TABLE held_log (
  owner     TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  log_id    INTEGER NOT NULL REFERENCES log (id),
  PRIMARY KEY (owner, thread_id, log_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX held_log_log ON held_log (log_id);

-- Who else needs a blob.
CREATE INDEX blob_use_hash ON blob_use (hash);
