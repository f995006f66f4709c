import Foundation

/// Reads the imports of Swift files.
enum SourceImports {
    /// An import that the table does not allow.
    struct Violation: Hashable, CustomStringConvertible {
        let file: String
        let module: String
        let target: String

        var description: String { "\(file): \(target) may not import \(module)" }
    }

    /// Every forbidden import below `sources`, whose folders are the targets; in the order of the files' paths.
    /// A folder that the table does not know may import nothing.
    static func violations(in sources: URL, allowed: [String: Set<String>]) throws -> [Violation] {
        var violations: [Violation] = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: sources.path).sorted() where path.hasSuffix(".swift") {
            guard let target = path.split(separator: "/").first.map(String.init) else { continue }
            let text = try String(contentsOf: sources.appendingPathComponent(path), encoding: .utf8)
            for module in modules(importedBy: text) where !allowed[target, default: []].contains(module) {
                violations.append(Violation(file: path, module: module, target: target))
            }
        }
        return violations
    }

    /// The modules a source text imports: `@testable public import struct Module.Type` imports `Module`.
    static func modules(importedBy text: String) -> [String] {
        text.split(whereSeparator: \.isNewline).flatMap { line in
            line.split(separator: ";").compactMap { module(importedBy: $0) }
        }
    }

    private static let modifiers: Set<Substring> = ["public", "package", "internal", "fileprivate", "private"]
    private static let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var", "actor", "macro"]

    private static func module(importedBy statement: Substring) -> String? {
        var words = statement.split(whereSeparator: \.isWhitespace)[...]
        words = words.drop { $0.hasPrefix("@") || modifiers.contains($0) }
        guard words.popFirst() == "import" else { return nil }
        words = words.drop { kinds.contains($0) }
        return words.first?.split(separator: ".").first.map(String.init)
    }
}
