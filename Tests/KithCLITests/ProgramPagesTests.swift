#if os(Linux)
import Foundation
import Testing

@testable import KithCLI

/// Risk: a node gives back what it needs, and ends.
@Suite struct ProgramPagesTests {
    private static func residentCodeKilobytes() throws -> Int {
        var (sum, isCode) = (0, false)
        for line in try String(contentsOfFile: "/proc/self/smaps", encoding: .utf8).split(separator: "\n") {
            if line.contains("r-xp") { isCode = line.contains(" /") } else if line.firstMatch(of: /^[0-9a-f]+-[0-9a-f]+ /) != nil { isCode = false }
            if isCode, line.hasPrefix("Rss:") { sum += Int(line.split(separator: " ")[1]) ?? 0 }
        }
        return sum
    }

    @Test func `code that is given back comes back when it is needed`() throws {
        let before = try Self.residentCodeKilobytes()
        ProgramPages.giveBack()
        let after = try Self.residentCodeKilobytes()
        #expect(after < before)
        // All of this is code again.
        #expect(ProgramPages.ranges().count > 1)
        #expect(try JSONDecoder().decode([Int].self, from: Data("[1, 2]".utf8)) == [1, 2])
    }
}
#endif
