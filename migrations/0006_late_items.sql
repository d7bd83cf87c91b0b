-- Items that completed when their turn had ended: what such an item has become is looked up by its id.
CREATE INDEX entry_late_item ON entry (log_id, item_id, ordinal) WHERE kind = 'lateItem';
