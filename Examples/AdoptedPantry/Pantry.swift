import Foundation
import GRDB
import Kith

/// The same app, whose tables synchronise: what `kith check` said had to change, in one more migration.
enum Pantry {
    static let tables = [
        Recipe.synced, TrackedTable("ingredient"), TrackedTable("shop"), TrackedTable("item", key: ["ingredient", "shop"]),
        TrackedTable("journal", texts: ["text"], key: ["day"]),
    ]

    static var migrator: DatabaseMigrator {
        var migrator = PantryBefore.migrator
        migrator.registerMigration("synchronise") { db in
            // A default for the title, and no CHECK on what several devices count. An app pastes what `kith check --sql` prints.
            for statement in try SyncedDatabase.check(db, tables: tables).script { try db.execute(sql: statement) }
            // UUIDs in place of numbers, days and pairs. They are derived: two devices that restore one backup have the same rows.
            try KeyMigration(tables, form: .text).run(db)
        }
        return migrator
    }

    static func open(_ database: any DatabaseWriter) throws -> SyncedDatabase {
        try SyncedDatabase(database, tables: tables, migrator: migrator)
    }
}

enum Course: String, Sendable {
    case starter, main, dessert
}

struct Recipe: Codable, Identifiable, FetchableRecord, PersistableRecord {
    var id = UUID()
    var title = ""
    var steps = ""
    /// A newer version of the app may know courses that this one does not.
    var course: OpenEnum<Course>?
    var cooked = Counter()
    @StoredSet var labels: Set<String> = []

    enum Columns {
        static let steps = Column(CodingKeys.steps)
        static let cooked = Column(CodingKeys.cooked)
        static let labels = Column(CodingKeys.labels)
    }

    static let synced = TrackedTable(Recipe.self, sets: { [$0.labels] }, counters: { [$0.cooked] }, texts: { [$0.steps] })

    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy { .lowercaseString }
}
