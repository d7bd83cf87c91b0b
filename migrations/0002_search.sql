-- Lists can be filtered by the client that started a thread, again without reading rows that they do not return.
ALTER TABLE thread ADD COLUMN originator TEXT;
UPDATE thread SET originator = origin ->> '$.originator' WHERE json_valid(origin);

DROP INDEX thread_by_creation;
DROP INDEX thread_by_update;
DROP INDEX thread_by_recency;
CREATE INDEX thread_by_creation ON thread (listed, (archived_at IS NULL), created_at, id, cwd, provider, source_kind, originator);
CREATE INDEX thread_by_update ON thread (listed, (archived_at IS NULL), updated_at, id, cwd, provider, source_kind, originator);
CREATE INDEX thread_by_recency ON thread (listed, (archived_at IS NULL), recency_at, id, cwd, provider, source_kind, originator);

-- What a search compares with: names and previews without their case. The number is the thread's in the index below;
-- a row of `thread` has none that lasts. `folded` is a function of heddle's.
CREATE TABLE thread_text (
  number    INTEGER PRIMARY KEY,
  thread_id TEXT NOT NULL UNIQUE,
  name      TEXT NOT NULL,
  preview   TEXT NOT NULL
) STRICT;

-- Which threads hold which three characters in a row. Where in the text is not kept, nor the text.
CREATE VIRTUAL TABLE thread_index USING fts5 (
  name, preview, tokenize = 'trigram case_sensitive 1', detail = none, content = '', contentless_delete = 1
);
CREATE VIRTUAL TABLE thread_trigram USING fts5vocab (thread_index, instance);

-- Held true by the database itself, so that no write can forget it.
CREATE TRIGGER thread_text_of_new AFTER INSERT ON thread BEGIN
  INSERT INTO thread_text (thread_id, name, preview) VALUES (NEW.id, folded(NEW.name), folded(NEW.preview));
END;
CREATE TRIGGER thread_text_of_changed AFTER UPDATE OF name, preview ON thread
WHEN OLD.name IS NOT NEW.name OR OLD.preview IS NOT NEW.preview BEGIN
  UPDATE thread_text SET name = folded(NEW.name), preview = folded(NEW.preview) WHERE thread_id = NEW.id;
END;
CREATE TRIGGER thread_text_of_deleted AFTER DELETE ON thread BEGIN
  DELETE FROM thread_text WHERE thread_id = OLD.id;
END;

-- Two spaces behind each text: so every character of it begins a trigram, and shorter terms are found by how one begins.
CREATE TRIGGER thread_index_of_new AFTER INSERT ON thread_text BEGIN
  INSERT INTO thread_index (rowid, name, preview) VALUES (NEW.number, NEW.name || '  ', NEW.preview || '  ');
END;
CREATE TRIGGER thread_index_of_changed AFTER UPDATE ON thread_text BEGIN
  UPDATE thread_index SET name = NEW.name || '  ', preview = NEW.preview || '  ' WHERE rowid = NEW.number;
END;
CREATE TRIGGER thread_index_of_deleted AFTER DELETE ON thread_text BEGIN
  DELETE FROM thread_index WHERE rowid = OLD.number;
END;

INSERT INTO thread_text (thread_id, name, preview) SELECT id, folded(name), folded(preview) FROM thread;
