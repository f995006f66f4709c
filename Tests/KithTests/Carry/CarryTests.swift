import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import KithTrust
import TestSupport
import Testing

@testable import Kith

/// Machines that never meet, and sticks that go between them.
@Suite("Changes that are carried by hand are lost, taken twice, or taken out of order")
struct CarryTests {
    private let stick: TemporaryFolder

    init() throws {
        stick = try TemporaryFolder()
    }

    private func householdOf(_ count: Int) throws -> [CarryHome] { try CarryHome.household(count) }

    @Test func `two homes that meet by a folder alone have the same, and each file brings only what is lacking`() throws {
        let homes = try householdOf(2)
        let (a, b) = (homes[0], homes[1])
        for index in 0..<20 { try a.add("a\(index)") }
        for index in 0..<5 { try b.add("b\(index)") }
        let first = try a.carryOut(stick.path)
        #expect(first.rows == 20 && first.isWhole)
        #expect(try b.carryIn(stick.path) == [.taken])
        // What b has read it says in its own file.
        let back = try b.carryOut(stick.path)
        #expect(try Set(a.carryIn(stick.path)) == [.own, .taken])
        #expect(try a.titles() == b.titles() && a.titles().count == 25)
        #expect(back.isWhole == false && back.rows == 5)
        // So a sends nothing that b has, and knows that it is safe there.
        try a.add("later")
        let second = try a.carryOut(stick.path)
        #expect(second.rows == 1 && !second.isWhole && second.path == first.path)
        #expect(try a.store.safety(among: a.trust.devices).holders.isEmpty)
        #expect(try Set(b.carryIn(stick.path)) == [.own, .taken])
        #expect(try Set(b.carryIn(stick.path)) == [.own, .nothingNew])
        try b.carryOut(stick.path)
        #expect(try Set(a.carryIn(stick.path)) == [.own, .nothingNew])
        #expect(try a.store.safety(among: a.trust.devices).holders.map(\.name) == ["home1"])
        #expect(try a.carryOut(stick.path).rows == 0)
    }

    @Test func `a row that is larger than a frame is left out of the file and named, and goes once it is smaller`() throws {
        let homes = try householdOf(3)
        let (a, b, c) = (homes[0], homes[1], homes[2])
        try a.add("large")
        try a.carryOut(stick.path)
        try b.carryIn(stick.path)
        // Each writes less than a frame carries, and both together more.
        let id = try a.node.database.read { try Data.fetchOne($0, sql: "SELECT id FROM note") }
        let large = String(repeating: "7", count: 60 << 20)
        try a.node.database.write { try $0.execute(sql: "UPDATE note SET title = ?", arguments: [large]) }
        try b.node.database.write { try $0.execute(sql: "UPDATE note SET picture = ?", arguments: [Data(large.utf8)]) }
        try #expect(a.carryOut(stick.path).withheld == [])
        try b.carryIn(stick.path)
        try b.add("small")
        let written = try b.carryOut(stick.path, to: c)
        let row = try #require(id.flatMap { RowID(bytes: Array($0)) })
        // The small row is in the file twice if its id is the lower one, and counts once.
        #expect(written.withheld == ["note \(row)"] && written.rows == 1, "\(written.rows)")
        try c.carryIn(written.path)
        #expect(try c.titles() == ["small"])
        try b.node.database.write { try $0.execute(sql: "UPDATE note SET picture = NULL, title = 'large' WHERE title <> 'small'") }
        let whole = try b.carryOut(stick.path, to: c)
        #expect(whole.withheld == [] && whole.rows == 2)
        try c.carryIn(whole.path)
        #expect(try Set(c.titles()) == ["large", "small"])
    }

