-- Tells a WAL that belongs to this file from one that was left by another file of its name. `token` changes in each WAL, and `before` is
-- the one that it replaced there. heddle reads the row from the bytes of the file, so its columns and their sizes stay as they are.
CREATE TABLE wal_mark (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  magic BLOB NOT NULL,
  token BLOB NOT NULL,
  before BLOB NOT NULL
);
INSERT INTO wal_mark (id, magic, token, before) VALUES (1, X'686564646c652d77616c2d6d61726b3a', randomblob(8), zeroblob(8));
