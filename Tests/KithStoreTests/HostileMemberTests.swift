import GRDB
import KithCausality
import KithStore
import KithSync
import Synchronization
import TestSupport
import Testing

/// Risk: a member that lies in good form takes away what others show.
///
/// All commits that it names were made: that it names no others is the session's to see to (`ProofTests`).
@Suite struct HostileMemberTests {
    private static let mallory = ReplicaID(high: 9, low: 9)
    private static let device: [UInt8] = [9]
    private static let noteCount = 40

    private final class Clock: Sendable {
        private let milliseconds = Mutex<Int64>(1_700_000_000_000)
        var now: Int64 { milliseconds.withLock { $0 } }
        func pass(days: Int64) { milliseconds.withLock { $0 += days * 86_400_000 } }
    }

    /// A store with notes of its own and of a friend, and two members, who hold all that it knows.
    private struct Victim {
        let clock = Clock()
        let database: DatabaseQueue
        let store: SyncedDatabase

        /// - Parameter hasCounter: whether notes have a counter, whose totals outlive them.
        init(hasCounter: Bool = false, attachmentsFolder: String? = nil) throws {
            database = try DatabaseQueue()
            let views = hasCounter ? ", views INTEGER NOT NULL DEFAULT 0" : ""
            let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, tags TEXT NOT NULL DEFAULT '[]'\(views))"
            try database.write { try $0.execute(sql: sql) }
            let table = TrackedTable("note", sets: ["tags"], counters: hasCounter ? ["views"] : [])
            var options = SyncedDatabase.Options(clock: { [clock] in HybridTimestamp(milliseconds: clock.now) })
            options.attachmentsFolder = attachmentsFolder
            store = try SyncedDatabase(database, tables: [table], options: options)
            let friend = try TestStore(sql: sql, tables: [table])
            try friend.execute("INSERT INTO note (id, title) VALUES (?, 'a friend''s')", [key(1_000)])
            _ = try store.apply(try friend.store.delta(since: VersionVector()))
            try database.write { db in
                for number in 1..<UInt64(noteCount) {
                    try db.execute(
                        sql: "INSERT INTO note (id, title, tags) VALUES (?, ?, '[\"x\"]')",
                        arguments: [key(number), "note \(number)"])
                }
            }
            try store.setMembers([device, [1]])
            // What it had missed until now it may have heard.
            _ = try store.apply(slice(floor: VersionVector([Dot(replica: mallory, sequence: 1)]), rows: .all), from: device)
            try hear()
        }

        /// Both members say that they have everything.
        func hear() throws {
            let vector = try store.vector()
            try store.noteMember(device, replica: mallory, durable: vector)
            try store.noteMember([1], replica: ReplicaID(high: 1, low: 1), durable: vector)
        }

        enum Rows {
            case none
            case all
            case bare
            case deleted
            case untitled
        }

        /// What a member sends that knows all that the store knows, and has made one more commit.
        func slice(floor: VersionVector?, rows: Rows) throws -> Slice {
            var slice = try store.delta(since: VersionVector())
            let next = Head(
                dot: Dot(replica: mallory, sequence: slice.vector[mallory] + 1),
                timestamp: HybridTimestamp(milliseconds: clock.now))
            slice.since = VersionVector()
            slice.vector.join(VersionVector([next.dot]))
            slice.target = (slice.target.filter { $0.dot.replica != mallory } + [next]).sorted { $0.dot < $1.dot }
            slice.listing = floor.map { Listing(after: nil, floor: $0) }
            for index in slice.rows.indices {
                switch rows {
                case .all, .none: break
                case .untitled:
                    let title = slice.tables[0].columns.firstIndex { $0.name == Array("title".utf8) }
                    slice.rows[index].state.cells.removeAll { $0.column == title }
                case .bare: slice.rows[index].state = RowState()
                case .deleted:
                    slice.rows[index].state = RowState(
                        cells: [], tombstones: [Tombstone(dot: next.dot, seen: slice.vector)], context: VersionVector())
                }
            }
            if case .none = rows { slice.rows = [] }
            slice.position = slice.rows.last?.position(in: slice.tables)
            return slice
        }

