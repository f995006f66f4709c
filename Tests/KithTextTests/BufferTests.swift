import KithCausality
import TestSupport
import Testing

@testable import KithText

/// Risk: the editing buffer loses its place, or an offset of another unit lands inside a character.
@Suite struct BufferTests {
    @Test func `random splices give what an array gives`() throws {
        for seed in 0..<30 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            var buffer = TextBuffer()
            var array: [Unicode.Scalar] = []
            for _ in 0..<300 {
                let start = random.below(array.count + 1)
                let count = min(array.count - start, random.pick([0, 0, 1, 2, 900, 2_000]))
                let text = String(repeating: random.pick(["a", "é", "😀"]), count: random.pick([0, 1, 1, 3, 1_024, 2_500]))
                try buffer.apply([.delete(count: count, at: start), .insert(text, at: start)])
                array.replaceSubrange(start..<start + count, with: text.unicodeScalars)
                try #require(buffer.count == array.count)
            }
            #expect(Array(buffer.scalars) == array)
            #expect(buffer == TextBuffer(scalars: array))
        }
    }

    @Test func `a copy is independent`() throws {
        let original = TextBuffer("abc")
        var copy = original
        try copy.apply([.insert("x", at: 1)])
        #expect(original.string == "abc")
        #expect(copy.string == "axbc")
    }

    @Test func `operations that do not fit change nothing`() {
        var buffer = TextBuffer("abc")
        let bad: [TextOperations] = [
            [.insert("x", at: 4)], [.insert("x", at: -1)], [.delete(count: 1, at: 3)], [.delete(count: 4, at: 0)],
            [.delete(count: 1, at: -1)], [.delete(count: .max, at: 1)], [.insert("x", at: .max)],
            [.insert("fits", at: 0), .delete(count: 8, at: 0)],
        ]
        for operations in bad {
            #expect(throws: TextError.self) { try buffer.apply(operations) }
            #expect(buffer.string == "abc")
        }
    }

    @Test func `offsets of other units are converted and refused inside a scalar`() throws {
        let buffer = TextBuffer("aé漢😀z")
        let utf8 = [0, 1, 3, 6, 10, 11]
        let utf16 = [0, 1, 2, 3, 5, 6]
        for position in 0...5 {
            #expect(try buffer.position(at: utf8[position], in: .utf8) == position)
            #expect(try buffer.position(at: utf16[position], in: .utf16) == position)
            #expect(try buffer.position(at: position, in: .scalars) == position)
            #expect(try buffer.offset(of: position, in: .utf8) == utf8[position])
            #expect(try buffer.offset(of: position, in: .utf16) == utf16[position])
        }
        for offset in [2, 4, 5, 7, 8, 9] {
            #expect(throws: TextError.positionInsideScalar(offset: offset, unit: .utf8)) {
                try buffer.position(at: offset, in: .utf8)
            }
        }
        #expect(throws: TextError.positionInsideScalar(offset: 4, unit: .utf16)) {
            try buffer.position(at: 4, in: .utf16)
        }
        for offset in [-1, 12] {
            #expect(throws: TextError.self) { try buffer.position(at: offset, in: .utf8) }
            #expect(throws: TextError.self) { try buffer.offset(of: offset, in: .utf8) }
        }
    }

    @Test func `invalid bytes are refused and lone surrogates replaced`() throws {
        for bytes in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE6, 0xBC]] as [[UInt8]] {
            #expect(throws: TextError.malformed("invalid UTF-8")) { try TextBuffer(utf8: bytes) }
        }
        #expect(try TextBuffer(utf8: Array("a\0é\u{FFFD}".utf8)).string == "a\0é\u{FFFD}")
        #expect(TextBuffer(repairingUTF16: [0x61, 0xD83D, 0x62, 0xDE00]).string == "a\u{FFFD}b\u{FFFD}")
    }
}