    @Test func `three homes with different sticks come to the same`() throws {
        let homes = try householdOf(3)
        let sticks = try (0..<3).map { _ in try TemporaryFolder() }
        var random = SplitMix64(seed: Soak.firstSeed)
        for round in 0..<Soak.count(15, soaking: 300) {
            let home = homes[Int.random(in: 0..<3, using: &random)]
            let place = sticks[Int.random(in: 0..<3, using: &random)]
            switch Int.random(in: 0..<3, using: &random) {
            case 0: try home.add("round \(round)")
            case 1: try home.carryOut(place.path, to: Bool.random(using: &random) ? homes.first { $0.node !== home.node } : nil)
            default:
                do {
                    let outcomes = try home.carryIn(place.path)
                    #expect(!outcomes.contains(.refused) && !outcomes.contains(.notForUs))
                } catch let error as CarryError {
                    #expect(error.code == .notFound)
                }
            }
        }
        // A last round with one stick.
        for _ in 0..<2 {
            for home in homes {
                _ = try? home.carryIn(stick.path)
                try home.carryOut(stick.path)
            }
        }
        for home in homes { try home.carryIn(stick.path) }
        #expect(try homes[0].titles() == homes[1].titles() && homes[1].titles() == homes[2].titles())
        let digests = try homes.map { try $0.store.recomputedDigest() }
        #expect(digests[0] == digests[1] && digests[1] == digests[2])
        #expect(try homes.allSatisfy { try $0.store.verify().isSound })
    }

    @Test func `a file that goes on from another one waits for it, in whatever order they are read`() throws {
        let homes = try householdOf(2)
        let (a, b) = (homes[0], homes[1])
        try a.add("one")
        let early = stick.file("z-early.kithcarry")
        try a.carryOut(early)
        // As if b had read it and said so: the next file goes on from there.
        try a.store.noteMember(
            b.node.key.id.bytes, replica: ReplicaID(high: 1, low: 2), vector: a.store.vector(), durable: a.store.vector(),
            madeMilliseconds: .max)
        try a.add("two")
        let late = stick.file("a-late.kithcarry")
        #expect(try a.carryOut(late).rows == 1)
        _ = try b.carrier.prepare()
        let before = try b.state()
        #expect(try b.carrier.read(late).map(\.outcome) == [.needsEarlier])
        // The word of a machine counts, whatever becomes of the rows; nothing else has changed.
        #expect(try b.titles().isEmpty && b.state().count == before.count)
        #expect(try b.carryIn(stick.path) == [.taken, .taken])
        #expect(try b.titles() == ["one", "two"])
        #expect(try b.carryIn(early) == [.nothingNew])
        #expect(try b.carryIn(late) == [.nothingNew])
        #expect(try b.titles() == ["one", "two"])
    }

    @Test func `deletions and conflicts are carried like everything else, and an old file revives nothing`() throws {
        let homes = try householdOf(2)
        let (a, b) = (homes[0], homes[1])
        try a.add("goes")
        let old = stick.file("old.kithcarry")
        try a.carryOut(old)
        try b.carryIn(old)
        try b.node.database.write { try $0.execute(sql: "DELETE FROM note") }
        try b.carryOut(stick.file("deleted.kithcarry"))
        try a.carryIn(stick.file("deleted.kithcarry"))
        #expect(try a.titles().isEmpty)
        #expect(try b.carryIn(old) == [.nothingNew])
        #expect(try a.titles().isEmpty && b.titles().isEmpty)
    }

