-- JSON: what the thread works towards over many turns; null where it has no goal. It goes with its thread.
ALTER TABLE thread ADD COLUMN goal TEXT NOT NULL DEFAULT 'null';
