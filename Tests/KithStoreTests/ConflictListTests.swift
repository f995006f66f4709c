import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("A conflict is not seen")
struct ConflictListTests {
    /// Two stores that have written title and color of a note apart, and met; the first has nine notes more.
    private static func pair(_ backend: Backend = .memory) throws -> (TestStore, TestStore) {
        let (first, second) = (try TestStore(backend), try TestStore(backend))
        for number: UInt64 in 1...10 { try first.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(number)]) }
        try second.receive(from: first)
        try first.execute("UPDATE note SET title = 'first', color = 1, tags = '[\"x\"]', views = 1 WHERE id = ?", [key(3)])
        // Its clock is ahead, so that what it writes is shown.
        for _ in 0..<40 { try second.execute("UPDATE note SET views = views + 1") }
        try second.execute("UPDATE note SET title = 'second', color = 2, tags = '[\"y\"]', views = 2 WHERE id = ?", [key(3)])
        try meet(first, second)
        return (first, second)
    }

    private static func meet(_ first: TestStore, _ second: TestStore) throws {
        try first.receive(from: second)
        try second.receive(from: first)
    }

    @Test(arguments: Backend.allCases)
    func `every cell with alternatives is listed with all versions, who wrote each, and when`(backend: Backend) throws {
        let (first, second) = try Self.pair(backend)
        #expect(try TestStore().store.conflicts().isEmpty)
        let (mine, theirs) = (try first.store.summary().replica, try second.store.summary().replica)
        #expect(try first.store.conflicts().flatMap { $0.versions.map(\.author) } == [.unknown, .own, .unknown, .own])
        try first.store.setMembers([[7]])
        try first.store.noteMember([7], replica: theirs, durable: VersionVector())

        let conflicts = try first.store.conflicts()
        #expect(conflicts.map(\.column) == ["color", "title"])
        for conflict in conflicts {
            #expect(conflict.kind == .value && conflict.table == "note" && conflict.row == rowID(3))
            #expect(conflict.versions.map(\.author) == [.device([7]), .own])
            #expect(conflict.versions.map(\.stamp.dot.replica) == [theirs, mine])
            #expect(conflict.versions.allSatisfy { $0.stamp.timestamp.milliseconds > 1_700_000_000_000 })
        }
        #expect(conflicts.map { $0.versions.map(\.value) } == [[.integer(2), .integer(1)], [.text("second"), .text("first")]])
        #expect(try first.store.conflicts(table: "note", id: rowID(3)).map(\.column) == ["title", "color"])
        #expect(try first.store.conflicts(table: "note", id: rowID(4)).isEmpty)
        #expect(try second.store.conflicts().map { $0.versions.map(\.value) } == conflicts.map { $0.versions.map(\.value) })
        try first.expectSound()
    }

    @Test(arguments: Backend.allCases)
    func `they are listed within an access, an observation and a transaction that ends them`(backend: Backend) throws {
        let (first, second) = try Self.pair(backend)
        #expect(try first.database.read { try first.store.conflicts($0) } == first.store.conflicts())
        try first.database.write { db in
            for conflict in try first.store.conflicts(db) {
                try first.store.resolve(
                    db, table: conflict.table, id: conflict.row, column: conflict.column, keeping: conflict.versions[1].value)
            }
            #expect(try first.store.conflicts(db).isEmpty)
        }
        try second.receive(from: first)
        for store in [first, second] {
            #expect(try store.store.conflicts().isEmpty)
            #expect(try store.row(rowID(3))?["title"] == "first")
            try store.expectSound()
        }
    }

    @Test func `a value that several wrote is one version, and what all wrote alike is no conflict`() throws {
        let (first, second) = try Self.pair()
        try first.execute("UPDATE note SET title = 'same' WHERE id = ?", [key(5)])
        try second.execute("UPDATE note SET title = 'same' WHERE id = ?", [key(5)])
        try Self.meet(first, second)
        #expect(try first.store.alternatives(table: "note", id: rowID(5)).isEmpty)
        #expect(try first.store.conflicts(table: "note", id: rowID(5)).isEmpty)
        #expect(try first.store.conflicts().allSatisfy { $0.row == rowID(3) })
    }

    @Test func `a deleted row has none; one that a deletion did not see is listed again`() throws {
        let (first, second) = try Self.pair()
        try first.execute("DELETE FROM note WHERE id = ?", [key(3)])
        #expect(try first.store.conflicts().isEmpty)
        try first.store.collectGarbage()
        try second.execute("UPDATE note SET title = 'third' WHERE id = ?", [key(3)])
        try Self.meet(first, second)
        #expect(try first.store.conflicts().map(\.versions.count) == second.store.conflicts().map(\.versions.count))
        #expect(try !first.store.conflicts().isEmpty)
        for store in [first, second] { try store.expectSound() }
    }

    @Test(arguments: [Backend.queue, .pool])
    func `they are found when the file is opened again, and after VACUUM has moved the rows`(backend: Backend) throws {
        let (first, _) = try Self.pair(backend)
        let before = try first.store.conflicts()
        try first.execute("DELETE FROM note WHERE id < ?", [key(3)])
        try first.database.vacuum()
        #expect(try first.database.read { try first.store.conflicts($0) }.map(\.versions) == before.map(\.versions))
        first.store.close()
        let again = try TestStore(backend, folder: first.folder)
        #expect(try again.store.conflicts().map(\.column) == before.map(\.column))
        try again.expectSound()
    }

    @Test func `a device is known under all replicas that it was`() throws {
        let (first, second) = try Self.pair()
        let old = try second.store.summary().replica
        try first.store.setMembers([[7]])
        try first.store.noteMember([7], replica: old, durable: VersionVector())
        let new = try second.store.renewIdentity(from: old).replica
        try first.store.noteMember([7], replica: new, durable: VersionVector())
        try first.store.noteMember([8], replica: ReplicaID(high: 1, low: 2), durable: VersionVector())
        let authors = try first.store.authors()
        #expect(authors[old] == .device([7]) && authors[new] == .device([7]))
        #expect(authors[ReplicaID(high: 1, low: 2)] == .unknown)
        #expect(try second.store.authors()[old] == .unknown)
    }
}
