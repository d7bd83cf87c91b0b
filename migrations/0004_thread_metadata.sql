-- What clients say of a thread. NULL: nothing was said.
ALTER TABLE thread ADD COLUMN memory_mode TEXT;
ALTER TABLE thread ADD COLUMN daybreak INTEGER;
