import Foundation
import Testing

@Suite("A test leaves most of its cases to the long run, and no portion of that runs it")
struct LongRunTests {
    private static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: package.appendingPathComponent(path), encoding: .utf8)
    }

    /// What the portions run: patterns for names such as `KithSyncTests.ConvergenceTests`.
    private static func filters() throws -> [String] {
        try text("scripts/soak.sh").matches(of: /filter='([^']+)'/).map { String($0.1) }
    }

    /// The suites that ask how many cases they shall judge: `KithSyncTests.ConvergenceTests`.
    private static func suites() throws -> Set<String> {
        var suites: Set<String> = []
        let tests = package.appendingPathComponent("Tests")
        for path in try FileManager.default.subpathsOfDirectory(atPath: tests.path)
        where path.hasSuffix("Tests.swift") && !path.hasSuffix("/LongRunTests.swift") {
            let text = try text("Tests/" + path)
            guard text.contains("Soak.") else { continue }
            var suite = ""
            // The attribute of a suite stands before its name.
            var isAskedAhead = false
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                if words.contains("struct") || words.contains("class"),
                    let name = words.first(where: { $0.prefix { $0 != ":" }.hasSuffix("Tests") })
                {
                    suite = path.prefix { $0 != "/" } + "." + name.prefix { $0 != ":" }
                    if isAskedAhead { suites.insert(suite) }
                    isAskedAhead = false
                }
                if line.contains("Soak."), suite.isEmpty { isAskedAhead = true }
                if line.contains("Soak."), !suite.isEmpty { suites.insert(suite) }
            }
        }
        return suites
    }

    @Test func `each suite that judges more in the long run is in a portion of it`() throws {
        let filters = try Self.filters().map { try Regex($0) }
        let suites = try Self.suites()
        #expect(filters.count > 10 && suites.count > 40)
        let left = suites.filter { suite in !filters.contains { suite.contains($0) || (suite + "/").contains($0) } }
        #expect(left.sorted() == [])
    }
}
