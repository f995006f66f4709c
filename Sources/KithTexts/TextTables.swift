import KithLedger

/// The tables that keep the history of text cells. See docs/store.md, "Text".
package enum TextTables {
    package static let sql = """
        -- Text cells that more than one change has made: the current version, and how many events there are. `doc` is 0, or the
        -- number of a text that was found.
        CREATE TABLE IF NOT EXISTS kith_text (
            number INTEGER PRIMARY KEY AUTOINCREMENT, tbl INTEGER NOT NULL, id BLOB NOT NULL, col INTEGER NOT NULL,
            doc INTEGER NOT NULL, heads BLOB NOT NULL, next INTEGER NOT NULL, UNIQUE (tbl, id, col, doc));
        -- Their newest changes, one a row; `parents` are event numbers, NULL: the event before.
        CREATE TABLE IF NOT EXISTS kith_text_change (
            text INTEGER NOT NULL, first INTEGER NOT NULL, length INTEGER NOT NULL, replica INTEGER NOT NULL,
            sequence INTEGER NOT NULL, timestamp INTEGER NOT NULL, parents BLOB, replaced INTEGER, outside BLOB,
            steps BLOB NOT NULL, inserted BLOB NOT NULL, PRIMARY KEY (text, first)) WITHOUT ROWID;
        -- Older changes, packed.
        CREATE TABLE IF NOT EXISTS kith_text_chunk (
            text INTEGER NOT NULL, first INTEGER NOT NULL, end INTEGER NOT NULL, times BLOB NOT NULL, graph BLOB NOT NULL,
            body BLOB NOT NULL, PRIMARY KEY (text, first)) WITHOUT ROWID;
        \(MergedTexts.sql)
        -- Changes of peers that are not applied: with a reason for good, without one as long as a parent is missing, with an empty
        -- one until the row comes that they were sent ahead of.
        CREATE TABLE IF NOT EXISTS kith_text_aside (
            tbl INTEGER NOT NULL, id BLOB NOT NULL, col INTEGER NOT NULL, doc INTEGER NOT NULL, replica INTEGER NOT NULL,
            sequence INTEGER NOT NULL, reason TEXT, change BLOB NOT NULL,
            PRIMARY KEY (tbl, id, col, doc, replica, sequence)) WITHOUT ROWID;
        """
}
