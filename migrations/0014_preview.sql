-- Whether the preview is that of a command of the user, as long as the thread has no message and no goal.
ALTER TABLE thread ADD COLUMN preview_is_command INTEGER NOT NULL DEFAULT 0;
