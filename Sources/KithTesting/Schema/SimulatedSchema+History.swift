import GRDB
import KithStore

extension SimulatedSchema {
    /// Tables with journals, of which journals, live lists, undo and an order by hand are judged, and an older version that knew less.
    public static let history: SimulatedSchema = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("old") { db in
            try db.execute(
                sql: """
                    CREATE TABLE note (
                        id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', tags TEXT NOT NULL DEFAULT '[]', body TEXT);
                    CREATE TABLE task (id BLOB PRIMARY KEY NOT NULL, label ANY, weight REAL DEFAULT 1.5) STRICT;
                    """)
        }
        migrator.registerMigration("new") { db in
            try db.execute(
                sql: """
                    ALTER TABLE note ADD COLUMN views INTEGER NOT NULL DEFAULT 0;
                    CREATE TABLE folder (
                        id BLOB PRIMARY KEY NOT NULL, name TEXT, parent BLOB REFERENCES folder (id) ON DELETE CASCADE);
                    CREATE TABLE person (id BLOB PRIMARY KEY NOT NULL, name TEXT);
                    CREATE TABLE item (
                        id BLOB PRIMARY KEY NOT NULL, label TEXT, folder BLOB REFERENCES folder (id) ON DELETE CASCADE,
                        shelf BLOB REFERENCES folder (id) ON DELETE SET NULL,
                        owner BLOB REFERENCES person (id) ON DELETE SET NULL, uses INTEGER NOT NULL DEFAULT 0);
                    CREATE TABLE rank (id BLOB PRIMARY KEY NOT NULL, position TEXT NOT NULL DEFAULT '');
                    CREATE INDEX folder_parent ON folder (parent);
                    CREATE INDEX item_folder ON item (folder);
                    CREATE INDEX item_shelf ON item (shelf);
                    CREATE INDEX item_owner ON item (owner);
                    CREATE INDEX rank_position ON rank (\(Position.orderSQL("position")), id);
                    """)
        }
        let task = TrackedTable("task", deletePolicy: .deleteWins, journal: .days(30))
        var schema = SimulatedSchema(
            tables: [
                TrackedTable("note", sets: ["tags"], counters: ["views"], texts: ["body"], journal: .days(30)),
                task,
                TrackedTable("folder", journal: .days(30)),
                TrackedTable("person", journal: .days(30)),
                TrackedTable("item", counters: ["uses"], journal: .days(30)),
                TrackedTable("rank", position: "position", journal: .days(30)),
            ]
        ) { [migrator] database in try migrator.migrate(database) }
        schema.older = Version(
            tables: [TrackedTable("note", sets: ["tags"], texts: ["body"], journal: .days(30)), task]
        ) { [migrator] database in try migrator.migrate(database, upTo: "old") }
        schema.invariants = [.order(table: "rank", column: "position")]
        schema.judgesHistory = true
        return schema
    }()
}
