-- An app whose rows refer to each other, by each kind of foreign key.
CREATE TABLE folder (id BLOB PRIMARY KEY NOT NULL, name TEXT);
CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, folder BLOB REFERENCES folder (id) ON DELETE CASCADE);
CREATE TABLE task (id BLOB PRIMARY KEY NOT NULL, label TEXT, note BLOB REFERENCES note (id) ON DELETE RESTRICT);
CREATE TABLE mark (id BLOB PRIMARY KEY NOT NULL, color TEXT, note BLOB REFERENCES note (id) ON DELETE SET NULL);
