-- An app whose update brings a column and drops another one.
CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', old TEXT);
CREATE TABLE task (id BLOB PRIMARY KEY NOT NULL, label TEXT);
