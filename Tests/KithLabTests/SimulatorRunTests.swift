import Foundation
import Testing

@testable import KithLab

@Suite("The simulator is green though it looked at nothing, or says the wrong thing of an app's tables")
final class SimulatorRunTests {
    private let folder: URL
    private var output: [String] = []
    private var notices: [String] = []

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "kith-simulator-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private func file(_ name: String, _ text: String) throws -> String {
        let file = folder.appending(path: name)
        try text.write(to: file, atomically: true, encoding: .utf8)
        return file.path
    }

    /// Runs a few seeds, or a script, of a schema.
    private func run(_ sql: String, _ arguments: [String] = ["--nodes", "2", "--seeds", "3", "--ops", "15"]) throws -> Bool {
        let words = ["--schema", try file("app.sql", sql)] + arguments
        return try SimulatorRun(SimulatorOptions(words), output: { self.output.append($0) }, notice: { self.notices.append($0) }).run()
    }

    private func expectRefusal(_ code: LabError.Code, _ parts: String..., by body: () throws -> Bool) {
        let error = #expect(throws: LabError.self) { try body() }
        #expect(error?.code == code)
        for part in parts { #expect(error?.message.contains(part) == true, "\(error?.message ?? "")") }
        #expect(output.isEmpty)
    }

    private static let memo = "CREATE TABLE memo (id BLOB PRIMARY KEY NOT NULL, title TEXT, views INTEGER NOT NULL DEFAULT 0);"
    private static let mixed = memo + " CREATE TABLE tag (name TEXT PRIMARY KEY, color TEXT); CREATE TABLE log (line TEXT);"

    // MARK: What takes part

    @Test(
        arguments: [
            ("", "it makes no table"),
            ("CREATE TABLE note (day TEXT PRIMARY KEY, title TEXT);", "the key day of note is TEXT, not BLOB, nor TEXT with a name"),
            (
                "CREATE TABLE note (id UUID PRIMARY KEY NOT NULL); CREATE TABLE task (id INTEGER PRIMARY KEY);",
                "the key id of task is INTEGER"
            ),
            ("CREATE TABLE note (title TEXT);", "note has no primary key"),
            ("CREATE TABLE note (a BLOB, b BLOB, PRIMARY KEY (a, b));", "the key of note has 2 columns"),
        ])
    func `a schema of which nothing synchronises is refused`(sql: String, part: String) {
        expectRefusal(.data, part, "id BLOB PRIMARY KEY NOT NULL") { try run(sql) }
    }

    @Test func `a table with quotes in its name is left out, or refused with the reason`() throws {
        #expect(try run(Self.memo + #"CREATE TABLE "my ""own"" log" (line TEXT)"#))
        output = []
        expectRefusal(.data, "there is a quotation mark in its name") {
            try run(#"CREATE TABLE "my ""own"" list" (id BLOB PRIMARY KEY NOT NULL, title TEXT)"#)
        }
    }

    @Test func `what takes part and what does not is said once`() throws {
        #expect(try run(Self.mixed + " INSERT INTO memo VALUES (randomblob(16), 'welcome', 0);"))
        #expect(notices.count == 1)
        let notice = try #require(notices.first)
        for part in [
            "Simulated: memo.",
            "Left out: log has no primary key; the key name of tag is TEXT, not BLOB, nor TEXT with a name that ends in id.",
            "into memo are left out",
        ] {
            #expect(notice.contains(part), "\(notice)")
        }
        #expect(output.count == 1 && output[0].contains("3 seeds of 2 nodes") && output[0].contains("every promise was kept"))
    }

    @Test(
        arguments: [
            ("--set", "nosuch.tags", "there is no table nosuch; those that synchronise: memo"), ("--set", "tags", "write TABLE.COLUMN"),
            ("--text", "memo.nope", "it has title, views"), ("--filled", "memo_search=SELECT title FROM memo", "is not virtual"),
            ("--counter", "tag.color", "the key name of tag is TEXT"),
            ("--delete-wins", "nosuch", "there is no table nosuch"), ("--delete-wins", "log", "log has no primary key"),
        ])
    func `an option that names what is not there is refused`(option: String, name: String, part: String) {
        expectRefusal(.usage, "\(option) \(name): ", part) { try run(Self.mixed, [option, name]) }
    }

    @Test(
        arguments: [
            (["--counter", "memo.title"], LabError.Code.data, "a counter, which needs INTEGER; its column is TEXT"),
            (["--text", "memo.views"], .data, "a text, which needs TEXT; its column is INTEGER"),
            (["--set", "memo.views"], .data, "a set, which needs TEXT"),
            (["--set", "memo.title", "--text", "memo.title"], .usage, "cannot be both --set and --text"),
        ])
    func `a column of the wrong kind is refused`(options: [String], code: LabError.Code, part: String) throws {
        let words = ["--schema", try file("app.sql", Self.memo)] + options
        expectRefusal(code, part) { try SimulatorRun(SimulatorOptions(words)).run() }
    }

    // MARK: Natural keys and versions

    private static let day =
        "CREATE TABLE day (id BLOB PRIMARY KEY NOT NULL, date TEXT NOT NULL, place TEXT NOT NULL, mood TEXT, UNIQUE (date, place));"

    @Test func `rows of one natural key are one row`() throws {
        let keys = ["--key", "day.date", "--key", "day.place"]
        #expect(try run(Self.day, keys + ["--nodes", "3", "--seeds", "3", "--ops", "20"]))
        expectRefusal(.data, "Table day cannot be tracked", "date is NOT NULL without a default") {
            output = []
            return try run(Self.day, ["--seeds", "1"])
        }
        let script = try file("a.script", "nodes 2\nA: insert day 1 mood='good'\nB: insert day 1 mood='bad'\nsync A B\n")
        #expect(try run(Self.day, keys + ["--script", script, "--trace"]))
        expectRefusal(.usage, "--key day.no: day has no such column") {
            output = []
            return try run(Self.day, ["--key", "day.no"])
        }
    }

    @Test func `some machines begin without the update`() throws {
        let update = try file("update.sql", "BEGIN; ALTER TABLE memo ADD COLUMN stars INTEGER NOT NULL DEFAULT 0; \(Self.day) COMMIT;")
        let options = ["--update", update, "--counter", "memo.stars", "--key", "day.date", "--key", "day.place", "--nodes", "3"]
        #expect(try run(Self.memo, options + ["--seeds", "4", "--ops", "20", "--faults", "old-version"]))
        #expect(notices == ["Simulated: day, memo. Before the update: memo."])
        let script = try file(
            "a.script",
            "nodes 2\nA: insert memo 1 title='a'\nB: insert memo 2 stars=3; insert day 1 mood='good'\nsync A B\nupdate A\nA: count memo 2 stars=1\n"
        )
        output = []
        #expect(try run(Self.memo, options.dropLast(2) + ["--script", script, "--trace"]))
        #expect(output.contains { $0.contains("update") }, "\(output)")
    }

    @Test(
        arguments: [
            ("ALTER TABLE memo ADD COLUMN id BLOB;", LabError.Code.data, "update.sql cannot be used: duplicate column name"),
            ("DROP TABLE memo;", .data, "Nothing can be tried out"),
            ("INSERT INTO memo (id) VALUES (randomblob(16));", .data, "inserts or changes rows"),
        ])
    func `an update that cannot be tried out is refused`(sql: String, code: LabError.Code, part: String) throws {
        let update = try file("update.sql", sql)
        expectRefusal(code, part) { try run(Self.memo, ["--update", update]) }
    }

    // MARK: Files

    @Test func `files that are not there or not what they should be are reported`() throws {
        let missing = folder.appending(path: "missing").path
        expectRefusal(.noInput, "There is no file \(missing).") { try SimulatorRun(SimulatorOptions(["--schema", missing])).run() }
        expectRefusal(.noInput, "There is no file") { try SimulatorRun(SimulatorOptions(["--script", missing])).run() }
        expectRefusal(.noInput, "cannot be read as a file") { try SimulatorRun(SimulatorOptions(["--schema", folder.path])).run() }
        expectRefusal(.data, "app.sql cannot be used", "incomplete input") { try run("CREATE TABLE note (id BLOB PRIMARY KEY,") }
        expectRefusal(.data, "does not end it. Add COMMIT") { try run("BEGIN; " + Self.memo) }
        expectRefusal(.data, "WITHOUT ROWID") { try run("CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL) WITHOUT ROWID;") }
        try Data([0x61, 0xFF]).write(to: folder.appending(path: "bytes"))
        expectRefusal(.data, "is not UTF-8") {
            try SimulatorRun(SimulatorOptions(["--script", folder.appending(path: "bytes").path])).run()
        }
    }

    @Test func `what dump prints can be used`() throws {
        #expect(try run("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n\(Self.memo)\nINSERT INTO memo VALUES(x'01','a',1);\nCOMMIT;\n"))
    }

    // MARK: Scripts

    @Test(
        arguments: [
            ("A: jump", "script:2: jump is no statement"), ("A: insert nosuch 1", "no table nosuch that synchronises; those that do: memo"),
            ("A: insert memo 1 nosuch=2", "memo has no column nosuch"), ("A: insert tag 1", "no table tag"),
            ("A: count memo 1 title=1", "title of memo is a register"), ("A: insert memo 1 id=x'00'", "id is the key of memo"),
        ])
    func `a script that does not fit the schema is refused`(line: String, part: String) throws {
        let script = try file("a.script", "nodes 2\n" + line)
        expectRefusal(.data, part) { try run(Self.mixed, ["--script", script, "--counter", "memo.views"]) }
    }

    @Test func `the command that is printed with a failure finds it again`() throws {
        let swallows = "CREATE TRIGGER lie BEFORE INSERT ON memo BEGIN SELECT RAISE(IGNORE); END;"
        let few = ["--counter", "memo.views", "--faults", "none", "--nodes", "1", "--seeds", "1", "--ops", "4"]
        #expect(try run(Self.memo + swallows, few) == false)
        let failure = try #require(output.first)
        let schema = folder.appending(path: "app.sql").path
        #expect(failure.contains("kith-sim --schema \(schema) --counter memo.views --script failure.script --trace\n"), "\(failure)")
        let parts = failure.split(separator: "\n\n", maxSplits: 1)
        let script = try file("failure.script", String(try #require(parts.last)))

        output = []
        #expect(try run(Self.memo + swallows, ["--counter", "memo.views", "--script", script, "--trace"]) == false)
        let rule = try #require(failure.split(separator: "promise. ").dropFirst().first?.prefix { $0 != ":" })
        #expect(output.count > 1 && output.last?.hasPrefix("Broken: \(rule):") == true, "\(output)")
    }
}