        var shown: Int { get throws { try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") ?? 0 } } }

        /// All that was taken is in the trash, as it was shown, and says on whose word it went.
        func expectAllInTrash(removedBy device: [UInt8]?) throws {
            #expect(try shown == 0)
            let trash = try store.trash()
            #expect(trash.count == noteCount)
            let first = try #require(trash.first { $0.id == rowID(1) })
            #expect(first.values["title"] == .text("note 1"))
            #expect(first.values["tags"] == .text("[\"x\"]"))
            if let device { #expect(trash.allSatisfy { $0.removedBy == device }) }
        }
    }

    private func next(_ victim: Victim) throws -> VersionVector {
        VersionVector([Dot(replica: Self.mallory, sequence: try victim.store.vector()[Self.mallory] + 1)])
    }

    @Test func `a listing is passed over by a store that was not away, and takes no row`() throws {
        let victim = try Victim()
        #expect(try victim.shown == Self.noteCount)
        guard case .applied = try victim.store.apply(try victim.slice(floor: next(victim), rows: .none), from: Self.device) else {
            return #expect(Bool(false))
        }
        #expect(try victim.shown == Self.noteCount)
        #expect(try victim.store.trash().isEmpty)
        #expect(try victim.store.delta(since: VersionVector([Dot(replica: Self.mallory, sequence: 1)])).listing == nil)
        #expect(try victim.store.verify().problems == [])
    }

    @Test func `who came new and was told a list of deletions that nobody made is heard by the others all the same`() throws {
        let victim = try Victim()
        let newcomer = try TestStore(tables: [TrackedTable("note", sets: ["tags"], counters: ["views"])])
        guard case .applied = try newcomer.store.apply(try victim.slice(floor: next(victim), rows: .none), from: Self.device) else {
            return #expect(Bool(false))
        }
        try newcomer.execute("INSERT INTO note (id, title) VALUES (?, 'from the newcomer')", [key(2_000)])
        let delta = try newcomer.store.delta(since: try victim.store.vector())
        // The one who was lied to says itself what was deleted long ago.
        let listing = try #require(delta.listing)
        #expect(try !victim.store.vector().covers(listing.floor))
        let whole = try newcomer.store.delta(since: VersionVector())
        guard case .applied = try victim.store.apply(whole, from: [1]) else { return #expect(Bool(false)) }
        #expect(try victim.shown == Self.noteCount + 1)
        #expect(try victim.store.trash().isEmpty)
        // From then on it knows what the list was about.
        #expect(try newcomer.store.delta(since: try victim.store.vector()).listing == nil)
        #expect(try victim.store.verify().problems == [])
    }

    @Test func `of a listing whose floor the store knows, absent rows are passed over`() throws {
        let victim = try Victim()
        let known = try victim.store.vector()
        let before = try victim.store.delta(since: VersionVector()).listing
        guard case .applied = try victim.store.apply(try victim.slice(floor: known, rows: .none), from: Self.device) else {
            return #expect(Bool(false))
        }
        #expect(try victim.shown == Self.noteCount)
        #expect(try victim.store.delta(since: VersionVector()).listing == before, "It has collected nothing itself.")
    }

    @Test func `whoever was away takes a listing once, and what goes with it stays in the trash`() throws {
        let victim = try Victim()
        victim.clock.pass(days: 50)
        let slice = try victim.slice(floor: next(victim), rows: .none)
        // The member is heard of before it sends anything.
        try victim.hear()
        guard case .applied = try victim.store.apply(slice, from: Self.device) else { return #expect(Bool(false)) }
        try victim.expectAllInTrash(removedBy: Self.device)
        // Its own edit brings a row back for everybody.
        try victim.store.restore(table: "note", id: rowID(1))
        let row = try victim.database.read { try Row.fetchOne($0, sql: "SELECT title, tags FROM note") }
        #expect(row == ["title": "note 1", "tags": "[\"x\"]"])
        #expect(try victim.store.trash().count == Self.noteCount - 1)
        let other = try TestStore(tables: [TrackedTable("note", sets: ["tags"], counters: ["views"])])
        _ = try other.store.apply(try victim.store.delta(since: VersionVector()))
        #expect(try other.row(rowID(1))?["title"] == "note 1")
        // A second listing needs a reason of its own.
        let again = try victim.slice(floor: next(victim), rows: .none)
        guard case .applied = try victim.store.apply(again, from: Self.device) else { return #expect(Bool(false)) }
        #expect(try victim.shown == 1)
        #expect(try victim.store.verify().problems == [])
        // In the end it leaves the trash.
        victim.clock.pass(days: 31)
        try victim.store.collectGarbage()
        #expect(try victim.store.trash().isEmpty)
        #expect(try victim.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM kith_removed") } == 0)
    }

    @Test func `rows that a member says it holds nothing of stay in the trash with their contents`() throws {
        let victim = try Victim()
        guard case .applied = try victim.store.apply(try victim.slice(floor: nil, rows: .bare), from: Self.device) else {
            return #expect(Bool(false))
        }
        try victim.expectAllInTrash(removedBy: Self.device)
        #expect(try victim.store.emptyTrash() == Self.noteCount)
        #expect(try victim.store.trash().isEmpty)
        #expect(throws: StoreError.self) { try victim.store.restore(table: "note", id: rowID(1)) }
    }

    @Test func `rows that a member deletes without their contents stay in the trash with them`() throws {
        let victim = try Victim()
        guard case .applied = try victim.store.apply(try victim.slice(floor: nil, rows: .deleted), from: Self.device) else {
            return #expect(Bool(false))
        }
        try victim.expectAllInTrash(removedBy: nil)
        try victim.store.restore(table: "note", id: rowID(1_000))
        #expect(try victim.database.read { try String.fetchAll($0, sql: "SELECT title FROM note") } == ["a friend's"])
        #expect(try victim.store.verify().problems == [])
    }

    @Test(arguments: [false, true])
    func `what such a row names stays on the disk for as long as the row is in the trash`(isDeleted: Bool) throws {
        let folder = try TemporaryFolder()
        let victim = try Victim(attachmentsFolder: folder.file("files"))
        let id = try victim.store.attach([1, 2, 3])
        try victim.database.write { try $0.execute(sql: "UPDATE note SET title = ? WHERE id = ?", arguments: [id.description, key(1)]) }
        guard case .applied = try victim.store.apply(try victim.slice(floor: nil, rows: isDeleted ? .deleted : .bare), from: Self.device)
        else {
            return #expect(Bool(false))
        }
        try victim.hear()
        #expect(try victim.shown == 0 && victim.store.trash().contains { $0.values["title"] == .text(id.description) })
        for _ in 0..<25 {
            try victim.store.collectAttachments()
            victim.clock.pass(days: 1)
        }
        try victim.store.restore(table: "note", id: rowID(1))
        if case .present = victim.store.attachmentState(id) {} else { #expect(Bool(false), "It is gone.") }
    }

    @Test func `a row that went, came back and is deleted is in the trash as it was at last`() throws {
        let victim = try Victim()
        guard case .applied = try victim.store.apply(try victim.slice(floor: nil, rows: .bare), from: Self.device) else {
            return #expect(Bool(false))
        }
        try victim.database.write { try $0.execute(sql: "INSERT INTO note (id, title) VALUES (?, 'again')", arguments: [key(1)]) }
        victim.clock.pass(days: 1)
        try victim.database.write { try $0.execute(sql: "DELETE FROM note WHERE id = ?", arguments: [key(1)]) }
        #expect(try victim.store.trash().first { $0.id == rowID(1) }?.values["title"] == .text("again"))
        try victim.store.restore(table: "note", id: rowID(1))
        #expect(try victim.database.read { try String.fetchAll($0, sql: "SELECT title FROM note") } == ["again"])
    }

    @Test func `of a row that goes the trash shows what was shown and not an older value that stood beside it`() throws {
        let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, tags TEXT NOT NULL DEFAULT '[]')"
        let table = TrackedTable("note", sets: ["tags"], deletePolicy: .deleteWins)
        let (notes, other) = (try TestStore(sql: sql, tables: [table]), try TestStore(sql: sql, tables: [table]))
        try other.execute("INSERT INTO note (id, title) VALUES (?, 'older')", [key(1)])
        // Its clock goes on with each commit.
        for number: UInt64 in 2...4 { try notes.execute("INSERT INTO note (id) VALUES (?)", [key(number)]) }
        try notes.execute("INSERT INTO note (id, title) VALUES (?, 'newer')", [key(1)])
        _ = try notes.store.apply(try other.store.delta(since: VersionVector()))
        #expect(try notes.row(rowID(1))?["title"] == "newer")
        var slice = try notes.store.delta(since: VersionVector())
        let next = Head(dot: Dot(replica: Self.mallory, sequence: 1), timestamp: slice.clock)
        // The member says that it knows the one value, not the other, and holds neither.
        let theirs = try other.store.summary().replica
        slice.vector = VersionVector(slice.vector.entries.filter { $0.replica != theirs } + [next.dot])
        slice.target = (slice.target.filter { $0.dot.replica != theirs } + [next]).sorted { $0.dot < $1.dot }
        slice.rows = Array(slice.rows.prefix(1))
        slice.position = slice.rows[0].position(in: slice.tables)
        slice.rows[0].state = RowState(
            cells: [], tombstones: [Tombstone(dot: next.dot, seen: slice.vector)], context: VersionVector())
        guard case .applied = try notes.store.apply(slice, from: Self.device) else { return #expect(Bool(false)) }
        #expect(try notes.row(rowID(1)) == nil)
        let trash = try notes.store.trash()
        #expect(trash.map { $0.values["title"] } == [.text("newer")])
    }

    @Test func `a cell that a member leaves out without writing it anew is shown still`() throws {
        let victim = try Victim()
        guard case .applied = try victim.store.apply(try victim.slice(floor: nil, rows: .untitled), from: Self.device) else {
            return #expect(Bool(false))
        }
        #expect(
            try victim.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note WHERE title NOT NULL") } == Self.noteCount)
        #expect(try victim.store.verify().problems == [])
    }

    @Test func `rows with counters, which nobody can collect, are written anew and lose nothing`() throws {
        let victim = try Victim(hasCounter: true)
        guard case .applied = try victim.store.apply(try victim.slice(floor: nil, rows: .bare), from: Self.device) else {
            return #expect(Bool(false))
        }
        #expect(try victim.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note WHERE title NOT NULL") } == Self.noteCount)
        #expect(try victim.store.verify().problems == [])
    }

    // MARK: Knowing more than one brings

    @Test func `a row of which a member says it knows commits that never come differs for a week, and then is the same everywhere`() throws
    {
        let clock = Clock()
        let notes = try (0..<2).map { _ in
            let database = try DatabaseQueue()
            try database.write { try $0.execute(sql: "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT)") }
            let options = SyncedDatabase.Options(clock: { HybridTimestamp(milliseconds: clock.now) })
            return (database: database, store: try SyncedDatabase(database, tables: [TrackedTable("note")], options: options))
        }
        let (desk, laptop) = (notes[0], notes[1])
        func titles() throws -> [String?] {
            try notes.map { note in try note.database.read { try String.fetchOne($0, sql: "SELECT title FROM note") } }
        }
        func meet() throws {
            let sessions = try SessionPair(desk.store, laptop.store)
            try sessions.wait(seconds: 60)
            #expect(sessions.closings.isEmpty)
        }
        try laptop.database.write { try $0.execute(sql: "INSERT INTO note VALUES (?, 'milk')", arguments: [key(1)]) }
        try meet()
        try laptop.database.write { try $0.execute(sql: "UPDATE note SET title = 'bread'") }
        // The member sends the row as it was, says that it knows of the change, and of a commit of its own, which it never sends.
        var slice = try desk.store.delta(since: VersionVector())
        let own = Head(dot: Dot(replica: Self.mallory, sequence: 1), timestamp: slice.clock)
        let heads = try laptop.store.summary().heads + [own]
        slice.isLast = false
        slice.vector = VersionVector(heads.map(\.dot))
        slice.target = heads.sorted { $0.dot < $1.dot }
        slice.position = slice.rows[0].position(in: slice.tables)
        guard case .applied = try desk.store.apply(slice, from: Self.device) else { return #expect(Bool(false)) }
        try meet()
        #expect(try titles()[0] != titles()[1])
        clock.pass(days: 6)
        try meet()
        #expect(try titles()[0] != titles()[1])
        clock.pass(days: 2)
        try meet()
        let shown = try titles()
        #expect(shown == ["bread", "bread"])
        // What is written from then on goes to everybody.
        try laptop.database.write { try $0.execute(sql: "UPDATE note SET title = 'butter'") }
        try meet()
        #expect(try titles() == ["butter", "butter"])
        for note in notes { #expect(try note.store.verify().problems == []) }
        #expect(try desk.store.recomputedDigest() == laptop.store.recomputedDigest())
    }
}
