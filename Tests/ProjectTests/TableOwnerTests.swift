import Foundation
import Testing

/// Risk: the SQL of a table is spread over many files, so that nobody can say who writes to it.
@Suite struct TableOwnerTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources")
    /// These look at a store from outside, as a user with a shell would.
    private static let outside = ["KithTesting", "KithLab", "kith-lab", "kith-sim", "kith-conformance"]

    /// Files that name a table of which another one is the owner. To be made shorter, never longer. These register a function of SQL
    /// that is called like the table.
    private static let exceptions: [String: Set<String>] = ["kith_text": ["KithCapture/Functions.swift", "KithCapture/TextValue.swift"]]

    /// The files that hold some text.
    private static func files(with text: String) throws -> [String: String] {
        var files: [String: String] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: sources.path) where path.hasSuffix(".swift") {
            if outside.contains(where: { path.hasPrefix($0 + "/") }) { continue }
            let data = try Data(contentsOf: sources.appending(path: path))
            if data.range(of: Data(text.utf8)) != nil { files[path] = String(decoding: data, as: UTF8.self) }
        }
        return files
    }

    /// The lines of each file that may name tables, without comments of Swift or SQL.
    private static func code() throws -> [String: String] {
        try files(with: "kith_").mapValues(withoutComments)
    }

    private static let verbs = ["INTO", "UPDATE", "DELETE FROM", "DROP TABLE", "DROP TABLE IF EXISTS"].map { $0 + " \\(" }

    /// What stands for a table in SQL that changes it: the name that its owner gives to those that read it, or a variable with that name.
    private static func changes(byNameIn code: String) -> [String] {
        let after = verbs.flatMap { verb in code.components(separatedBy: verb).dropFirst() }
        let names = after.map { rest in String(rest.prefix { $0.isLetter || $0 == "." }) }
        let holders = code.matches(of: /(?:let|var) (\w+)[^\n]*ClockTable\.name\(/).map { String($0.1) }
        return names.filter { name in
            if holders.contains(name) { return true }
            return name.contains(".") && name.first?.isUppercase == true && !name.hasPrefix("Self.")
        }
    }

    private static func withoutComments(_ text: String) -> String {
        text.split(separator: "\n").filter { $0.contains("kith_") }.map { line in
            let words = line.drop { $0 == " " }
            if words.hasPrefix("//") || words.hasPrefix("--") { return "" }
            return line.components(separatedBy: " // ")[0]
        }.joined(separator: "\n")
    }

    /// The tables that a file makes.
    private static func tables(madeIn code: String) -> [String] {
        code.matches(of: /CREATE TABLE IF NOT EXISTS (kith_[a-z_]+)/).map { String($0.1) }
    }

    /// Whether a file names a table: that, and not another one whose name begins like it.
    private static func names(_ table: String, in code: String) -> Bool {
        code.ranges(of: table).contains { range in
            let next = range.upperBound == code.endIndex ? " " : code[range.upperBound]
            let before = range.lowerBound == code.startIndex ? " " : code[code.index(before: range.lowerBound)]
            return !before.isLetter && !next.isLetter && next != "_" && next != "("
        }
    }

    @Test func `each table is named in the file of its owner alone`() throws {
        let code = try Self.code()
        let makers = code.flatMap { file in Self.tables(madeIn: file.value).map { (table: $0, file: file.key) } }
        #expect(makers.count >= 25)
        for (table, owner) in makers {
            let others = Set(code.filter { Self.names(table, in: $0.value) }.keys).subtracting([owner])
            let allowed = Self.exceptions[table, default: []]
            #expect(others.subtracting(allowed).isEmpty, "\(table) belongs to \(owner)")
            #expect(allowed.subtracting(others).isEmpty, "These need no exception for \(table) any more.")
        }
        #expect(Set(makers.map(\.table)).count == makers.count, "A table is made twice.")
        #expect(Set(Self.exceptions.keys).isSubset(of: makers.map(\.table)))
    }

    @Test func `who has a table's name from its owner only reads it`() throws {
        for (path, code) in try Self.files(with: " \\(") { #expect(Self.changes(byNameIn: code).isEmpty, "\(path)") }
        let sql = [
            "let clocks = ClockTable.name(1); INSERT INTO \\(clocks) VALUES", "DELETE FROM \\(ClockTable.name(1))",
            "UPDATE \\(HiddenRows.table) SET",
        ]
        #expect(sql.flatMap { Self.changes(byNameIn: $0) } == ["clocks", "ClockTable.name", "HiddenRows.table"])
        let fine = [
            "let clocks = ClockTable.name(1); SELECT 1 FROM \\(clocks)", "DELETE FROM \\(Self.table)", "UPDATE \\(tracked.mainName) SET",
        ]
        #expect(fine.allSatisfy { Self.changes(byNameIn: $0).isEmpty })
    }

    @Test func `the map has the owner of each table`() throws {
        let map = try String(contentsOf: Self.sources.appending(path: "../docs/architecture.md"), encoding: .utf8)
        for (file, code) in try Self.code() {
            for table in Self.tables(madeIn: code) {
                let name = table.hasSuffix("_") ? table + "N" : table
                let row = map.split(separator: "\n").first { $0.hasPrefix("|") && $0.contains("`\(name)`") }
                #expect(row?.contains("| `\(file)` |") == true, "\(name) belongs to \(file)")
            }
        }
    }

    @Test func `comments do not count, nor do longer names`() {
        let code = """
            /// kith_a is kept here.
            let sql = "SELECT 1 FROM kith_ab JOIN kith_b" // not kith_c
                -- kith_d
            let call = "SELECT kith_e(1)"
            """
        let named = ["kith_a", "kith_b", "kith_c", "kith_d", "kith_e", "kith_ab"].filter { Self.names($0, in: Self.withoutComments(code)) }
        #expect(named == ["kith_b", "kith_ab"])
    }
}