    @Test func `what two homes write into one column stays on both: one value is shown, the other kept`() throws {
        let homes = try householdOf(2)
        let (a, b) = (homes[0], homes[1])
        try a.add("note")
        try a.carryOut(stick.path)
        try b.carryIn(stick.path)
        for (home, title) in [(a, "of a"), (b, "of b")] {
            try home.node.database.write { try $0.execute(sql: "UPDATE note SET title = ?", arguments: [title]) }
        }
        try a.carryOut(stick.path)
        try b.carryIn(stick.path)
        try b.carryOut(stick.path)
        try a.carryIn(stick.path)
        var shown: Set<[String]> = []
        let bytes = try #require(try a.node.database.read { try Data.fetchOne($0, sql: "SELECT id FROM note") })
        let id = try #require(RowID(bytes: [UInt8](bytes)))
        for home in homes {
            let kept = try home.store.alternatives(table: "note", id: id)
            #expect(kept.map(\.column) == ["title"])
            let titles = try home.titles()
            shown.insert(titles)
            #expect(Set(kept.map(\.value) + titles.map { ColumnValue.text($0) }) == [.text("of a"), .text("of b")])
        }
        #expect(shown.count == 1 && shown.first?.count == 1)
        // Decided on one, it is decided on the other.
        try b.node.database.write { try b.store.resolve($0, table: "note", id: id, column: "title", keeping: .text("both")) }
        try b.carryOut(stick.path)
        try a.carryIn(stick.path)
        #expect(try a.titles() == ["both"] && a.store.conflicts().isEmpty && b.store.conflicts().isEmpty)
    }

    @Test func `the bytes of attachments travel along, large ones too, and are known to be held there`() throws {
        let homes = try householdOf(2)
        let (a, b) = (homes[0], homes[1])
        let content = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let id = try a.store.attach(content)
        try a.add("with", file: id)
        let written = try a.carryOut(stick.path)
        #expect(written.attachments == 1)
        let readings = try b.carrier.read(stick.path)
        #expect(readings.map(\.attachments) == [1])
        guard case .present(let file) = b.store.attachmentState(id) else {
            Issue.record("it is not there")
            return
        }
        #expect(try Array(Data(contentsOf: file.url)) == content)
        try b.carryOut(stick.path)
        try a.carryIn(stick.path)
        #expect(try a.store.safety(among: a.trust.devices).holders.map(\.name) == ["home1"])
        #expect(try a.carryOut(stick.path).attachments == 0)
        // Everything is everything.
        #expect(try a.carryOut(stick.path, all: true).attachments == 1)
    }

    @Test func `a file for one machine helps another that knows enough`() throws {
        let homes = try householdOf(3)
        try homes[0].add("for all")
        let written = try homes[0].carryOut(stick.path, to: homes[1])
        #expect(written.path.contains("-to-"))
        #expect(try homes[2].carryIn(stick.path) == [.taken])
        #expect(try homes[2].titles() == ["for all"])
    }

    @Test func `a store that was set back takes in its own file, and what it lost`() throws {
        let homes = try householdOf(2)
        let a = homes[0]
        try a.add("kept")
        let backup = try TemporaryFolder()
        let copy = try DatabaseQueue(path: backup.file("copy.sqlite"))
        try a.node.database.backup(to: copy)
        try copy.close()
        try a.add("lost")
        try a.carryOut(stick.path)
        let restored = try DatabasePool(path: backup.file("copy.sqlite"))
        let store = try SyncedDatabase(restored, tables: [TrackedTable("note", attachments: ["file"])])
        defer { store.close() }
        #expect(try a.carrier(on: store).read(stick.path).map(\.outcome) == [.taken])
        #expect(try restored.read { try String.fetchAll($0, sql: "SELECT title FROM note ORDER BY title") } == ["kept", "lost"])
    }

    @Test func `a node of the same store proves and passes on what another process has carried in`() throws {
        let homes = try householdOf(3)
        let (a, b, c) = (homes[0], homes[1], homes[2])
        try a.add("carried")
        try a.carryOut(stick.path)
        // The node of b speaks for the store before, as another process.
        _ = try b.store.bind(to: NodeAuthority(b.node.key, b.trust))
        _ = try b.store.summary()
        let other = try DatabasePool(path: b.node.database.path)
        let store = try SyncedDatabase(other, tables: [TrackedTable("note", attachments: ["file"])])
        #expect(try b.carrier(on: store).read(stick.path).map(\.outcome) == [.taken])
        store.close()
        try other.close()
        try b.carryOut(stick.path)
        #expect(try Set(c.carryIn(stick.path)).isSubset(of: [.taken, .nothingNew]))
        #expect(try c.titles() == ["carried"])
    }
}
