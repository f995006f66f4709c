import Foundation
import Testing

/// Risk: the comparison with other systems claims what nothing shows.
@Suite struct ComparisonTests {
    @Test func `each row of the comparison names a test or a page that is there`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "Sources/Kith/Kith.docc/ComparedWithCloudKit.md"), encoding: .utf8)
        let tests = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: "Tests").path)
        let names = Set(tests.map { URL(filePath: $0).lastPathComponent })
        var count = 0
        for line in page.split(separator: "\n") where line.hasPrefix("| ") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            try #require(cells.count == 3, "\(line)")
            if cells[2] == "shown by" { continue }
            count += 1
            let shown = cells[2].split(separator: ",").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " `")) }
            for name in shown {
                let isThere =
                    name.hasSuffix(".md")
                    ? FileManager.default.fileExists(atPath: root.appending(path: name).path) : names.contains(name + ".swift")
                #expect(isThere, "\(name), of: \(line)")
            }
        }
        #expect(count > 90)
    }
}
