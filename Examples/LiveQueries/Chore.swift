import Foundation
import GRDB

/// An ordinary GRDB record. Kith needs nothing of it.
struct Chore: Codable, Identifiable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "chore"

    var id: UUID
    var title: String
    var isDone = false
    /// A JSON array; two people who each add a name both stay.
    var helpers = "[]"
    /// Minutes spent; what two people add at the same time adds up.
    var minutes = 0

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(
                sql: """
                    CREATE TABLE chore (
                        id      BLOB PRIMARY KEY NOT NULL,
                        title   TEXT NOT NULL DEFAULT '',
                        isDone  INTEGER NOT NULL DEFAULT 0,
                        helpers TEXT NOT NULL DEFAULT '[]',
                        minutes INTEGER NOT NULL DEFAULT 0)
                    """)
        }
        return migrator
    }
}
