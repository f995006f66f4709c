-- An app with triggers that refuse rows.
CREATE TABLE list (id BLOB PRIMARY KEY NOT NULL, name TEXT, state INTEGER NOT NULL DEFAULT 0);
CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '');
CREATE TRIGGER list_kept BEFORE DELETE ON list WHEN old.state % 3 = 1 BEGIN SELECT RAISE(ABORT, 'a list in use stays'); END;
CREATE TRIGGER list_named BEFORE UPDATE ON list WHEN new.state % 3 = 2 AND new.name IS NULL BEGIN
    SELECT RAISE(ABORT, 'a list has a name');
END;
