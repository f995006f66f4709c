#if os(Linux)
import Foundation
import Testing

@testable import KithCLI

/// Risk: a node gives back what it needs, and ends.
@Suite struct ProgramPagesTests {
    private static func residentCodeKilobytes() throws -> Int {
        var (sum, isCode) = (0, false)
        for line in try String(contentsOfFile: "/proc/self/smaps", encoding: .utf8).split(separator: "\n") {
            let fields = line.split(separator: " ")
            // A mapping begins with its addresses and permissions.
            if fields.count > 4, fields[1].count == 4 { isCode = fields[1] == "r-xp" && line.contains(" /") }
            if isCode, fields[0] == "Rss:" { sum += Int(fields[1]) ?? 0 }
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
