import Foundation
import Testing

@Suite("What stands in for atomics under ThreadSanitizer lacks something, and nobody hears of it before `make sanitize`")
struct SanitizerTests {
    private static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func `each operation on an atomic value and each ordering that sources use is there`() throws {
        let standIn = try String(
            contentsOf: Self.package.appendingPathComponent("Tests/SanitizerLocks/Atomic.swift"), encoding: .utf8)
        let sources = Self.package.appendingPathComponent("Sources")
        var (operations, orderings): (Set<String>, Set<String>) = ([], [])
        for path in try FileManager.default.subpathsOfDirectory(atPath: sources.path) where path.hasSuffix(".swift") {
            let text = try String(contentsOf: sources.appendingPathComponent(path), encoding: .utf8)
            for match in text.matches(of: /\.(\w+)\((?:[^()]|\([^()]*\))*\bordering: \.(\w+)/) {
                operations.insert(String(match.1))
                orderings.insert(String(match.2))
            }
        }
        #expect(operations.isSuperset(of: ["load", "store", "subtract", "wrappingAdd"]))
        #expect(operations.filter { !standIn.contains("func \($0)(") } == [])
        #expect(orderings.filter { !standIn.contains("var \($0):") } == [])
    }
}
