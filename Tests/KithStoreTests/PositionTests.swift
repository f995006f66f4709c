import Foundation
import GRDB
import KithSync
import TestSupport
import Testing

@testable import KithStore

@Suite("A row that people have moved stands elsewhere, or makes others move", .timeLimit(.minutes(5)))
struct PositionTests {
    private static let order = Position.orderSQL("position")
    private static let sql = """
        CREATE TABLE item (id BLOB PRIMARY KEY NOT NULL, title TEXT, shop TEXT, position TEXT NOT NULL DEFAULT '');
        CREATE INDEX item_by_position ON item (\(order), id);
        """
    private static let table = TrackedTable("item", position: "position", journal: .days(30))

    private static func store(rows: Int = 0) throws -> TestStore {
        let store = try TestStore(sql: sql, tables: [table])
        try add(Array(0..<rows), to: store)
        return store
    }

    private static func add(_ numbers: [Int], to store: TestStore) throws {
        try store.database.write { db in
            for number in numbers {
                try db.execute(sql: "INSERT INTO item (id, title) VALUES (?, ?)", arguments: [key(UInt64(number)), "\(number)"])
            }
        }
    }

    private static func shown(_ store: TestStore) throws -> [RowID] {
        try store.database.read { db in
            try Data.fetchAll(db, sql: "SELECT id FROM item ORDER BY \(order), id").compactMap { RowID(bytes: Array($0)) }
        }
    }

    private static func positions(_ store: TestStore) throws -> [String] {
        try store.database.read { try String.fetchAll($0, sql: "SELECT \(order) FROM item ORDER BY \(order), id") }
    }

    private static func rows(_ numbers: Int...) -> [RowID] { numbers.map { rowID(UInt64($0)) } }

    // MARK: Digits

    @Test func `between any two positions there is another one`() throws {
        var random = SplitMix64(seed: 11)
        let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
        for number in 0..<Soak.count(2_000, soaking: 200_000) {
            var texts = (0..<2).map { _ in
                String((0..<random.below(16) + 1).map { _ in digits[random.below(random.below(2) == 0 ? 2 : 62)] } + ["1"])
            }
            if random.below(3) == 0 { texts[1] = texts[0].dropLast() + texts[1] }
            if random.below(3) == 0 { texts[0] = Position.unmoved(rowID(UInt64(number) * 2 + 1)) }
            texts.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            if texts[0] == texts[1] { continue }
            let bounds: [(String?, String?)] = [(texts[0], texts[1]), (nil, texts[0]), (texts[1], nil)]
            for (lower, upper) in bounds {
                let rows = (0..<random.below(4) + 1).map { rowID(UInt64($0)) }
                for make in [Position.run, Position.spread] {
                    let found = try #require(make(lower, upper, rows), "\(lower ?? "–") \(upper ?? "–")")
                    let all = [lower].compactMap(\.self) + found + [upper].compactMap(\.self)
                    #expect(zip(all, all.dropFirst()).allSatisfy { $0.utf8.lexicographicallyPrecedes($1.utf8) }, "\(all)")
                }
            }
        }
        #expect(Position.between("2", "1", for: rowID(1)) == nil && Position.between("1", "1", for: rowID(1)) == nil)
        #expect(Position.between("1", "é", for: rowID(1)) == nil && Position.between("", nil, for: rowID(1)) == nil)
        #expect(Position.between("1", "10", for: rowID(1)) == nil)
    }

    @Test func `at the ends of a list positions stay short, and a new row comes after the last one`() throws {
        let now = UInt64(Date().timeIntervalSince1970 * 1_000)
        let unmoved = Position.unmoved(RowID(high: now << 16 | 0x7000, low: .max))
        #expect(unmoved.utf8.count == 32)
        var (first, last) = (unmoved, unmoved)
        for number in 0..<5_000 {
            first = try #require(Position.between(nil, first, for: rowID(UInt64(number))))
            last = try #require(Position.between(last, nil, for: rowID(UInt64(number))))
        }
        #expect(first.utf8.count == 20 && last.utf8.count == 20)
        #expect(last.utf8.lexicographicallyPrecedes(Position.unmoved(RowID(high: (now + 60_000) << 16, low: 1)).utf8))
    }

    // MARK: Moves

