import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Observation
import TestSupport
import Testing

@Suite("A live list differs from what a new query shows, or its differences do not lead there", .timeLimit(.minutes(10)))
struct LiveListTests {
    struct Item: Codable, Identifiable, Hashable, Sendable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "item"
        var id: UUID
        var title: String
        var shop: String?
        var place: Double
        var parent: UUID?
    }

    static let sql = """
        CREATE TABLE item (
            id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '' COLLATE NOCASE, shop TEXT, place REAL NOT NULL DEFAULT 0,
            parent BLOB REFERENCES item (id) ON DELETE CASCADE);
        CREATE INDEX item_place ON item (place);
        CREATE TABLE other (id BLOB PRIMARY KEY NOT NULL, n INTEGER);
        """

    static func store(_ backend: Backend = .memory) throws -> TestStore {
        try TestStore(backend, sql: sql, tables: [TrackedTable("item"), TrackedTable("other")])
    }

    /// What each list asks for: filters, orders with ties, collations and NULL, and requests that are compared as a whole.
    static let requests: [QueryInterfaceRequest<Item>] = [
        Item.all(),
        Item.order(Column("place")),
        Item.order(Column("title").desc, Column("place")),
        Item.filter(Column("shop") == "baker").order(Column("title")),
        Item.order(Column("shop").ascNullsLast, Column("place").desc),
        Item.filter(Column("title") != "b").order(length(Column("title")), Column("shop")),
        Item.order(Column("place")).limit(7),
        Item.filter(sql: "parent IN (SELECT id FROM item WHERE place > 5)").order(Column("place")),
    ]

    /// Applies a difference as a table of a user interface would.
    static func apply(_ difference: LiveDifference<UUID>, to list: inout [Item], fetching now: LiveRows<Item>) {
        var moved: [UUID: Item] = [:]
        for move in difference.moves { moved[move.id] = list[move.from] }
        for removal in difference.removals { #expect(list[removal.offset].id == removal.id) }
        for offset in (difference.removals.map(\.offset) + difference.moves.map(\.from)).sorted(by: >) { list.remove(at: offset) }
        var additions = difference.insertions.map { ($0.offset, now[$0.offset]) }
        for move in difference.moves { if let item = moved[move.id] { additions.append((move.to, item)) } }
        for (offset, item) in additions.sorted(by: { $0.0 < $1.0 }) { list.insert(item, at: offset) }
        for update in difference.updates {
            let old = list[update.offset]
            let new = now[update.offset]
            #expect(old.id == update.id && new.id == update.id)
            #expect(update.columns == Set((try? new.databaseChanges(from: old).keys).map(Array.init) ?? []))
            list[update.offset] = new
        }
    }

    static func write(_ database: any DatabaseWriter, _ random: inout SplitMix64, _ ids: inout [UUID]) throws {
        try database.write { db in
            for _ in 0..<(random.chance(70) ? 1 : random.below(40) + 1) {
                let id = ids.isEmpty || random.chance(30) ? UUID() : random.pick(ids)
                switch random.below(8) {
                case 0, 1, 2:
                    if !ids.contains(id) { ids.append(id) }
                    let title = random.pick(["a", "A", "b", "cc", "ä", ""])
                    let shop = random.pick([nil, "baker", "Baker", "grocer"] as [String?])
                    let parent = random.chance(30) ? random.pick(ids + [id]) : nil
                    let isThere = try parent.map { parent in try parent == id || Item.exists(db, key: parent) } ?? false
                    let item = Item(id: id, title: title, shop: shop, place: Double(random.below(10)), parent: isThere ? parent : nil)
                    try item.upsert(db)
                case 3: try db.execute(sql: "UPDATE item SET place = place + ? WHERE id = ?", arguments: [random.below(5) - 2, id])
                case 4: try db.execute(sql: "UPDATE item SET title = ? WHERE id = ?", arguments: [random.pick(["b", "B", "zz"]), id])
                case 5: try db.execute(sql: "DELETE FROM item WHERE id = ?", arguments: [id])
                case 6: try db.execute(sql: "UPDATE item SET place = 3 WHERE place BETWEEN ? AND 5", arguments: [random.below(6)])
                default: try db.execute(sql: "REPLACE INTO other VALUES (?, ?)", arguments: [id, random.below(9)])
                }
            }
            if random.chance(10) { throw CancellationError() }
        }
    }

    @Test(arguments: [Backend.memory, .pool], 0..<requests.count)
    func `differences lead from each list to the next, through own writes, merges and rollbacks`(backend: Backend, request: Int)
        async throws
    {
        let request = Self.requests[request]
        for seed in Soak.firstSeed..<Soak.firstSeed + UInt64(Soak.count(1, soaking: 300)) {
            var random = SplitMix64(seed: seed)
            let (here, there) = (try Self.store(backend), try Self.store())
            var ids: [UUID] = []
            var changes = here.store.live(request).makeAsyncIterator()
            let first = try #require(try await changes.next())
            #expect(first.rows.isEmpty && first.origins == [])
            var list: [Item] = []
            for round in 0..<25 {
                // Several commits may have happened when the reader looks.
                for _ in 0..<(random.below(3) + 1) {
                    switch random.below(4) {
                    case 0: try? Self.write(there.database, &random, &ids)
                    case 1: try here.receive(from: there)
                    case 2: try there.receive(from: here)
                    default: try? Self.write(here.database, &random, &ids)
                    }
                }
                let now = try await here.database.read { try request.withStableOrder().fetchAll($0) }
                if now == list { continue }
                let change = try #require(try await changes.next())
                Self.apply(change.difference, to: &list, fetching: change.rows)
                #expect(list == now, "seed \(seed), round \(round)")
                #expect(Array(change.rows) == now, "seed \(seed), round \(round)")
                #expect(!change.origins.isEmpty)
            }
        }
    }

    @Test(arguments: ["max(place)", "Sum (\"place\")", "count(*)"])
    func `a list of what all rows add up to is compared as a whole`(sum: String) async throws {
        let store = try Self.store(.memory)
        let request = Item.select(sql: "max(id) AS id, 'all' AS title, NULL AS shop, \(sum) AS place, NULL AS parent")
        let insert = "INSERT INTO item (id, place) VALUES (randomblob(16), 5)"
        try await store.database.write { try $0.execute(sql: insert) }
        var changes = store.store.live(request).makeAsyncIterator()
        var shown = try await changes.next().map { Array($0.rows) }
        for sql in ["UPDATE item SET place = 9", insert, insert + ", (randomblob(16), 20)", "DELETE FROM item WHERE place = 5"] {
            try await store.database.write { try $0.execute(sql: sql) }
            let now = try await store.database.read { try request.fetchAll($0) }
            #expect(now.count == 1)
            if now == shown { continue }
            shown = try await changes.next().map { Array($0.rows) }
            #expect(shown == now, "\(sql)")
        }
    }

    /// The second one gives values of its own, before and after the rows that are asked for.
    static let longRequests = [
        Item.order(Column("place")),
        Item.filter(Column("place") < 1_400).filter(sql: "title <> :none", arguments: ["none": "tx"])
            .order(sql: "CAST(place AS INTEGER) % ?, place DESC", arguments: [7]),
    ]

    @Test(arguments: 0..<longRequests.count) func `a list of many rows is brought up to date row by row`(number: Int) async throws {
        let here = try Self.store()
        let ids = (0..<1_500).map { _ in UUID() }
        try await here.database.write { db in
            for (place, id) in ids.enumerated() { try Item(id: id, title: "t", shop: nil, place: Double(place), parent: nil).insert(db) }
        }
        let request = Self.longRequests[number]
        var changes = here.store.live(request).makeAsyncIterator()
        var list = Array(try #require(try await changes.next()).rows)
        #expect(list == (try await here.database.read { try request.withStableOrder().fetchAll($0) }))
        var random = SplitMix64(seed: 1)
        for _ in 0..<Soak.count(20, soaking: 60) {
            try await here.database.write { [random] db in
                var random = random
                for _ in 0..<random.below(12) + 1 {
                    let id = random.pick(ids)
                    switch random.below(4) {
                    case 0: try db.execute(sql: "DELETE FROM item WHERE id = ?", arguments: [id])
                    case 1: try Item(id: id, title: "u", shop: nil, place: Double(random.below(1_500)) + 0.5, parent: nil).upsert(db)
                    default: try db.execute(sql: "UPDATE item SET title = title || 'x' WHERE id = ?", arguments: [id])
                    }
                }
            }
            for _ in 0..<64 { _ = random.next() }
            let now = try await here.database.read { try request.withStableOrder().fetchAll($0) }
            if now == list { continue }
            let change = try #require(try await changes.next())
            Self.apply(change.difference, to: &list, fetching: change.rows)
            #expect(list == now)
            #expect(Array(change.rows) == now)
        }
    }

    @Test func `a change says where it comes from`() async throws {
        let folder = try TemporaryFolder()
        let (here, there) = (
            try TestStore(.pool, sql: Self.sql, tables: [TrackedTable("item"), TrackedTable("other")], folder: folder), try Self.store()
        )
        let pool = try DatabasePool(path: here.path)
        let sibling = try SyncedDatabase(pool, tables: [TrackedTable("item"), TrackedTable("other")])
        var changes = here.store.live(Item.order(Column("title"))).makeAsyncIterator()
        _ = try await changes.next()
        func insert(_ title: String, _ database: any DatabaseWriter) async throws {
            try await database.write { try Item(id: UUID(), title: title, shop: nil, place: 0, parent: nil).insert($0) }
        }
        try await insert("here", here.database)
        #expect(try await changes.next()?.origins == [.here])
        try await insert("sibling", pool)
        let foreign = try #require(try await changes.next())
        #expect(foreign.origins == [.otherProcess] && foreign.rows.map(\.title) == ["here", "sibling"])
        try await insert("there", there.database)
        try here.receive(from: there)
        let merged = try #require(try await changes.next())
        #expect(merged.origins == [.device(.unknown)] && merged.version.includes(foreign.version))
        #expect(!foreign.version.includes(merged.version))
        sibling.close()
    }

    @Test func `sections are the runs of one key`() async throws {
        let here = try Self.store()
        try await here.database.write { db in
            for (title, shop) in [("a", "x"), ("b", "x"), ("c", "y"), ("d", nil)] {
                try Item(id: UUID(), title: title, shop: shop, place: 0, parent: nil).insert(db)
            }
        }
        var changes = here.store.live(Item.order(Column("shop").ascNullsLast, Column("title"))).makeAsyncIterator()
        let sections = try #require(try await changes.next()).rows.sections(by: \.shop)
        #expect(sections.map(\.key) == ["x", "y", nil])
        #expect(sections.map(\.range) == [0..<2, 2..<3, 3..<4])
    }

    @Test func `two rows with one id are an error, a closed store too, and a cancelled task the end`() async throws {
        let here = try Self.store()
        let id = UUID()
        try await here.database.write { db in
            try Item(id: id, title: "a", shop: nil, place: 0, parent: nil).insert(db)
            try Item(id: UUID(), title: "b", shop: nil, place: 0, parent: id).insert(db)
            try Item(id: UUID(), title: "c", shop: nil, place: 0, parent: id).insert(db)
        }
        var doubled = here.store.live(
            Item.filter(Column("title") == "a").joining(required: Item.hasMany(Item.self, key: "children", using: ForeignKey(["parent"])))
        ).makeAsyncIterator()
        await #expect { _ = try await doubled.next() } throws: { ($0 as? StoreError)?.code == .valueRejected }
        let waiting = Task { [store = here.store] in
            var changes = store.live(Item.all()).makeAsyncIterator()
            _ = try await changes.next()
            return try await changes.next() == nil
        }
        try await Task.sleep(for: .milliseconds(20))
        waiting.cancel()
        #expect(try await waiting.value)
        here.store.close()
        var closed = here.store.live(Item.all()).makeAsyncIterator()
        await #expect { _ = try await closed.next() } throws: { ($0 as? StoreError)?.code == .failed }
    }

    @Test(arguments: [0, 6]) func `whoever waits for changes hears that the store is closed`(request: Int) async throws {
        let here = try Self.store()
        try await here.database.write { try Item(id: UUID(), title: "a", shop: nil, place: 0, parent: nil).insert($0) }
        let list = Task { [store = here.store] in
            for try await _ in store.live(Self.requests[request]) {}
        }
        let history = Task { [store = here.store] in
            for try await _ in store.liveHistory(after: nil) {}
        }
        let folder = try TemporaryFolder()
        let writer = here.store.snapshot("all", to: folder.url.appending(path: "all.snapshot")) { try Item.fetchAll($0) }
        let snapshot = Task { await writer.run() }
        // Each waits for what comes next by then; one that does not yet finds the store closed when it looks.
        try await Task.sleep(for: .milliseconds(100))
        here.store.close()
        await #expect { try await list.value } throws: { ($0 as? StoreError)?.code == .failed }
        await #expect { try await history.value } throws: { ($0 as? StoreError)?.code == .failed }
        await snapshot.value
    }

    /// Whoever cancels a task holds a lock of it, which whoever wakes it waits for.
    @Test func `readers that are cancelled while something is written hold nobody up`() async throws {
        let here = try Self.store()
        for round in 0..<150 {
            let (store, database) = (here.store, here.database)
            let readers: [Task<Void, any Error>] = [
                Task { for await _ in store.commits {} },
                Task { for try await _ in store.live(Self.requests[0]) {} },
                Task { for try await _ in store.live(Self.requests[6]) {} },
                Task { for try await _ in store.liveHistory(after: nil) {} },
            ]
            if round % 2 == 0 { try await Task.sleep(for: .milliseconds(2)) }
            let writer = Task.detached {
                for _ in 0..<3 {
                    try await database.write { try Item(id: UUID(), title: "a", shop: nil, place: 0, parent: nil).insert($0) }
                }
            }
            for reader in readers { reader.cancel() }
            for reader in readers { try? await reader.value }
            try await writer.value
        }
        #expect(try await here.database.read { try Item.fetchCount($0) } == 450)
    }

    @Test func `a reader that does not come back holds no more than names of rows, and catches up at once`() async throws {
        let here = try Self.store()
        var changes = here.store.live(Item.order(Column("place"))).makeAsyncIterator()
        _ = try await changes.next()
        for round in 0..<6 {
            try await here.database.write { db in
                for number in 0..<1_000 {
                    try Item(id: UUID(), title: "t", shop: nil, place: Double(round * 1_000 + number), parent: nil).insert(db)
                }
            }
        }
        let change = try #require(try await changes.next())
        #expect(change.rows.count == 6_000 && change.difference.insertions.count == 6_000)
        #expect(change.rows.map(\.place) == (0..<6_000).map(Double.init))
    }
}

extension LiveListTests {
    @MainActor @Test func `an observable list follows its table, and tells its observers`() async throws {
        let here = try Self.store()
        let list = LiveList(here.store, Item.order(Column("title")))
        let following = Task { await list.follow() }
        let (told, tell) = AsyncStream.makeStream(of: Void.self)
        var wakes = told.makeAsyncIterator()
        for title in ["b", "a"] {
            withObservationTracking {
                _ = list.rows.count
            } onChange: {
                tell.yield()
            }
            try await here.database.write { try Item(id: UUID(), title: title, shop: nil, place: 0, parent: nil).insert($0) }
            while list.rows.first?.title != title {
                withObservationTracking {
                    _ = list.rows.count
                } onChange: {
                    tell.yield()
                }
                if list.rows.first?.title == title { break }
                await wakes.next()
            }
        }
        #expect(list.rows.map(\.title) == ["a", "b"] && list.error == nil && list.origins == [.here])
        following.cancel()
        await following.value
        here.store.close()
        await list.follow()
        #expect(list.error?.code == .failed)
    }
}

extension LiveListTests {
    struct Named: Codable, Identifiable, Sendable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "named"
        var id: String
        var name: String
    }

    @Test func `a table whose ids are text is followed row by row, and its steps are taken back`() async throws {
        let sql = """
            CREATE TABLE named (id TEXT PRIMARY KEY NOT NULL, name TEXT);
            CREATE TABLE part (id TEXT PRIMARY KEY NOT NULL, owner TEXT NOT NULL REFERENCES named (id) ON DELETE CASCADE);
            """
        let store = try TestStore(sql: sql, tables: [TrackedTable("named", journal: .days(1)), TrackedTable("part", journal: .days(1))])
        let ids = (0..<100).map { _ in UUID().uuidString.lowercased() }
        let undo = store.store.undo(scope: "test")
        try await store.database.write { db in for id in ids { try Named(id: id, name: "n").insert(db) } }
        var changes = store.store.live(Named.order(Column("name"), Column("id"))).makeAsyncIterator()
        #expect(try await changes.next()?.rows.map(\.id) == ids.sorted())
        try undo.group { db in
            try Named(id: ids[0], name: "a").update(db)
            try db.execute(sql: "INSERT INTO part VALUES (?, ?)", arguments: [UUID().uuidString.lowercased(), ids[1]])
        }
        let change = try #require(try await changes.next())
        #expect(change.rows.first?.id == ids[0])
        #expect(change.difference.updates == [.init(id: ids[0], offset: 0, columns: ["name"])])
        #expect(try #require(try undo.undo()).isWhole)
        #expect(try await changes.next()?.rows.map(\.id) == ids.sorted())
        #expect(try await store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM part") } == 0)
        try store.expectSound()
    }
}
