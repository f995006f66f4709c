import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("A live list passes over what another process has done", .timeLimit(.minutes(3)))
struct LiveListProcessTests {
    private typealias Item = LiveListTests.Item

    /// A store, and what a second process has open of the same file.
    private struct Pair {
        let here: TestStore
        let pool: DatabasePool
        let sibling: SyncedDatabase

        init(sql: String = LiveListTests.sql, tables: [TrackedTable] = [TrackedTable("item"), TrackedTable("other")]) throws {
            here = try TestStore(.pool, sql: sql, tables: tables)
            pool = try DatabasePool(path: here.path)
            sibling = try SyncedDatabase(pool, tables: tables, options: TestStore.options())
        }

        func receive(from other: TestStore) throws {
            guard case .applied = try sibling.apply(try other.store.delta(since: try sibling.vector())) else {
                throw StoreError(.failed, "refused")
            }
        }
    }

    private func insert(_ title: String, _ database: any DatabaseWriter, parent: UUID? = nil) throws -> UUID {
        let id = UUID()
        try database.write { try Item(id: id, title: title, shop: nil, place: 0, parent: parent).insert($0) }
        return id
    }

    @Test func `a commit of another process counts although one of this process came after it`() throws {
        let pair = try Pair()
        let there = try LiveListTests.store()
        let list = SteppedLiveChanges(pair.here.store, Item.order(Column("title")))
        _ = try list.next()
        _ = try insert("a", pair.pool)
        _ = try insert("b", pair.here.database)
        let both = try #require(try list.next())
        #expect(both.rows.map(\.title) == ["a", "b"] && both.origins == [.here, .otherProcess])
        _ = try insert("c", pair.pool)
        _ = try insert("d", there.database)
        try pair.here.receive(from: there)
        let all = try #require(try list.next())
        #expect(all.rows.map(\.title) == ["a", "b", "c", "d"] && all.origins == [.otherProcess, .device(.unknown)])
        pair.sibling.close()
    }

    @Test func `differences lead to what is there, whichever of two processes writes, merges, shows, hides or collects`() throws {
        for seed in Soak.firstSeed..<Soak.firstSeed + UInt64(Soak.count(2, soaking: 300)) {
            var random = SplitMix64(seed: seed)
            let pair = try Pair()
            let there = try LiveListTests.store()
            var ids: [UUID] = []
            var lists = LiveListTests.requests.flatMap { request in
                [pair.here.store, pair.sibling].map { (SteppedLiveChanges($0, request), request, [Item]()) }
            }
            for round in 0..<30 {
                for _ in 0..<random.below(4) + 1 {
                    switch random.below(9) {
                    case 0, 1: try? LiveListTests.write(pair.here.database, &random, &ids)
                    case 2, 3: try? LiveListTests.write(pair.pool, &random, &ids)
                    case 4: try? LiveListTests.write(there.database, &random, &ids)
                    case 5: try pair.here.receive(from: there)
                    case 6: try pair.receive(from: there)
                    case 7: try there.receive(from: pair.here)
                    default:
                        _ = try pair.sibling.emptyTrash()
                        _ = try pair.sibling.collectGarbage(acknowledged: [try there.store.vector()])
                    }
                }
                for index in lists.indices where random.chance(40) {
                    let (list, request, before) = lists[index]
                    var items = before
                    if let change = try list.next() { LiveListTests.apply(change.difference, to: &items, fetching: change.rows) }
                    let now = try pair.here.database.read { try request.withStableOrder().fetchAll($0) }
                    #expect(items == now, "seed \(seed), round \(round), list \(index)")
                    lists[index].2 = items
                }
            }
            pair.sibling.close()
        }
    }

    @Test func `what another process changes by commits is read row by row, and what it shows or hides without one whole`() throws {
        let pair = try Pair()
        try pair.pool.write { try $0.execute(sql: "CREATE TABLE draft (id INTEGER PRIMARY KEY AUTOINCREMENT)") }
        let there = try LiveListTests.store()
        let ids = try (0..<100).map { try insert("\($0)", pair.here.database) }
        try there.receive(from: pair.here)
        // A replica that is met for the first time changes the catalog.
        _ = try insert("first", there.database)
        try pair.receive(from: there)
        let list = SteppedLiveChanges(pair.here.store, Item.order(Column("place"), Column("title")))
        _ = try list.next()
        func look() throws -> Int {
            let change = try #require(try list.next())
            #expect(
                Array(change.rows)
                    == (try pair.here.database.read { try Item.order(Column("place"), Column("title")).withStableOrder().fetchAll($0) }))
            return list.wholeReads
        }
        try pair.pool.write { try $0.execute(sql: "UPDATE item SET place = 5, title = 'moved' WHERE id = ?", arguments: [ids[7]]) }
        #expect(try look() == 1)
        try pair.pool.write { try $0.execute(sql: "DELETE FROM item WHERE id = ?", arguments: [ids[8]]) }
        #expect(try look() == 1)
        for run in 0..<2 {
            try pair.pool.write { db in
                for number in 0..<16 { try Item(id: UUID(), title: "run \(run) \(number)", shop: nil, place: 1, parent: nil).insert(db) }
            }
            #expect(try look() == 1)
            // The clocks of these rows are read, and the app lets SQLite count from the start.
            _ = try pair.sibling.delta(since: VersionVector())
            try pair.pool.write { try $0.execute(sql: "DELETE FROM sqlite_sequence") }
        }
        try there.execute("UPDATE item SET title = 'theirs' WHERE id = ?", [ids[9]])
        try there.execute("DELETE FROM item WHERE id = ?", [ids[10]])
        _ = try insert("new", there.database)
        try pair.receive(from: there)
        #expect(try look() == 1)
        // A row that came while the one was deleted that it refers to is shown with it, without a commit of its own.
        let parent = try insert("parent", pair.here.database)
        try there.receive(from: pair.here)
        let child = try insert("child", there.database, parent: parent)
        try pair.here.execute("DELETE FROM item WHERE id = ?", [parent])
        try pair.receive(from: there)
        _ = try list.next()
        #expect(try pair.here.database.read { try !Item.exists($0, key: child) })
        let before = list.wholeReads
        try pair.sibling.restore(table: "item", id: RowID(parent))
        #expect(try look() == before + 1)
        #expect(try pair.here.database.read { try Item.exists($0, key: child) })
        pair.sibling.close()
    }

    @Test func `a column that only this device has arrives with the next commit of the process that wrote it`() throws {
        let pair = try Pair(
            sql: LiveListTests.sql + "ALTER TABLE item ADD COLUMN seen INTEGER NOT NULL DEFAULT 0;",
            tables: [TrackedTable("item", localColumns: ["seen"]), TrackedTable("other")])
        let ids = try (0..<40).map { try insert("\($0)", pair.here.database) }
        let list = SteppedLiveChanges(pair.here.store, Item.filter(Column("seen") == 0).order(Column("place")))
        _ = try list.next()
        try pair.pool.write { try $0.execute(sql: "UPDATE item SET seen = 1 WHERE id = ?", arguments: [ids[3]]) }
        try pair.pool.write { try $0.execute(sql: "UPDATE item SET title = 'x' WHERE id = ?", arguments: [ids[4]]) }
        #expect(try list.next()?.rows.count == 39)
        try pair.here.database.write { try $0.execute(sql: "UPDATE item SET seen = 1 WHERE id = ?", arguments: [ids[5]]) }
        #expect(try list.next()?.rows.count == 38)
        #expect(list.wholeReads == 2)
        pair.sibling.close()
    }
}
