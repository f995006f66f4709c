import GRDB
import KithStore
import KithSync

/// The tables that a simulation runs on: an app's own migrations and declarations.
///
///     let schema = SimulatedSchema(tables: [TrackedTable("note", sets: ["tags"])]) { database in
///         try AppDatabase.migrator.migrate(database)
///     }
///
/// Machines begin with empty tables: rows that ``migrate`` inserts into tables that synchronise are left out.
public struct SimulatedSchema: Sendable {
    /// The tables that synchronise, as the app declares them.
    public let tables: [TrackedTable]
    /// Creates the tables in an empty database, as the app does.
    public let migrate: @Sendable (any DatabaseWriter) throws -> Void
    /// How an older version of the app made and declared its tables, if some machines are to be updated in the middle of a
    /// run. ``migrate`` must be able to take over what it made.
    public var older: Version?
    /// What must hold of many rows together.
    public var invariants: [Invariant] = []
    /// Tables that triggers of the app fill, and what they hold. Those of which it is not said what they hold are watched by live queries all
    /// the same.
    public var filled: [FilledTable] = []
    /// Triggers of the app that write tables that synchronise are refused, since the oracle only knows what users write. With `true`
    /// they run, and what they do is found and called a fault.
    public var takesTriggersForFaults = false

    /// Whether the journals of its tables, live lists of them, and undo are judged, too: on every machine after everything that may change
    /// a row. It costs several times as much as the rest. Each table that is to be judged has a journal.
    public var judgesHistory = false

    /// A version of the app.
    public struct Version: Sendable {
        /// The tables that synchronise.
        public let tables: [TrackedTable]
        /// Makes the tables, or brings those of the older version up to date.
        public let migrate: @Sendable (any DatabaseWriter) throws -> Void

        public init(tables: [TrackedTable], migrate: @escaping @Sendable (any DatabaseWriter) throws -> Void) {
            self.tables = tables
            self.migrate = migrate
        }
    }

    public init(tables: [TrackedTable], migrate: @escaping @Sendable (any DatabaseWriter) throws -> Void) {
        self.tables = tables
        self.migrate = migrate
    }

    /// The app as it is.
    var current: Version { Version(tables: tables, migrate: migrate) }

    /// The tables that `sql` creates.
    public init(sql: String, tables: [TrackedTable]) {
        self.init(tables: tables) { database in try Self.execute(sql, in: database) }
    }

    /// The tables that `sql` creates and `update` changes, without Kith's triggers, so that it may drop columns and build tables anew. The older version of the app made those of `sql` alone, and declared `olderTables`.
    public init(sql: String, olderTables: [TrackedTable], update: String, tables: [TrackedTable]) {
        self.init(tables: tables) { database in
            let isEmpty = try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") == 0 }
            if isEmpty { try Self.execute(sql, in: database) }
            try database.write { db in for table in olderTables { try SyncedDatabase.removeTriggers(of: table.name, in: db) } }
            try Self.execute(update, in: database)
        }
        older = Version(tables: olderTables) { database in try Self.execute(sql, in: database) }
    }

    /// Runs SQL that makes tables, with transactions of its own if it has some, as what `.dump` of `sqlite3` prints.
    ///
    /// - Throws: `DatabaseError`, and ``SchemaError`` if a transaction has no end. Foreign keys are obeyed afterwards as they were before.
    public static func execute(_ sql: String, in database: any DatabaseWriter) throws {
        try database.writeWithoutTransaction { db in
            let obeysForeignKeys = try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") ?? true
            do {
                try db.execute(sql: sql)
            } catch {
                if db.isInsideTransaction { try db.rollback() }
                throw error
            }
            if db.isInsideTransaction {
                try db.rollback()
                throw SchemaError("The SQL begins a transaction and does not end it. Add COMMIT.")
            }
            try db.execute(sql: "PRAGMA foreign_keys = \(obeysForeignKeys ? "ON" : "OFF")")
        }
    }
}

