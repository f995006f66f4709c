import GRDB
import KithLedger
import KithSQLite
import KithTexts

extension SyncedDatabase {
    /// Takes Kith's triggers off a table, for a migration that drops one of its columns: SQLite drops no column that a trigger names.
    ///
    /// A migrator that is given to ``init(_:tables:migrator:options:)`` needs no such call. To be called within the migration, while no
    /// store is open. Until one is opened again, nothing sees what is written to the table: rows that are inserted meanwhile are taken
    /// up then, updates and deletions are not.
    public static func removeTriggers(of table: String, in db: Database) throws(StoreError) {
        try StoreError.typed {
            let names = try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?
                        AND name GLOB 'kith_*' AND name NOT GLOB '\(MigrationSteps.goneTable)_*'
                    """, arguments: [table])
            for name in names { try db.execute(sql: "DROP TRIGGER \(quoted(name))") }
        }
    }
}
