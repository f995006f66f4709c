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

    /// What opening an app took, in seconds.
    private struct AppTimes {
        /// Until a first row is read.
        var read = 0.0
        /// From there until the node runs, which no app awaits.
        var start = 0.0
        /// The first write.
        var write = 0.0
    }

    /// Opens all that an app opens, its key and the devices that it trusts, too, and reads a first row.
    private static func openApp(_ path: String, in folder: URL) throws -> SyncedApp {
        var options = SyncedApp.Options()
        options.isInProcess = true
        let app = try SyncedApp(
            "org.example.bench", tables: tables, at: .database(URL(filePath: path), keys: folder.appending(path: "keys")), options: options)
        _ = try app.database.read { try String.fetchOne($0, sql: "SELECT title FROM recipe LIMIT 1") }
        return app
    }

    private static func write(_ database: any DatabaseWriter) throws {
        try database.write { try $0.execute(sql: "INSERT INTO shop VALUES (?, 'Mill')", arguments: [UUID().uuidString.lowercased()]) }
    }

    /// - Parameter isUsed: whether the app also writes a row and starts its node.
    private static func timeApp(_ path: String, in folder: URL, isUsed: Bool = false) async throws -> AppTimes {
        var times = AppTimes()
        let start = ContinuousClock.now
        let app = try openApp(path, in: folder)
        let read = ContinuousClock.now
        times.read = (read - start) / .seconds(1)
        if isUsed {
            let events = app.node.events
            app.start()
            for await event in events where event.kind == .setup && event.phase == .ended { break }
            times.start = (ContinuousClock.now - read) / .seconds(1)
            let writing = ContinuousClock.now
            try write(app.database)
            times.write = (ContinuousClock.now - writing) / .seconds(1)
        }
        try await app.close()
        return times
    }

    /// As an app has it that was used since: its log does not begin with the adoption of all rows.
    private static func use(_ path: String) throws {
        let pool = try DatabasePool(path: path)
        let store = try SyncedDatabase(pool, tables: tables)
        for _ in 0..<2 { try write(pool) }
        store.close()
        try pool.close()
    }

    static func openingApp(rounds: Int, count: Int) async throws -> [Line] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kith-bench-\(UUID().uuidString)")
        // Keys lie beside the folder of the data, never in it.
        let data = folder.appending(path: "data")
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = try makeFile(count: count, in: data)
        try open(path, synced: true)
        // The first one makes the key.
        _ = try await timeApp(path, in: folder)
        let unused = try await compareApp(rounds, path, in: folder, "the same, if nothing was written since the rows were adopted")
        let moved = try await timeApp(path, in: folder, isUsed: true).write
        try use(path)
        let used = try await compareApp(rounds, path, in: folder, "the same as a SyncedApp, with its key and its node")
        var times: [AppTimes] = []
        for _ in 0..<rounds * 20 { times.append(try await timeApp(path, in: folder, isUsed: true)) }
        return [
            used, line("start the node of that app", times.map(\.start)), line("write a first row in that app", times.map(\.write)), unused,
            line("write a first row then, once", [moved]),
        ]
    }

    private static func line(_ work: String, _ values: [Double]) -> Line {
        Line(
            name: "P14", work: work, ours: format(Sample(values: values).median), limit: "–", ratio: nil,
            goal: "the worst of \(values.count): \(format(values.max() ?? 0))")
    }

    private static func compareApp(_ rounds: Int, _ path: String, in folder: URL, _ work: String) async throws -> Line {
        var (ours, plain): ([Double], [Double]) = ([], [])
        for _ in 0..<rounds * 20 {
            plain.append(try open(path, synced: false))
            ours.append(try await timeApp(path, in: folder).read)
        }
        let (median, limit) = (Sample(values: ours).median, Sample(values: plain).median)
        let worst = format((ours.max() ?? 0) - (plain.max() ?? 0))
        return Line(
            name: "P14", work: work, ours: format(median), limit: format(limit), ratio: nil,
            goal: "≤ 5 ms more: \(format(median - limit)), the worst of \(ours.count) \(worst)")
    }

    static func opening(rounds: Int, count: Int) throws -> Line {
        try inFolder { folder in
            let path = try makeFile(count: count, in: folder)
            try open(path, synced: true)
            try use(path)
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
