-- The identity of the last write of the thread's writer. A writer whose connection was lost learns from it whether its last write is stored.
ALTER TABLE thread ADD COLUMN write_id TEXT;
