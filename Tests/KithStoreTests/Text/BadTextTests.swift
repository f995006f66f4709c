import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import KithText
import Synchronization
import Testing

@Suite("A bad text stops the store or spoils a good one")
struct BadTextTests {
    static let peer = ReplicaID(high: 9, low: 9)

    static func stamp(_ sequence: UInt64) -> Stamp {
        Stamp(dot: Dot(replica: peer, sequence: sequence), timestamp: HybridTimestamp(milliseconds: 1_700_000_000_000))
    }

    static func change(
        _ sequence: UInt64, parents: [Dot] = [], _ operations: TextOperations
    ) -> TextState.Change {
        TextState.Change(
            stamp: stamp(sequence), parents: parents, steps: operations.encodedSteps, inserted: operations.encodedText)
    }

    /// What a peer sends that wrote these changes into page 1.
    static func slice(_ changes: [TextState.Change], last sequence: UInt64? = nil, to store: TextStore) throws -> Slice {
        let last = Dot(replica: peer, sequence: sequence ?? changes.map(\.stamp.dot.sequence).max() ?? 1)
        let text = TextState(touched: VersionVector([last]), present: [last], changes: changes)
        let since = try store.store.vector()
        return Slice(
            since: since, vector: since.joined(with: VersionVector([last])),
            target: [Head(dot: last, timestamp: stamp(1).timestamp)], clock: stamp(1).timestamp, isFirst: true, isLast: true,
            position: nil, rowsRemaining: 0,
            tables: [TableSchema(name: Array("page".utf8), columns: [ColumnKey("body", .text)])],
            rows: [RowPart(table: 0, id: rowID(1), state: RowState(cells: [.init(column: 0, cell: .text(text))]))])
    }

    private static let unknown = Dot(replica: ReplicaID(high: 7, low: 7), sequence: 7)

    private static let bad: [(String, [TextState.Change], refusals: Int)] = [
        ("a position past the end", [change(1, [.insert("x", at: 99)])], 1),
        ("a deletion of what is not there", [change(1, [.delete(count: 5, at: 0)])], 1),
        ("no operation", [TextState.Change(stamp: stamp(1), parents: [], steps: [], inserted: [])], 1),
        ("bytes that are no operations", [TextState.Change(stamp: stamp(1), parents: [], steps: [0xff, 0xff], inserted: [1])], 1),
        ("a lone surrogate", [TextState.Change(stamp: stamp(1), parents: [], steps: [2, 0], inserted: [0xed, 0xa0, 0x80])], 1),
        ("more text than lengths say", [TextState.Change(stamp: stamp(1), parents: [], steps: [2, 0], inserted: [65, 66])], 1),
        ("less text than lengths say", [TextState.Change(stamp: stamp(1), parents: [], steps: [4, 0], inserted: [65])], 1),
        ("an unknown parent", [change(1, parents: [unknown], [.insert("x", at: 0)])], 1),
        (
            "a circle",
            [
                change(1, parents: [stamp(2).dot], [.insert("x", at: 0)]),
                change(2, parents: [stamp(1).dot], [.insert("y", at: 0)]),
            ], 2
        ),
        (
            "a parent that is an ancestor of another",
            [
                change(1, [.insert("", at: 0), .insert("ab", at: 0), .delete(count: 2, at: 0)]),
                change(2, parents: [stamp(1).dot], [.insert("c", at: 0), .delete(count: 1, at: 0)]),
                change(3, parents: [stamp(1).dot, stamp(2).dot], [.insert("x", at: 0)]),
            ], 1
        ),
        (
            "a change that builds on a refused one",
            [change(1, [.insert("x", at: 99)]), change(2, parents: [stamp(1).dot], [.insert("y", at: 0)])], 2
        ),
    ]

