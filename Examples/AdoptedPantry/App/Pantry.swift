import Foundation
import GRDB
import Kith

/// The same app, whose tables synchronise: what `kith check` said had to change, in one more migration.
enum Pantry {
    static let app: AppID = "org.example.pantry"

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

    /// Does what a person has typed: a word, the title of a recipe, and what follows "=".
    static func obey(_ line: String, _ db: Database) throws {
        let words = line.split(separator: " ", maxSplits: 1)
        let parts = words.last?.split(separator: "=", maxSplits: 1).map(String.init) ?? []
        guard words.count == 2, let title = parts.first else { throw NotUnderstood() }
        let more = parts.count > 1 ? parts[1] : ""
        guard var recipe = try Recipe.filter(Column("title") == title).fetchOne(db) else { throw NotUnderstood() }
        switch words[0] {
        case "cook": recipe.cooked += 1
        case "label": recipe.labels.insert(more)
        case "step": recipe.steps += " \(more)"
        case "buy":
            let arguments: StatementArguments = [more, recipe.id.uuidString.lowercased()]
            return try db.execute(sql: "INSERT INTO ingredient (name, recipe) VALUES (?, ?)", arguments: arguments)
        default: throw NotUnderstood()
        }
        try recipe.update(db)
    }

    struct NotUnderstood: Error {}

    /// What is in the pantry, the same text wherever the same is in it.
    static func summary(_ db: Database) throws -> String {
        let recipes = try Recipe.order(Column("title")).fetchAll(db).map { recipe in
            "\(recipe.title) \(recipe.cooked.value) \(recipe.labels.sorted()) \(recipe.steps)"
        }
        let ingredients = try String.fetchAll(db, sql: "SELECT name FROM ingredient ORDER BY name")
        return (recipes + ingredients).joined(separator: "; ")
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