    @Test func `rows stand where they were put, in one change that is taken back as one`() throws {
        let store = try Self.store(rows: 6)
        #expect(try Self.shown(store) == Self.rows(0, 1, 2, 3, 4, 5))
        let before = try store.sequence()
        #expect(try store.store.move(Self.rows(4, 1), to: .first, in: "item") == 2)
        #expect(try Self.shown(store) == Self.rows(4, 1, 0, 2, 3, 5))
        try store.store.move(Self.rows(0), to: .after(rowID(5)), in: "item")
        try store.store.move(Self.rows(5, 9, 5, 4), to: .before(rowID(3)), in: "item")
        #expect(try Self.shown(store) == Self.rows(1, 2, 5, 4, 3, 0))
        try store.store.move(Self.rows(1), to: .last, in: "item")
        #expect(try Self.shown(store) == Self.rows(2, 5, 4, 3, 0, 1))
        #expect(try store.sequence() == before + 4)

        let undo = store.store.undo(scope: "list")
        let order = try Self.shown(store)
        try undo.group("Sort") { db in
            _ = try store.store.move(db, order.reversed(), to: .first, in: "item")
        }
        #expect(try Self.shown(store) == order.reversed())
        #expect(try undo.undo()?.isWhole == true)
        #expect(try Self.shown(store) == order)
        try store.expectSound()
    }

    @Test func `a place beside a row that moves itself is where that row stands, and what stands there is not written`() throws {
        let store = try Self.store(rows: 5)
        let before = try store.sequence()
        for place in [Position.Place.after(rowID(1)), .before(rowID(3)), .after(rowID(2)), .before(rowID(2))] {
            #expect(try store.store.move(Self.rows(2), to: place, in: "item") == 1)
        }
        #expect(try store.store.move(Self.rows(3, 4), to: .last, in: "item") == 2)
        #expect(try store.store.move(Self.rows(0, 1), to: .first, in: "item") == 2)
        #expect(try store.store.move(Self.rows(17), to: .first, in: "item") == 0)
        #expect(try store.store.move([RowID](), to: .first, in: "item") == 0)
        #expect(try store.sequence() == before)
        try store.store.move(Self.rows(4, 2), to: .after(rowID(2)), in: "item")
        #expect(try Self.shown(store) == Self.rows(0, 1, 4, 2, 3))
    }

    @Test func `a list that shows some rows is ordered among them`() throws {
        let store = try Self.store(rows: 6)
        try store.execute("UPDATE item SET shop = CASE WHEN CAST(title AS INTEGER) % 2 = 0 THEN 'a' ELSE 'b' END")
        try store.store.move(Self.rows(4), to: .first, in: "item", among: "shop = \("a")")
        try store.store.move(Self.rows(2), to: .last, in: "item", among: "shop = \("a")")
        #expect(try Self.shown(store).filter { $0.low % 2 == 0 } == Self.rows(4, 0, 2))
        #expect(try Self.shown(store).filter { $0.low % 2 == 1 } == Self.rows(1, 3, 5))
    }

