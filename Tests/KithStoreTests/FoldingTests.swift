import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("A cell that many write at once grows without end, or loses what they wrote")
struct FoldingTests {
    @Test func `twenty concurrent writes leave eight alternatives on every store, and the others in a history`() throws {
        let stores = try (1...20).map { try TestStore(replica: ReplicaID(high: 1, low: UInt64($0))) }
        try stores[0].execute("INSERT INTO note (id, title) VALUES (?, 'first')", [key(1)])
        for store in stores.dropFirst() { try store.receive(from: stores[0]) }
        for (index, store) in stores.enumerated() { try store.execute("UPDATE note SET title = ?", ["by \(index)"]) }
        let hub = stores[7]
        var rounds = 0
        while try Set(stores.map { try $0.store.vector() }).count > 1, rounds < 10 {
            rounds += 1
            for store in stores where store !== hub {
                try hub.receive(from: store)
                try store.receive(from: hub)
            }
        }
        // It comes to rest.
        #expect(rounds < 10)
        let digest = try stores[0].store.digest()
        var seen: Set<ColumnValue> = []
        for store in stores {
            #expect(try store.store.digest() == digest)
            let alternatives = try store.store.alternatives(table: "note", id: rowID(1))
            #expect(Set(alternatives.map(\.value)).count <= SyncedDatabase.alternativesMax)
            seen.formUnion(alternatives.map(\.value))
            seen.formUnion(try store.store.supersededValues(table: "note", id: rowID(1)).map(\.value))
            if let title: String = try store.row(rowID(1))?["title"] { seen.insert(.text(title)) }
            try store.expectSound()
        }
        for index in stores.indices { #expect(seen.contains(.text("by \(index)"))) }
    }

    @Test(arguments: [9, 10])
    func `eight alternatives stay as they are, a ninth makes room at the store that shows its own value`(count: Int) throws {
        let stores = try (1...count).map { try TestStore(replica: ReplicaID(high: 1, low: UInt64($0))) }
        try stores[0].execute("INSERT INTO note (id, title) VALUES (?, 'first')", [key(1)])
        for store in stores.dropFirst() { try store.receive(from: stores[0]) }
        for (index, store) in stores.enumerated() { try store.execute("UPDATE note SET title = ?", ["by \(index)"]) }
        let all = stores[0]
        for store in stores.dropFirst() { try all.receive(from: store) }
        // The one whose value is shown.
        let title: String = try #require(try all.row(rowID(1))?["title"])
        let author = try #require(Int(title.dropFirst(3)))
        try stores[author].receive(from: all)
        #expect(try stores[author].store.alternatives(table: "note", id: rowID(1)).count == 8)
        let gone = try stores[author].store.supersededValues(table: "note", id: rowID(1))
        #expect(gone.count == count - 9)
        if author != 0 { try all.receive(from: stores[author]) }
        #expect(try all.store.alternatives(table: "note", id: rowID(1)).count == 8)
        #expect(try all.store.digest() == stores[author].store.digest())
    }

    @Test func `what was resolved elsewhere or here is listed for a month`() throws {
        let (first, second) = (try TestStore(), try TestStore())
        try first.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(1)])
        try second.receive(from: first)
        try first.execute("UPDATE note SET title = 'one'")
        try second.execute("UPDATE note SET title = 'two'")
        try first.receive(from: second)
        try second.receive(from: first)
        let lost = try #require(try first.store.alternatives(table: "note", id: rowID(1)).first)
        let shown: String = try #require(try first.row(rowID(1))?["title"])
        try first.database.write {
            try first.store.resolve($0, table: "note", id: rowID(1), column: "title", keeping: .text(shown))
        }
        try second.receive(from: first)
        for store in [first, second] {
            #expect(try store.store.supersededValues(table: "note", id: rowID(1)).map(\.value) == [lost.value])
            #expect(try store.store.supersededValues(table: "note", id: rowID(1)).map(\.stamp) == [lost.stamp])
            try store.expectSound()
        }
    }
}
