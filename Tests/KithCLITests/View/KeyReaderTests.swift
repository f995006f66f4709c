import Testing

@testable import KithCLI

@Suite("A key does something that nobody pressed")
struct KeyReaderTests {
    @Test(
        "bytes are the keys that terminals send them for",
        arguments: [
            ("a", [.character("a")]), ("\u{1B}[A", [.up]), ("\u{1B}OB", [.down]), ("\u{1B}[5~x", [.pageUp, .character("x")]),
            ("\r\u{7F}", [.enter, .backspace]), ("\u{3}", [.control("c")]), ("é漢👍", [.character("é"), .character("漢"), .character("👍")]),
            // What is no key of ours is none at all: F5, Shift-Up, Alt-x.
            ("\u{1B}[15~", []), ("\u{1B}[1;2A", []), ("\u{1B}x", [.escape, .character("x")]), ("\u{1B}\u{1B}[B", [.escape, .down]),
        ] as [(String, [Key])])
    func keys(text: String, expected: [Key]) {
        var reader = KeyReader()
        #expect(reader.take(Array(text.utf8)) == expected)
        #expect(!reader.isWaiting)
    }

    @Test("a key that comes in pieces is one key, wherever it is cut")
    func pieces() {
        let bytes = Array("\u{1B}[6~漢\u{1B}OA".utf8)
        for cut in 1..<bytes.count {
            var reader = KeyReader()
            #expect(reader.take(bytes[..<cut]) + reader.take(bytes[cut...]) == [.pageDown, .character("漢"), .up], "cut at \(cut)")
        }
    }

    @Test("an escape character with nothing after it is Escape, and half a key is none")
    func flush() {
        var reader = KeyReader()
        #expect(reader.take([0x1B]) == [] && reader.isWaiting)
        #expect(reader.flush() == [.escape] && !reader.isWaiting)
        #expect(reader.take(Array("\u{1B}[1".utf8)) == [] && reader.flush() == [])
        #expect(reader.take(Array("a".utf8)) == [.character("a")])
    }

    @Test("bytes that are no text, and sequences without an end, are skipped")
    func garbage() {
        var reader = KeyReader()
        let endless = [0x1B, UInt8(ascii: "[")] + [UInt8](repeating: UInt8(ascii: "1"), count: 40)
        let keys = reader.take([0xFF, 0xC3, 0x28] + endless) + reader.flush() + reader.take([UInt8(ascii: "q")])
        #expect(keys.last == .character("q"))
        #expect(!keys.contains(.escape))
    }
}
