import Foundation
import KithTrust
import TestSupport
import Testing

/// The risk: a stranger's name for its device breaks the screen, passes for something else, or cannot be kept.
@Suite struct StrangeNameTests {
    @Test(arguments: [
        ("Attic", "Attic"), ("  Anna\u{2019}s  laptop ", "Anna\u{2019}s laptop"), ("\u{1B}[31mred\u{7}", "[31mred"), ("a\nb\tc\r", "abc"),
        ("\u{202E}evil\u{2066}", "evil"), ("", ""), ("\u{0}\u{1}", ""), ("k\u{A0}i\u{2003}t", "kit"), ("\u{E000}x\u{FFFE}", "x"),
    ])
    func `what cannot be shown is left out`(proposed: String, shown: String) {
        #expect(ProposedName.sanitized(Array(proposed.utf8)) == shown)
    }

    @Test func `bytes that are no text are no name`() {
        #expect(ProposedName.sanitized([0xFF, 0xFE]) == "")
        #expect(ProposedName.sanitized([0x61, 0xC3]) == "")
    }

    @Test func `a long name is cut between characters`() {
        let flags = String(repeating: "\u{1F1E8}\u{1F1ED}", count: 20)
        #expect(ProposedName.sanitized(Array(flags.utf8)).utf8.count == 64)
        #expect(ProposedName.sanitized(Array(("x" + flags).utf8)).utf8.count == 57)
    }

    @Test func `whatever is proposed can be kept`() throws {
        var random = SplitMix64(seed: 23)
        let id = try #require(DeviceID(bytes: [UInt8](repeating: 1, count: 32)))
        for _ in 0..<10_000 {
            let scalars = (0..<Int.random(in: 0...40, using: &random)).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: 0...0x3_0000, using: &random))
            }
            var text = String.UnicodeScalarView()
            text.append(contentsOf: scalars)
            let name = ProposedName.sanitized(Array(String(text).utf8))
            #expect(throws: Never.self) { try TrustedDevice(id: id, name: name, added: Date(timeIntervalSince1970: 0)) }
        }
    }
}
