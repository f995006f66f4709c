import GRDB
import Kith

/// The tables of the notes product: ordinary SQLite, readable with any tool.
public enum NotesSchema {
    /// The name of the table that holds the notes.
    public static let table = "note"
    /// The name of the table that holds their attachments.
    public static let attachmentTable = "attachment"

    /// What takes part in synchronisation: the body as a text, tags as a set, everything else as registers. Changes are kept for 30 days.
    public static let tracked = [
        TrackedTable(table, sets: ["tags"], texts: ["body"], position: "position", journal: .days(30)),
        TrackedTable(attachmentTable, attachments: ["file"], journal: .days(30)),
    ]

    /// Makes the tables, and brings those of older versions up to date.
    public static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("kith-notes-1", foreignKeyChecks: .immediate) { db in
            try db.execute(
                sql: """
                    CREATE TABLE note (
                        id      BLOB PRIMARY KEY NOT NULL,
                        title   TEXT NOT NULL DEFAULT '',
                        body    TEXT NOT NULL DEFAULT '',
                        color   INTEGER NOT NULL DEFAULT 0,
                        tags    TEXT NOT NULL DEFAULT '[]',
                        created INTEGER NOT NULL DEFAULT 0,
                        updated INTEGER NOT NULL DEFAULT 0
                    )
                    """)
        }
        migrator.registerMigration("kith-notes-attachments", foreignKeyChecks: .immediate) { db in
            try db.execute(
                sql: """
                    CREATE TABLE attachment (
                        id   BLOB PRIMARY KEY NOT NULL,
                        note BLOB,
                        name TEXT NOT NULL DEFAULT '',
                        size INTEGER NOT NULL DEFAULT 0,
                        file TEXT
                    );
                    CREATE INDEX attachment_by_note ON attachment (note);
                    """)
        }
        migrator.registerMigration("kith-notes-pins", foreignKeyChecks: .immediate) { db in
            try db.execute(
                sql: """
                    ALTER TABLE note ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
                    CREATE INDEX note_by_order ON note (pinned DESC, updated DESC, id DESC);
                    CREATE INDEX note_by_title ON note (title);
                    """)
        }
        migrator.registerMigration("kith-notes-search", foreignKeyChecks: .immediate) { try SearchIndex.create($0) }
        migrator.registerMigration("kith-notes-saves", foreignKeyChecks: .immediate) { try DoneSaves.create($0) }
        migrator.registerMigration("kith-notes-search-letters", foreignKeyChecks: .immediate) { db in
            try SearchIndex.createForLetters(db)
            // For lists of one color: most notes have none.
            try db.execute(sql: "CREATE INDEX note_by_color ON note (color, pinned DESC, updated DESC, id DESC) WHERE color <> 0")
        }
        migrator.registerMigration("kith-notes-order", foreignKeyChecks: .immediate) { db in
            try db.execute(
                sql: """
                    ALTER TABLE note ADD COLUMN position TEXT NOT NULL DEFAULT '';
                    CREATE INDEX note_by_hand ON note (pinned DESC, \(Position.orderSQL("position")) DESC, id DESC);
                    """)
        }
        migrator.registerMigration("kith-notes-search-words", foreignKeyChecks: .immediate) { db in
            try SearchIndex.createWithWords(db)
            // The color of each note that a search has found: most notes have none, and are no part of it.
            try db.execute(sql: "CREATE INDEX note_color_of ON note (id, color) WHERE color <> 0")
        }
        migrator.registerMigration("kith-notes-order-with-tags", foreignKeyChecks: .immediate) { db in
            // A walk in this order tells the notes with a tag from the others without reading them.
            try db.execute(
                sql: """
                    DROP INDEX IF EXISTS note_by_order;
                    CREATE INDEX note_by_order ON note (pinned DESC, updated DESC, id DESC, tags);
                    """)
        }
        return migrator
    }

    /// Makes the tables in `database`, which is empty or already ours.
    ///
    /// - Throws: ``NotesError`` with code `notAStore` for a database of something else, or of a newer version.
    static func prepare(_ database: any DatabaseWriter) throws {
        let migrator = migrator
        let isComplete = try database.read { db in
            if try migrator.hasBeenSuperseded(db) {
                throw NotesError(
                    .notAStore, "These notes were written by a newer version of Kith and were left as they are. Update this program.")
            }
            if try migrator.hasCompletedMigrations(db) { return true }
            if try migrator.appliedIdentifiers(db).isEmpty, try hasTables(db) {
                throw NotesError(
                    .notAStore, "This is a database of another program and was left as it is. Choose another file for the notes.")
            }
            return false
        }
        if isComplete { return }
        do {
            try migrator.migrate(database)
        } catch {
            // Another process may have done it in the meantime.
            guard try database.read(migrator.hasCompletedMigrations) else { throw error }
        }
    }

    private static func hasTables(_ db: Database) throws -> Bool {
        let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' AND name <> 'grdb_migrations')"
        return try Bool.fetchOne(db, sql: sql) ?? false
    }
}