    @Test(arguments: bad.indices) func `a change that cannot be applied is put aside with its author named`(index: Int) throws {
        let (name, changes, refusals) = Self.bad[index]
        let store = try TextStore(1)
        try store.insert("good text")
        let other = try TextStore(2)
        guard case .applied = try store.store.apply(try Self.slice(changes, to: store)) else { throw StoreError(.failed, name) }
        #expect(try store.body() == "good text")
        let refused = try store.store.refusedTextChanges()
        #expect(refused.count == refusals, "\(name)")
        #expect(refused.allSatisfy { $0.table == "page" && $0.column == "body" && $0.dot.replica == Self.peer })
        try store.expectSound()
        // The text goes on, and others come to the same judgement.
        try store.save("good text, edited")
        try other.receive(from: store)
        #expect(try other.body() == "good text, edited")
        #expect(try other.store.refusedTextChanges() == refused)
        try other.expectSound()
    }

    @Test func `a change whose parent comes later is applied when it comes`() throws {
        let store = try TextStore(1)
        try store.insert("")
        let first = Self.change(1, [.insert("first", at: 0)])
        let second = Self.change(2, parents: [Self.stamp(1).dot], [.insert(" second", at: 5)])
        _ = try store.store.apply(try Self.slice([second], to: store))
        #expect(try store.store.refusedTextChanges().map(\.reason) == [nil])
        // Every commit is accounted for before the text changes.
        try store.store.noteDigest()
        _ = try store.store.apply(try Self.slice([first], last: 2, to: store))
        #expect(try store.body() == "first second")
        #expect(try store.store.refusedTextChanges().isEmpty)
        try store.expectSound()
        #expect(try store.store.advanceDigest().tampered.isEmpty)
    }

    @Test func `what waits for what waits is applied with it, and nothing else is read`() throws {
        let store = try TextStore(1)
        try store.insert("")
        // A chain whose first change is missing, and changes that wait for something that never comes.
        let chain = (2...9 as ClosedRange<UInt64>).map { number in
            Self.change(number, parents: [Self.stamp(number - 1).dot], [.insert("\(number)", at: Int(number) - 1)])
        }
        let stuck = (20...29 as ClosedRange<UInt64>).map { Self.change($0, parents: [Self.unknown], [.insert("x", at: 0)]) }
        _ = try store.store.apply(try Self.slice(chain + stuck, to: store))
        #expect(try store.store.refusedTextChanges().count == 18)
        // What cannot be read is noticed only where it is read.
        try store.inner.execute("UPDATE kith_text_aside SET change = x'ff' WHERE sequence >= 20")
        _ = try store.store.apply(try Self.slice([Self.change(1, [.insert("1", at: 0)])], last: 29, to: store))
        #expect(try store.body() == "123456789")
        #expect(try store.store.refusedTextChanges().map(\.dot.sequence).sorted() == Array(20...29))
        try store.save("123456789!")
    }

    @Test func `a text that many changes made at once can be edited, by one change that joins them`() throws {
        let store = try TextStore(1)
        try store.insert("")
        let many = (1...5_000 as ClosedRange<UInt64>).map { Self.change($0, [.insert("x", at: 0)]) }
        _ = try store.store.apply(try Self.slice(many, to: store))
        let body = try #require(try store.body())
        #expect(body.count == 5_000)
        try store.save(body + "!")
        let other = try TextStore(2)
        // A peer takes a change with as many parents.
        #expect(try SessionPair(store.store, other.store).closings.isEmpty)
        #expect(try other.body() == body + "!")
        #expect(try other.store.digest() == store.store.digest())
        try other.save("over")
        try store.receive(from: other)
        #expect(try store.body() == "over")
        try store.expectSound()
    }

    @Test func `many changes that come to a text with a long history cost no search of it each`() throws {
        let store = try TextStore(1)
        try store.insert("")
        func insertions(_ sequences: ClosedRange<UInt64>) -> [TextState.Change] {
            sequences.map { Self.change($0, [.insert("x", at: 0)]) }
        }
        _ = try store.store.apply(try Self.slice(insertions(1...2_000), to: store))
        let reads = Mutex(0)
        store.inner.database.writeWithoutTransaction { database in
            database.trace { if "\($0)".contains("FROM kith_text_c") { reads.withLock { $0 += 1 } } }
        }
        _ = try store.store.apply(try Self.slice(insertions(2_001...4_000), to: store))
        store.inner.database.writeWithoutTransaction { $0.trace() }
        // Pages of 64 changes, packed ones many at once, are read a few times over, whatever comes.
        #expect(reads.withLock(\.self) < 300)
        #expect(try store.body()?.count == 4_000)
        // Changes that are there already, and some that are not, in any order.
        let again = insertions(3_990...4_010).shuffled()
        _ = try store.store.apply(try Self.slice(again, to: store))
        #expect(try store.body()?.count == 4_010)
        try store.expectSound()
    }

