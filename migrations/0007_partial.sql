-- Each save of an unfinished item changes one page, and not also one of an index: there are only as many rows as items that run.
CREATE TABLE partial_of_item (
  number    INTEGER PRIMARY KEY,
  thread_id TEXT NOT NULL REFERENCES thread (id),
  item_id   TEXT NOT NULL,
  saved_at  INTEGER NOT NULL,
  payload   TEXT NOT NULL
) STRICT;
INSERT INTO partial_of_item (thread_id, item_id, saved_at, payload) SELECT thread_id, item_id, saved_at, payload FROM partial ORDER BY rowid;
DROP TABLE partial;
ALTER TABLE partial_of_item RENAME TO partial;

-- What was changed in a long payload since it was stored: JSON. The id is the partial's number, times a million, plus 1, 2 and so on.
CREATE TABLE partial_change (
  id       INTEGER PRIMARY KEY,
  saved_at INTEGER NOT NULL,
  change   TEXT NOT NULL
) STRICT;
CREATE TRIGGER partial_change_of_deleted AFTER DELETE ON partial BEGIN
  DELETE FROM partial_change WHERE id BETWEEN OLD.number * 1000000 AND OLD.number * 1000000 + 999999;
END;
CREATE TRIGGER partial_change_of_replaced AFTER UPDATE ON partial BEGIN
  DELETE FROM partial_change WHERE id BETWEEN OLD.number * 1000000 AND OLD.number * 1000000 + 999999;
END;
