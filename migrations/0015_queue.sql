-- The order of the submissions that wait in a thread's queue, and those that had their turns last: JSON; null where there never was one.
ALTER TABLE thread ADD COLUMN queue TEXT NOT NULL DEFAULT 'null';
-- Why the queue does not go on by itself; null where it does.
ALTER TABLE thread ADD COLUMN queue_hold TEXT;
-- What the waiting submissions say. A row goes in the transaction that takes its submission out of the queue.
CREATE TABLE queued_submission (
  thread_id TEXT NOT NULL REFERENCES thread (id),
  id        TEXT NOT NULL,
  payload   TEXT NOT NULL,
  PRIMARY KEY (thread_id, id)
) STRICT;
