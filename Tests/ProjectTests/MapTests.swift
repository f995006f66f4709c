import Foundation
import Testing

/// Risk: the map in docs/architecture.md names files, targets and folders that are no longer there, and leads a newcomer astray.
@Suite struct MapTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let sources = root.appending(path: "Sources")

    /// The rows of all tables of the map under a heading, each as its cells.
    private static func rows(under heading: String) throws -> [[String]] {
        let text = try String(contentsOf: root.appending(path: "docs/architecture.md"), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let section = lines.drop { $0 != heading }.dropFirst().prefix { !$0.hasPrefix("#") }
        let rows = section.filter { $0.hasPrefix("|") && !$0.hasPrefix("|---") }.dropFirst()
        return rows.map { row in
            row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    /// What stands between backticks.
    private static func names(in cell: String) -> [String] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }

    private static func file(_ path: String) throws -> String? {
        let found = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { $0 == path }
        guard found.count == 1 else { return nil }
        return try String(contentsOf: sources.appending(path: found[0]), encoding: .utf8)
    }

    @Test func `each step of the walk names a file, and in it what the step is about`() throws {
        let steps = try Self.rows(under: "## The path of one UPDATE")
        #expect(steps.count > 15)
        for step in steps {
            let path = try #require(Self.names(in: step[1]).first)
            let text = try #require(try Self.file(path), "\(path) is not one file of Sources")
            for name in Self.names(in: step[2]) { #expect(text.contains(name), "\(path) does not name \(name)") }
        }
    }

    @Test func `each place that is named is a file or a target`() throws {
        let places = try Self.rows(under: "## Where things are")
        #expect(places.count > 5)
        for name in places.flatMap({ Self.names(in: $0[1]) }) where name.hasSuffix(".swift") {
            #expect(try Self.file(name) != nil, "\(name) is not one file of Sources")
        }
    }

    @Test func `the targets are those of the package, each with what it is`() throws {
        let named = try Self.rows(under: "## Parts").flatMap { Self.names(in: $0[0]) }
        #expect(named.sorted() == ModuleTable.allowedImports.keys.sorted())
    }

    @Test(arguments: ["KithLedger", "KithMerge", "KithStore"])
    func `the folders of a target are those that there are`(target: String) throws {
        let named = try Self.rows(under: "### Folders of \(target)").flatMap { Self.names(in: $0[0]) }
        let path = Self.sources.appending(path: target).path
        let folders = try FileManager.default.contentsOfDirectory(atPath: path).filter { !$0.hasSuffix(".swift") }
        #expect(named.sorted() == folders.sorted())
    }
}
