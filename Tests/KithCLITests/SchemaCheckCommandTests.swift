import Foundation
import GRDB
import Testing

@Suite("kith check tells half of what is wrong with an app's database, or changes it")
struct SchemaCheckCommandTests {
    private let home: KithHome
    private let file: String

    init() throws {
        home = try KithHome()
        file = home.store.deletingLastPathComponent().appendingPathComponent("app.sqlite").path
        try FileManager.default.createDirectory(
            at: home.store.deletingLastPathComponent(), withIntermediateDirectories: true)
        let database = try DatabaseQueue(path: file)
        try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE recipe (id INTEGER PRIMARY KEY, title TEXT NOT NULL, tags TEXT NOT NULL DEFAULT '[]');
                    CREATE TABLE step (id INTEGER PRIMARY KEY, recipe INTEGER NOT NULL REFERENCES recipe (id) ON DELETE CASCADE, text TEXT);
                    CREATE TABLE journal (day TEXT PRIMARY KEY, text TEXT NOT NULL DEFAULT '');
                    INSERT INTO recipe (title) VALUES ('soup'); INSERT INTO step VALUES (1, 1, 'boil'); INSERT INTO journal VALUES ('2026-11-21', '');
                    """)
        }
        try database.close()
    }

    private var bytes: Data { get throws { try Data(contentsOf: URL(fileURLWithPath: file)) } }

    @Test func `all that must change is said in words, as JSON and as SQL, with status 65, and the file stays as it is`() throws {
        let before = try bytes
        let result = try home.kith("check", file, "--set", "recipe.tags")
        #expect(result.status == 65)
        for words in [
            "recipe: 2 things to change", "title TEXT NOT NULL DEFAULT ''", "step: 1 thing to change", "journal: 1 thing to change",
            "New ids for recipe, step, journal", "kith check --sql",
        ] { #expect(result.output.contains(words), "\(result.output)") }
        let report = try home.kith("check", file, "--json").json() as? [String: Any]
        let problems = report?["problems"] as? [[String: Any]]
        #expect(Set(problems?.compactMap { $0["code"] as? String } ?? []) == ["key", "missingDefault"])
        let sql = try home.kith("check", file, "--sql", "--table", "recipe")
        #expect(sql.output.contains("CREATE TABLE \"kith_new_recipe\"") && sql.output.hasSuffix(";\n"))
        #expect(try bytes == before)
    }

    @Test func `the file of Kith's own notes is left as it is`() throws {
        try home.kith("note", "add", "One")
        for options: [String] in [[], ["--table", "note_search_key", "--migrate"]] {
            expectFailure(try home.kith(["check", home.store.path] + options), 65, "Kith's own notes")
        }
        #expect(try home.kith("note", "search", "One").output.contains("One"))
        expectFailure(try KithHome().kith("doctor", "--size"), 66, "no notes")
    }

    @Test func `with new ids and the SQL, everything is ready`() throws {
        let sql = try home.kith("check", file, "--sql", "--key", "journal.day").output
        let database = try DatabaseQueue(path: file)
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA foreign_keys = OFF; BEGIN; \(sql) COMMIT") }
        try database.close()
        let result = try home.kith("check", file, "--key", "journal.day", "--migrate", "--form", "text")
        #expect(result.status == 0, "\(result.output)\(result.error)")
        #expect(result.output.contains("step, 1 row: new ids in id, recipe follows recipe"))
        #expect(result.output.hasSuffix("journal: ready\nrecipe: ready\nstep: ready\nAll of these can synchronise as they are.\n"))
        let joined = try DatabaseQueue(path: file).read {
            try String.fetchAll($0, sql: "SELECT title || text || length(r.id) FROM step s JOIN recipe r ON r.id = s.recipe")
        }
        #expect(joined == ["soupboil36"])
    }

    @Test func `wrong files, tables, columns and options are said in one line`() throws {
        for (arguments, status) in [
            (["/nowhere.sqlite"], 66), ([home.store.deletingLastPathComponent().path], 65), ([file, "--set", "recipe.nothing"], 64),
            ([file, "--key", "day"], 64), ([file, "--form", "number"], 64),
        ] as [([String], Int32)] {
            let result = try home.shell("\"$KITH\" check \(arguments.map { "'\($0)'" }.joined(separator: " "))")
            #expect(result.status == status, "\(arguments): \(result.error)")
        }
        let missing = try home.kith("check", file, "--table", "Recipe")
        #expect(missing.status == 65 && missing.output.contains("there is no such table"))
    }
}