    @Test func `text ids order as blobs do, and the index serves the order`() throws {
        let sql = Self.sql.replacing("id BLOB", with: "id TEXT")
        let store = try TestStore(sql: sql, tables: [Self.table])
        let ids = (0..<8).map { RowID(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8($0 * 30)))) }
        for id in ids { try store.execute("INSERT INTO item (id) VALUES (?)", [id.uuid.uuidString.lowercased()]) }
        try store.store.move([ids[7].uuid, ids[0].uuid], to: .after(ids[3].uuid), in: "item")
        let shown = try store.database.read { try String.fetchAll($0, sql: "SELECT id FROM item ORDER BY \(Self.order), id") }
        #expect(shown == [1, 2, 3, 7, 0, 4, 5, 6].map { ids[$0].uuid.uuidString.lowercased() })
        let plan = try store.database.read { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN SELECT id FROM item ORDER BY \(Self.order), id").map { $0["detail"] as String }
        }
        #expect(plan.allSatisfy { $0.contains("item_by_position") }, "\(plan)")
    }

    @Test func `what cannot be moved is refused in words`() throws {
        let store = try Self.store(rows: 2)
        #expect { try store.store.move(Self.rows(0), to: .after(rowID(7)), in: "item") } throws: { ($0 as? StoreError)?.code == .notFound }
        #expect { try store.store.move(Self.rows(0), to: .last, in: "nothing") } throws: { ($0 as? StoreError)?.code == .notFound }
        let wrong = [
            (TrackedTable("item", position: "place"), "it has no column place"),
            (TrackedTable("item", sets: ["position"], position: "position"), "declared as of two kinds"),
            (TrackedTable("item", position: "id"), "not the key"),
        ]
        for (table, words) in wrong {
            #expect { _ = try TestStore(sql: Self.sql, tables: [table]) } throws: { ($0 as? StoreError)?.message.contains(words) == true }
        }
        #expect {
            _ = try TestStore(
                sql: "CREATE TABLE item (id BLOB PRIMARY KEY NOT NULL, position INTEGER)",
                tables: [TrackedTable("item", position: "position")])
        } throws: { ($0 as? StoreError)?.message.contains("needs TEXT") == true }
    }

    // MARK: Many rows at one place

    @Test(arguments: [true, false])
    func `many rows are put into one place, and few others are written`(isAlwaysBehindTheFirst: Bool) throws {
        let count = Soak.count(600, soaking: 10_000)
        let store = try Self.store(rows: 2)
        var model = Self.rows(0, 1)
        var longest = 0
        var writes = 0
        var before = Set(try Self.positions(store))
        for number in 2..<count {
            try Self.add([number], to: store)
            let row = rowID(UInt64(number))
            let place = isAlwaysBehindTheFirst ? 1 : max(1, model.count / 2)
            try store.store.move([row], to: .after(model[place - 1]), in: "item")
            model.insert(row, at: place)
            let after = Set(try Self.positions(store))
            let written = after.subtracting(before).count
            #expect(written <= Position.rowsRenewedMax + 1)
            writes += written
            longest = max(longest, after.map(\.utf8.count).max() ?? 0)
            before = after
        }
        #expect(try Self.shown(store) == model)
        #expect(longest <= Position.bytesMax + 10 + count / 200, "\(longest)")
        // Each row is written once, and some of them anew, for positions have grown too long.
        #expect(writes > count && writes <= 4 * count, "\(writes)")
    }

    @Test func `rows whose positions are equal, or none at all, are put in order as far as needed`() throws {
        let values: [any DatabaseValueConvertible] = ["x", "ü", 5, Data([1]), "~", "A", 2.5]
        for (number, value) in values.enumerated() {
            let store = try Self.store(rows: 300)
            try store.execute("UPDATE item SET position = ? WHERE CAST(title AS INTEGER) BETWEEN 10 AND 280", [value])
            var model = try Self.shown(store)
            var random = SplitMix64(seed: UInt64(number))
            for _ in 0..<Soak.count(8, soaking: 20) {
                let row = model.remove(at: random.below(model.count))
                let place = random.below(model.count)
                try store.store.move([row], to: .before(model[place]), in: "item")
                model.insert(row, at: place)
                #expect(try Self.shown(store) == model, "\(value)")
            }
        }
    }

    // MARK: Several devices

    @Test func `moves at the same time give one order everywhere, and each row stands where it was put if nobody else moved`() throws {
        for seed in 0..<UInt64(Soak.count(4, soaking: 500)) {
            var random = SplitMix64(seed: seed)
            let stores = try (0..<3).map { _ in try Self.store() }
            try Self.add(Array(0..<12), to: stores[0])
            for store in stores[1...] { try store.receive(from: stores[0]) }
            var free = Array(0..<12).shuffled(using: &random)
            for _ in 0..<4 {
                /// Where each row was put, as the moving device saw it.
                var puts: [(row: RowID, after: RowID, before: RowID?)] = []
                for store in stores {
                    let row = rowID(UInt64(free.removeFirst()))
                    let rest = try Self.shown(store).filter { $0 != row }
                    let place = random.below(rest.count)
                    try store.store.move([row], to: .after(rest[place]), in: "item")
                    puts.append((row, rest[place], place + 1 < rest.count ? rest[place + 1] : nil))
                }
                for left in stores { for right in stores where left !== right { try left.receive(from: right) } }
                for left in stores { for right in stores where left !== right { try left.receive(from: right) } }
                let orders = try stores.map(Self.shown)
                #expect(orders.allSatisfy { $0 == orders[0] }, "seed \(seed)")
                let positions = try Self.positions(stores[0])
                #expect(Set(positions).count == positions.count, "seed \(seed)")
                let moved = Set(puts.map(\.row))
                for put in puts where !moved.contains(put.after) && !(put.before.map(moved.contains) ?? false) {
                    let at = try #require(orders[0].firstIndex(of: put.row))
                    #expect(orders[0].firstIndex(of: put.after) ?? .max < at, "seed \(seed)")
                    if let before = put.before { #expect(orders[0].firstIndex(of: before) ?? 0 > at, "seed \(seed)") }
                }
                if free.count < 3 { free = Array(0..<12).shuffled(using: &random) }
            }
        }
    }

    @Test func `rows that are moved together stay together, whoever else moves others there`() throws {
        let (a, b) = (try Self.store(rows: 10), try Self.store())
        try b.receive(from: a)
        try a.store.move(Self.rows(7, 8, 9), to: .after(rowID(0)), in: "item")
        try b.store.move(Self.rows(6, 5, 4), to: .after(rowID(0)), in: "item")
        try a.receive(from: b)
        try b.receive(from: a)
        let order = try Self.shown(a).map(\.low)
        #expect(try Self.shown(b).map(\.low) == order)
        #expect(order == [0, 7, 8, 9, 6, 5, 4, 1, 2, 3] || order == [0, 6, 5, 4, 7, 8, 9, 1, 2, 3])
    }
}
