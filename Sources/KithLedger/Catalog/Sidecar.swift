import KithSync

/// The tables that Kith keeps beside the app's own. See docs/store.md.
package enum Sidecar {
    package static let sql = """
        \(MetaRecords.sql)
        \(VectorRecords.sql)
        \(CatalogStore.sql)
        \(IncompleteColumns.sql)
        \(DotIndex.sql)
        \(HiddenRows.sql)
        -- What each row adds to the digest, as far as it has been brought up to date.
        CREATE TABLE IF NOT EXISTS kith_digest (
            tbl INTEGER NOT NULL, id BLOB NOT NULL, hash INTEGER NOT NULL, PRIMARY KEY (tbl, id)) WITHOUT ROWID;
        \(ContextRecords.sql)
        -- The other devices of the group: what each said last that it cannot lose, and when.
        CREATE TABLE IF NOT EXISTS kith_member (
            device BLOB PRIMARY KEY NOT NULL, replica BLOB, durable BLOB, added INTEGER NOT NULL, seen INTEGER NOT NULL)
            WITHOUT ROWID;
        -- Attachments that members said they have whole.
        CREATE TABLE IF NOT EXISTS kith_holding (
            attachment BLOB NOT NULL, device BLOB NOT NULL, PRIMARY KEY (attachment, device)) WITHOUT ROWID;
        -- Alternatives that were resolved or made room for newer ones, for a while.
        CREATE TABLE IF NOT EXISTS kith_superseded (
            number INTEGER PRIMARY KEY, tbl INTEGER NOT NULL, id BLOB NOT NULL, col INTEGER NOT NULL, value,
            replica INTEGER NOT NULL, sequence INTEGER NOT NULL, timestamp INTEGER NOT NULL, since INTEGER NOT NULL);
        CREATE INDEX IF NOT EXISTS kith_superseded_row ON kith_superseded (tbl, id);
        -- Attachments that nothing refers to, and when that was first noticed, in milliseconds since 1970.
        CREATE TABLE IF NOT EXISTS kith_orphan (id BLOB PRIMARY KEY NOT NULL, since INTEGER NOT NULL) WITHOUT ROWID;
        \(RowNumbering.sql)
        \(RefusedRows.sql)
        \(ReferenceRecords.sql)
        \(ClockRuns.sql)
        \(ConflictRecords.sql)
        \(Authors.sql)
        """ + "\n"
}