extension SimulatedSchema {
    /// A schema with every kind of column, both delete policies, a natural key, foreign keys, invariants, and an older version that knew less.
    public static let standard: SimulatedSchema = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("old") { db in
            try db.execute(
                sql: """
                    CREATE TABLE note (
                        id BLOB PRIMARY KEY NOT NULL,
                        title TEXT NOT NULL DEFAULT '',
                        tags TEXT NOT NULL DEFAULT '[]');
                    CREATE TABLE task (id BLOB PRIMARY KEY NOT NULL, label ANY, weight REAL DEFAULT 1.5) STRICT;
                    CREATE TABLE task_label (task BLOB PRIMARY KEY, label ANY) STRICT;
                    CREATE TRIGGER task_inserted AFTER INSERT ON task BEGIN
                        INSERT OR REPLACE INTO task_label VALUES (new.id, new.label);
                    END;
                    CREATE TRIGGER task_updated AFTER UPDATE OF label ON task BEGIN
                        UPDATE task_label SET label = new.label WHERE task = new.id;
                    END;
                    CREATE TRIGGER task_deleted AFTER DELETE ON task BEGIN
                        DELETE FROM task_label WHERE task = old.id;
                    END;
                    CREATE TABLE entry (
                        id BLOB PRIMARY KEY NOT NULL, day TEXT NOT NULL, part INTEGER NOT NULL, mood TEXT COLLATE NOCASE,
                        hours INTEGER NOT NULL DEFAULT 0, UNIQUE (day, part));
                    CREATE TABLE page (id BLOB PRIMARY KEY NOT NULL, body TEXT NOT NULL DEFAULT '', remark TEXT, color INTEGER);
                    CREATE TABLE purse (id BLOB PRIMARY KEY NOT NULL, coins INTEGER NOT NULL DEFAULT 0);
                    """)
        }
        migrator.registerMigration("new") { db in
            try db.execute(
                sql: """
                    ALTER TABLE note ADD COLUMN rank INTEGER;
                    ALTER TABLE note ADD COLUMN views INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE task ADD COLUMN owners TEXT NOT NULL DEFAULT '[]';
                    CREATE TABLE account (id BLOB PRIMARY KEY NOT NULL, balance INTEGER NOT NULL DEFAULT 0);
                    CREATE TABLE seat (id BLOB PRIMARY KEY NOT NULL, next BLOB);
                    CREATE TABLE folder (
                        id BLOB PRIMARY KEY NOT NULL, name TEXT, parent BLOB REFERENCES folder (id) ON DELETE CASCADE);
                    CREATE TABLE person (id BLOB PRIMARY KEY NOT NULL, name TEXT);
                    CREATE TABLE item (
                        id BLOB PRIMARY KEY NOT NULL, label TEXT, folder BLOB REFERENCES folder (id) ON DELETE CASCADE,
                        owner BLOB REFERENCES person (id) ON DELETE SET NULL, uses INTEGER NOT NULL DEFAULT 0);
                    CREATE TABLE loan (
                        id BLOB PRIMARY KEY NOT NULL, remark TEXT, item BLOB REFERENCES item (id) ON DELETE RESTRICT,
                        lender BLOB REFERENCES person (id));
                    CREATE INDEX folder_parent ON folder (parent);
                    CREATE INDEX item_folder ON item (folder);
                    CREATE INDEX item_owner ON item (owner);
                    CREATE INDEX loan_item ON loan (item);
                    CREATE INDEX loan_lender ON loan (lender);
                    """)
        }
        let entry = TrackedTable("entry", counters: ["hours"], key: ["day", "part"])
        let page = TrackedTable("page", texts: ["body", "remark"])
        let purse = TrackedTable("purse", counters: ["coins"])
        var schema = SimulatedSchema(
            tables: [
                TrackedTable("note", sets: ["tags"], counters: ["views"]),
                TrackedTable("task", sets: ["owners"], deletePolicy: .deleteWins),
                TrackedTable("account", counters: ["balance"]),
                entry,
                page,
                purse,
                TrackedTable("seat"),
                TrackedTable("folder"),
                TrackedTable("person"),
                TrackedTable("item", counters: ["uses"], deletePolicy: .deleteWins),
                TrackedTable("loan"),
            ]
        ) { [migrator] database in try migrator.migrate(database) }
        schema.older = Version(
            tables: [TrackedTable("note", sets: ["tags"]), TrackedTable("task", deletePolicy: .deleteWins), entry, page, purse]
        ) { [migrator] database in try migrator.migrate(database, upTo: "old") }
        schema.filled = [FilledTable("task_label", holds: "SELECT id, label FROM task")]
        schema.invariants = [.sum(table: "purse", column: "coins"), .ring(table: "seat", column: "next")]
        return schema
    }()
}
