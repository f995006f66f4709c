import Foundation
import Testing

/// Risk: an app shows its user a message that tells them to run a program that they do not have.
@Suite struct LibraryWordsTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources")
    /// What an app links. Files are carried by a command alone.
    private static let folders = [
        "Kith", "KithCapture", "KithCausality", "KithDiscovery", "KithLedger", "KithMerge", "KithSQLite", "KithSnapshot", "KithStore",
        "KithSync",
        "KithText", "KithTexts", "KithTransport", "KithTrust",
    ]
    private static let exceptions = ["Kith/Carry/"]

    /// Commands of `kith`, as a sentence would name them. What is hashed begins with `kith` as well, and goes on with a number.
    private static var command: Regex<(Substring, Substring)> {
        /\bkith (up|pair|verify|check|status|doctor|device|household|carry|note|backup|recover|history|web)\b(?! \d)/
    }

    @Test func `no message of the library names a command of kith`() throws {
        var files = 0
        for folder in Self.folders {
            for path in try FileManager.default.subpathsOfDirectory(atPath: Self.sources.appending(path: folder).path).sorted()
            where path.hasSuffix(".swift") && !Self.exceptions.contains(where: { "\(folder)/\(path)".hasPrefix($0) }) {
                files += 1
                let text = try String(contentsOf: Self.sources.appending(path: "\(folder)/\(path)"), encoding: .utf8)
                for line in text.split(separator: "\n") where line.contains("kith ") && line.contains(Self.command) {
                    let code = line.trimmingCharacters(in: .whitespaces)
                    #expect(code.hasPrefix("//"), "\(folder)/\(path): \(code)")
                }
            }
        }
        #expect(files > 300)
    }
}
