-- The entries that replace what the model has read before them. Reading a prompt begins with the last one.
CREATE INDEX entry_compacted ON entry (log_id, ordinal) WHERE kind = 'compacted';
