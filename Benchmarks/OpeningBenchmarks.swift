import Foundation
import GRDB
import Kith

/// What it costs an app to open its database with Kith, and the first time to let it adopt what is there.
enum OpeningBenchmarks {
    /// Five tables that refer to each other, one with a search index and a trigger, as an app has them.
    private static let sql = """
        CREATE TABLE recipe (
            id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', steps TEXT NOT NULL DEFAULT '', cooked INTEGER NOT NULL DEFAULT 0,
            labels TEXT NOT NULL DEFAULT '[]', updatedAt TEXT);
        CREATE TABLE ingredient (
            id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT '', recipe TEXT REFERENCES recipe (id) ON DELETE CASCADE);
        CREATE TABLE shop (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT '');
        CREATE TABLE item (
            id TEXT PRIMARY KEY NOT NULL, ingredient TEXT REFERENCES ingredient (id) ON DELETE CASCADE,
            shop TEXT REFERENCES shop (id) ON DELETE SET NULL, amount INTEGER NOT NULL DEFAULT 1);
        CREATE TABLE journal (id TEXT PRIMARY KEY NOT NULL, text TEXT NOT NULL DEFAULT '', recipe TEXT REFERENCES recipe (id) ON DELETE SET NULL);
        CREATE INDEX ingredientOfRecipe ON ingredient (recipe);
        CREATE VIRTUAL TABLE recipeText USING fts5 (title, steps, content = recipe);
        CREATE TRIGGER recipeIndexed AFTER INSERT ON recipe BEGIN
            INSERT INTO recipeText (rowid, title, steps) VALUES (new.rowid, new.title, new.steps); END;
        CREATE TRIGGER recipeUpdated AFTER UPDATE OF title, steps ON recipe BEGIN
            UPDATE recipe SET updatedAt = '2026-11-21' WHERE id = new.id; END;
        """

    private static let tables = [
        TrackedTable("recipe", sets: ["labels"], counters: ["cooked"]), TrackedTable("ingredient"), TrackedTable("shop"),
        TrackedTable("item"), TrackedTable("journal"),
    ]

    /// A file with `count` rows that no Kith has seen, a third of them recipes, the others ingredients.
    private static func makeFile(count: Int, in folder: URL) throws -> String {
        let path = folder.appending(path: "app.sqlite").path
        let pool = try DatabasePool(path: path)
        try pool.write { db in
            try db.execute(sql: sql)
            let recipe = try db.cachedStatement(sql: "INSERT INTO recipe (id, title, steps, labels) VALUES (?, ?, ?, '[\"warm\"]')")
            let ingredient = try db.cachedStatement(sql: "INSERT INTO ingredient (id, name, recipe) VALUES (?, ?, ?)")
            var last = ""
            for number in 0..<count {
                let id = UUID().uuidString.lowercased()
                if number % 3 == 0 {
                    last = id
                    try recipe.execute(arguments: [id, "Recipe \(number)", String(repeating: "Stir and wait. ", count: 20)])
                } else {
                    try ingredient.execute(arguments: [id, "Ingredient \(number)", last])
                }
            }
        }
        try pool.close()
        return path
    }

    private static func inFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kith-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }

    /// Returns the seconds from nothing open until a first row is read.
    @discardableResult
    private static func open(_ path: String, synced: Bool) throws -> Double {
        let start = ContinuousClock.now
        let pool = try DatabasePool(path: path)
        let store = synced ? try SyncedDatabase(pool, tables: tables) : nil
        _ = try pool.read { try String.fetchOne($0, sql: "SELECT title FROM recipe LIMIT 1") }
        let end = ContinuousClock.now
        store?.close()
        try pool.close()
        return (end - start) / .seconds(1)
    }

    /// The same of all that an app opens: its key and the devices that it trusts, too.
    private static func openApp(_ path: String, in folder: URL) async throws -> Double {
        var options = SyncedApp.Options()
        options.isInProcess = true
        let start = ContinuousClock.now
        let app = try SyncedApp(
            "org.example.bench", tables: tables, at: .database(URL(filePath: path), keys: folder.appending(path: "keys")), options: options)
        _ = try await app.database.read { try String.fetchOne($0, sql: "SELECT title FROM recipe LIMIT 1") }
        let end = ContinuousClock.now
        try await app.close()
        return (end - start) / .seconds(1)
    }

    static func openingApp(rounds: Int, count: Int) async throws -> Line {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kith-bench-\(UUID().uuidString)")
        // Keys lie beside the folder of the data, never in it.
        let data = folder.appending(path: "data")
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = try makeFile(count: count, in: data)
        try open(path, synced: true)
        var (ours, plain): ([Double], [Double]) = ([], [])
        for round in 0...rounds * 10 {
            let times = (try await openApp(path, in: folder), try open(path, synced: false))
            // The first one makes the key.
            if round > 0 {
                ours.append(times.0)
                plain.append(times.1)
            }
        }
        let (median, limit) = (Sample(values: ours).median, Sample(values: plain).median)
        return Line(
            name: "P14", work: "the same as a SyncedApp, with its key and its node", ours: format(median), limit: format(limit), ratio: nil,
            goal: "≤ 5 ms more: \(format(median - limit))")
    }

    static func opening(rounds: Int, count: Int) throws -> Line {
        try inFolder { folder in
            let path = try makeFile(count: count, in: folder)
            try open(path, synced: true)
            // As an app has it that was used since: its log does not begin with the adoption of all rows.
            let used = try DatabasePool(path: path)
            let store = try SyncedDatabase(used, tables: tables)
            for name in ["Mill", "Market"] {
                try used.write { try $0.execute(sql: "INSERT INTO shop VALUES (?, ?)", arguments: [UUID().uuidString.lowercased(), name]) }
            }
            store.close()
            try used.close()
            let (ours, limit, _) = try compare(rounds * 10) {
                try open(path, synced: true)
            } _: {
                try open(path, synced: false)
            }
            return Line(
                name: "P14", work: "open five tables with \(count) rows and read one row",
                ours: format(ours.median), limit: format(limit.median), ratio: nil,
                goal: "≤ 5 ms more: \(format(ours.median - limit.median))")
        }
    }

    /// The first opening of a file with rows.
    static func adoption(rounds: Int, count: Int) throws -> Line {
        let times = try (0..<rounds).map { _ in
            try inFolder { folder in
                let path = try makeFile(count: count, in: folder)
                return try open(path, synced: true)
            }
        }
        return Line(
            name: "P15", work: "open five tables with \(count) rows that were there before, the first time",
            ours: format(Sample(values: times).median), limit: "–", ratio: nil, goal: "≤ 2 s")
    }
}
