import Foundation
import GRDB
import KithCausality
import KithSync
import KithText
import KithTexts
import TestSupport
import Testing

@testable import KithStore

@Suite("A packed history takes more than it should, or cannot be read again")
struct PackedTextTests {
    @Test func `what was compressed comes back, up to the limit`() throws {
        let mixed = (0..<9_999).map { UInt8(truncatingIfNeeded: $0 * $0 >> 3) }
        for bytes in [[], [7], Array("aaaaaaaaab".utf8), [UInt8](repeating: 0, count: 1 << 20), mixed] {
            let small = Compressed.encode(bytes)
            #expect(try Compressed.decode(small, bytesMax: bytes.count) == bytes)
            if !bytes.isEmpty {
                #expect(throws: WireError.limitExceeded("compressed bytes")) { try Compressed.decode(small, bytesMax: bytes.count - 1) }
            }
        }
        #expect(Compressed.encode([UInt8](repeating: 0, count: 1 << 20)).count < 1_100)
    }

    @Test func `bombs and damage are refused before they cost memory`() throws {
        let zeros = Compressed.encode([UInt8](repeating: 0, count: 1 << 20))
        let body = try #require(zeros.count > 3 ? Array(zeros.dropFirst(3)) : nil)
        func claiming(_ size: Int) -> [UInt8] {
            var writer = ByteWriter()
            writer.count(size)
            writer.raw(body)
            return writer.bytes
        }
        #expect(try Compressed.decode(claiming(1 << 20), bytesMax: 1 << 30).count == 1 << 20)
        // Less than it expands to, more, and far more than so few bytes can stand for.
        for size in [0, 1, (1 << 20) - 1, (1 << 20) + 1, 1 << 30] {
            #expect(throws: WireError.self) { try Compressed.decode(claiming(size), bytesMax: 1 << 30) }
        }
        #expect(throws: WireError.self) { try Compressed.decode([], bytesMax: 10) }
        #expect(throws: WireError.self) { try Compressed.decode(zeros + [0], bytesMax: 1 << 30) }
        var random = SplitMix64(seed: 4)
        for _ in 0..<Soak.count(100, soaking: 300) {
            var damaged = zeros
            damaged[Int(random.next() % UInt64(damaged.count))] ^= UInt8(truncatingIfNeeded: random.next() | 1)
            // The checksum tells, unless the bit means nothing.
            let content = try? Compressed.decode(damaged, bytesMax: 1 << 24)
            #expect(content.map { $0.count == 1 << 20 && $0.allSatisfy { $0 == 0 } } ?? true)
        }
    }

    @Test func `chunks are joined as they grow, and no change is lost`() throws {
        let store = try TextStore(1)
        try store.insert("")
        for number in 1...1_000 { try store.save("a line that is typed again and again, the last time with number \(number)") }
        let chunks = try store.count("SELECT count(*) FROM kith_text_chunk")
        #expect(chunks > 0 && chunks <= 6)
        #expect(try store.count("SELECT count(*) FROM kith_text_change") <= TextArchive.unpackedChangesMax)
        #expect(try store.revisions().count == 1_000)
        try store.store.packTexts()
        #expect(try store.count("SELECT count(*) FROM kith_text_chunk") == 1)
        let bytes = try store.count("SELECT sum(length(times) + length(graph) + length(body)) FROM kith_text_chunk")
        #expect(bytes < 1_000 * 12)
        try store.expectSound()
    }

    @Test func `chunks that the first version wrote are read, and joined with new ones`() throws {
        let store = try TextStore(1)
        try store.insert("v0")
        for number in 1...20 { try store.save("v\(number)") }
        let before = try store.revisions()
        try store.inner.database.write { db in
            let rows = try Row.fetchAll(
                db, sql: "SELECT first, length, sequence, timestamp, steps, inserted, text FROM kith_text_change ORDER BY first LIMIT 15")
            var headers: [TextChangeHeader] = []
            var operations: [TextOperations] = []
            var times = ByteWriter()
            var previous: UInt64 = 0
            for row in rows {
                let first: Int = row[0]
                headers.append(
                    TextChangeHeader(
                        firstEvent: first, length: row[1],
                        dot: Dot(replica: ReplicaID(high: 0, low: 1), sequence: UInt64(row[2] as Int64)),
                        parents: first == 0 ? [] : [first - 1]))
                operations.append(
                    try TextOperations(steps: Array(row[4] as Data), text: Array(row[5] as Data)))
                let time = UInt64(bitPattern: row[3] as Int64)
                times.signed(Int64(bitPattern: time &- previous))
                previous = time
            }
            try db.execute(
                sql: "INSERT INTO kith_text_chunk (text, first, end, times, graph, body) VALUES (?, 0, ?, ?, ?, ?)",
                arguments: [
                    rows[0][6] as Int64, headers[14].end, Data(times.bytes), Data(try TextChunk.encodeGraph(headers)),
                    Data(TextChunk.encodeBody(operations)),
                ])
            try db.execute(sql: "DELETE FROM kith_text_change WHERE first < ?", arguments: [headers[14].end])
        }
        #expect(try store.revisions() == before)
        #expect(try store.text(at: before[10].version) == "v10")
        try store.expectSound()
        try store.store.packTexts()
        #expect(try store.count("SELECT count(*) FROM kith_text_chunk") == 1)
        #expect(try store.revisions() == before)
        try store.expectSound()
    }

    @Test(arguments: [Int64.max, 1 << 40, 0, -1, .min]) func `a damaged length of a change is refused`(length: Int64) throws {
        let store = try TextStore(1)
        try store.insert("")
        for number in 1...5 { try store.save("v\(number)") }
        try store.inner.database.write { db in
            try db.execute(
                sql: "UPDATE kith_text_change SET length = ? WHERE first = (SELECT min(first) FROM kith_text_change WHERE first > 0)",
                arguments: [length])
        }
        #expect(throws: StoreError.self) { try store.store.packTexts() }
    }

    @Test(arguments: [Int64.max, -1, .min]) func `a damaged number of events is refused`(next: Int64) throws {
        let store = try TextStore(1)
        try store.insert("a")
        try store.save("ab")
        #expect(try store.revisions().count == 2)
        try store.inner.database.write { try $0.execute(sql: "UPDATE kith_text SET next = ?", arguments: [next]) }
        #expect(throws: StoreError.self) { try store.revisions() }
    }
}
