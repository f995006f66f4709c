import GRDB
import KithStore
import KithSync

/// The tables that a simulation runs on: an app's own migrations and declarations.
///
///     let schema = SimulatedSchema(tables: [TrackedTable("note", sets: ["tags"])]) { database in
///         try AppDatabase.migrator.migrate(database)
///     }
public struct SimulatedSchema: Sendable {
    /// The tables that synchronise, as the app declares them.
    public let tables: [TrackedTable]
    /// Creates the tables in an empty database, as the app does.
    public let migrate: @Sendable (any DatabaseWriter) throws -> Void

    public init(tables: [TrackedTable], migrate: @escaping @Sendable (any DatabaseWriter) throws -> Void) {
        self.tables = tables
        self.migrate = migrate
    }

    /// The tables that `sql` creates.
    public init(sql: String, tables: [TrackedTable]) {
        self.init(tables: tables) { database in try database.write { db in try db.execute(sql: sql) } }
    }
}

extension SimulatedSchema {
    /// A schema with every kind of column and both delete policies.
    public static let standard = SimulatedSchema(
        sql: """
            CREATE TABLE note (
                id BLOB PRIMARY KEY NOT NULL,
                title TEXT NOT NULL DEFAULT '',
                rank INTEGER,
                tags TEXT NOT NULL DEFAULT '[]',
                views INTEGER NOT NULL DEFAULT 0);
            CREATE TABLE task (
                id BLOB PRIMARY KEY NOT NULL,
                label ANY,
                weight REAL DEFAULT 1.5,
                owners TEXT NOT NULL DEFAULT '[]') STRICT;
            CREATE TABLE account (id BLOB PRIMARY KEY NOT NULL, balance INTEGER NOT NULL DEFAULT 0);
            CREATE TABLE page (id BLOB PRIMARY KEY NOT NULL, body TEXT NOT NULL DEFAULT '', remark TEXT, color INTEGER);
            """,
        tables: [
            TrackedTable("note", sets: ["tags"], counters: ["views"]),
            TrackedTable("task", sets: ["owners"], deletePolicy: .deleteWins),
            TrackedTable("account", counters: ["balance"]),
            TrackedTable("page", texts: ["body", "remark"]),
        ])
}
