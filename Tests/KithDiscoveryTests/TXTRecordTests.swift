import TestSupport
import Testing

@testable import KithDiscovery

@Suite("TXT records from the network are read within limits, or refused")
struct TXTRecordTests {
    @Test func `what is written is read back, with keys in lower case and in order`() throws {
        var record = TXTRecord()
        try record.set("Zeta", to: [0, 255, 61])
        try record.set("v", to: [0x31])
        try record.set("empty", to: [])
        try record.set("V", to: [0x32])
        #expect(record.entries.map(\.key) == ["empty", "v", "zeta"])
        #expect(record["v"] == [0x32])
        #expect(record["ZETA"] == [0, 255, 61])
        #expect(record["absent"] == nil)
        #expect(try TXTRecord(wire: record.wire) == record)
    }

    @Test func `a record without entries is one empty string, and both forms of nothing are read`() throws {
        #expect(TXTRecord().wire == [0])
        #expect(try TXTRecord(wire: [0]) == TXTRecord())
        #expect(try TXTRecord(wire: []) == TXTRecord())
    }

    @Test func `the first of equal keys counts; strings without a usable key are skipped (RFC 6763, 6.4)`() throws {
        let strings: [[UInt8]] = [
            Array("v=1".utf8), Array("V=2".utf8), Array("=x".utf8), Array("k\u{E9}=1".utf8), Array("flag".utf8), Array("a=b=c".utf8),
        ]
        let record = try TXTRecord(wire: strings.flatMap { [UInt8($0.count)] + $0 })
        #expect(record.entries.map(\.key) == ["a", "flag", "v"])
        #expect(record["v"] == Array("1".utf8))
        #expect(record["flag"] == [])
        #expect(record["a"] == Array("b=c".utf8))
    }

    @Test func `an entry of 255 bytes is written, one of 256 refused, and a refusal changes nothing`() throws {
        var record = TXTRecord()
        try record.set("k", to: [UInt8](repeating: 1, count: TXTRecord.entryBytesMax - 2))
        #expect(try TXTRecord(wire: record.wire) == record)
        let before = record
        #expect(throws: DiscoveryError.textTooLong(bytes: 256, limit: 255)) {
            try record.set("k", to: [UInt8](repeating: 1, count: TXTRecord.entryBytesMax - 1))
        }
        #expect(record == before)
    }

    @Test func `a record of 1300 bytes is written and read, one of 1301 is neither`() throws {
        var record = TXTRecord()
        for index in 0..<5 { try record.set("k\(index)", to: [UInt8](repeating: 1, count: 252)) }
        #expect(record.wire.count == 5 * 256)
        try record.set("last", to: [UInt8](repeating: 1, count: 14))
        #expect(record.wire.count == TXTRecord.bytesMax)
        #expect(try TXTRecord(wire: record.wire) == record)
        #expect(throws: DiscoveryError.textTooLong(bytes: 1301, limit: 1300)) {
            try record.set("last", to: [UInt8](repeating: 1, count: 15))
        }
        #expect(throws: DiscoveryError.textTooLong(bytes: 1301, limit: 1300)) { try TXTRecord(wire: record.wire + [0]) }
    }

    @Test(arguments: ["", "a=b", "k\u{E9}", "a\nb"]) func `a key must be printable ASCII without an equals sign`(key: String) {
        #expect(throws: DiscoveryError.invalidTextKey(key)) {
            var record = TXTRecord()
            try record.set(key, to: [])
        }
    }

    @Test func `a string that reaches past the end is refused`() {
        #expect(throws: DiscoveryError.malformedText) { try TXTRecord(wire: [5, 0x61, 0x3D]) }
    }

    @Test func `100,000 random records are read or refused, and what is read can be written again`() throws {
        var generator = SplitMix64(seed: 2)
        var read = 0
        for _ in 0..<100_000 {
            let wire = generator.bytes(Int.random(in: 0...24, using: &generator)).map { Bool.random(using: &generator) ? $0 & 0x07 : $0 }
            guard let record = try? TXTRecord(wire: wire) else { continue }
            read += 1
            #expect(try TXTRecord(wire: record.wire) == record)
        }
        #expect(read > 1000)
    }
}