    @Test func `restarts that wait for restarts are taken a portion at each arrival`() throws {
        let store = try TextStore(1)
        try store.insert("")
        // Each names the one before and one that never comes.
        let restarts = (1...200 as ClosedRange<UInt64>).map { number in
            var change = Self.change(
                number, parents: ((number > 1 ? [Self.stamp(number - 1).dot] : []) + [Self.unknown]).sorted(),
                [.delete(count: 1, at: 0), .insert("r", at: 0)])
            change.replacedScalars = 1
            return change
        }
        _ = try store.store.apply(try Self.slice(restarts, to: store))
        #expect(try store.body() == "r")
        let left = try store.store.refusedTextChanges().count
        #expect(left > 0 && left < 200)
        _ = try store.store.apply(try Self.slice([Self.change(201, [.insert("x", at: 0)])], to: store))
        #expect(try store.store.refusedTextChanges().count < left)
        #expect(try ["xr", "rx"].contains(store.body()))
        try store.expectSound()
    }

    @Test func `a text that a peer calls NULL is shown all the same`() throws {
        let store = try TextStore(1)
        try store.insert("")
        var slice = try Self.slice([Self.change(1, [.insert("text", at: 0)])], to: store)
        guard case .text(var text)? = slice.rows[0].state[0] else { return }
        text.present = []
        slice.rows[0].state[0] = .text(text)
        _ = try store.store.apply(slice)
        #expect(try store.body() == "text")
        try store.save("text!")
        try store.expectSound()
    }

    @Test func `good changes beside a bad one are applied`() throws {
        let store = try TextStore(1)
        try store.insert("text")
        let changes = [Self.change(1, [.insert("good ", at: 0)]), Self.change(2, [.insert("bad", at: 50)])]
        _ = try store.store.apply(try Self.slice(changes, to: store))
        #expect(["good text", "textgood "].contains(try store.body()))
        #expect(try store.store.refusedTextChanges().count == 1)
        try store.expectSound()
    }

    @Test func `a value that is no text is refused with the reason, and nothing is written`() throws {
        let store = try TextStore(1)
        try store.insert("kept")
        let sequence = try store.inner.sequence()
        let tooLong = "CAST(zeroblob(\(TextLimits.textScalarsMax + 1)) AS TEXT)"
        for value in ["x'ff'", "CAST(x'6162ff' AS TEXT)", "CAST(x'eda080' AS TEXT)", tooLong] {
            let error = #expect(throws: DatabaseError.self) { try store.inner.execute("UPDATE page SET body = \(value)") }
            #expect(error?.message?.contains("is a text: it holds NULL or") == true)
            #expect(throws: DatabaseError.self) { try store.inner.execute("INSERT INTO page (id, body) VALUES (?, \(value))", [key(2)]) }
        }
        #expect(try store.body() == "kept")
        #expect(try store.inner.sequence() == sequence)
        try store.expectSound()
    }

    @Test func `Unicode is kept scalar for scalar`() throws {
        let texts = [
            "\u{FEFF}BOM first", "CR LF\r\nand LF\n", "NUL \u{0} inside", "e\u{301} is not é", "é", "각 \u{1100}\u{1161}\u{11A8}",
            "🇩🇪🇫🇷", "👩🏽‍🚀", "\u{FFFD}", "no newline", "", "\u{202E}right to left",
        ]
        let pair = try TextPair(texts[0])
        for (index, text) in texts.enumerated() {
            try (index % 2 == 0 ? pair.a : pair.b).save(text)
            let merged = try #require(try pair.meet())
            #expect(Array(merged.utf8) == Array(text.utf8))
        }
        let revisions = try pair.b.revisions()
        #expect(try revisions.contains { Array(try pair.b.text(at: $0.version).utf8) == Array(texts[3].utf8) })
    }
}
