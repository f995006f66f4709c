import Foundation
import Testing

/// Risk: code in the README, in docs/, in an article or on the page for coding assistants does not compile, or no longer.
@Suite struct DocumentedCodeTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The lines of code, without indentation and comments behind it, for a page may lay them out otherwise.
    private static func lines(_ text: some StringProtocol) -> [String] {
        text.split(separator: "\n").map { line in
            let code = line.range(of: "  //").map { line[..<$0.lowerBound] } ?? line[...]
            return code.trimmingCharacters(in: .whitespaces)
        }.filter { !$0.isEmpty }
    }

    private static var pages: [URL] {
        get throws {
            let folders = ["docs", "Sources/Kith/Kith.docc"].map { root.appending(path: $0) }
            return try [root.appending(path: "README.md"), root.appending(path: "docs/llms.txt")]
                + folders.flatMap { folder in
                    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".md") }
                    return names.sorted().map { folder.appending(path: $0) }
                }
        }
    }

    @Test func `each block of Swift on a page is in the target that is compiled`() throws {
        let folder = Self.root.appending(path: "Tests/DocumentedCode")
        let sources = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        let compiled = try sources.flatMap { Self.lines(try String(contentsOf: $0, encoding: .utf8)) }
        var count = 0
        for page in try Self.pages {
            let parts = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```")
            for block in parts.enumerated().filter({ $0.offset % 2 == 1 && $0.element.hasPrefix("swift\n") }) {
                let code = Self.lines(block.element.dropFirst("swift\n".count))
                let isThere = compiled.indices.contains { compiled[$0...].starts(with: code) }
                #expect(isThere, "\(page.lastPathComponent): what begins with \(code.first ?? "nothing") is not in Tests/DocumentedCode")
                count += 1
            }
        }
        #expect(count > 3)
    }
}
