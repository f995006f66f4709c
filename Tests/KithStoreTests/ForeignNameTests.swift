import GRDB
import KithCausality
import KithLedger
import KithStore
import KithSync
import TestSupport
import Testing

/// Risk: names of tables and columns that members make up fill a store, so that a newer version of the app cannot open it.
@Suite struct ForeignNameTests {
    private static let mallory = ReplicaID(high: 9, low: 9)

    /// A slice that brings nothing but tables.
    private func slice(_ tables: [TableSchema], _ sequence: UInt64) -> Slice {
        let head = Head(dot: Dot(replica: Self.mallory, sequence: sequence), timestamp: HybridTimestamp(milliseconds: Int64(sequence)))
        return Slice(
            since: VersionVector(), vector: VersionVector([head.dot]), target: [head], clock: .zero, isFirst: true, isLast: true,
            position: nil, rowsRemaining: 0, tables: tables, rows: [])
    }

    @Test func `whatever columns members have made up, the app has room for a new one`() throws {
        let folder = try TemporaryFolder()
        let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT)"
        do {
            let test = try TestStore(.pool, sql: sql, tables: [TrackedTable("note")], folder: folder)
            func junk(_ numbers: Range<Int>) -> [TableSchema] {
                let columns = numbers.map { ColumnKey(name: Array("junk\($0)".utf8), kind: .register) }
                return [TableSchema(name: Array("note".utf8), columns: columns.sorted())]
            }
            let room = CatalogStore.columnsOfPeersMax - 1
            _ = try test.store.apply(slice(junk(0..<room), 1))
            let error = #expect(throws: StoreError.self) { try test.store.apply(slice(junk(room..<room + 1), 2)) }
            #expect(error?.code == .sliceRejected)
            // What is known may go on.
            _ = try test.store.apply(slice(junk(0..<1), 2))
            test.store.close()
        }
        let newer = try TestStore(
            .pool, sql: "ALTER TABLE note ADD COLUMN colour TEXT", tables: [TrackedTable("note")], folder: folder)
        try newer.execute("INSERT INTO note (id, title, colour) VALUES (?, 'a', 'red')", [key(1)])
        let other = try TestStore(sql: "\(sql); ALTER TABLE note ADD COLUMN colour TEXT", tables: [TrackedTable("note")])
        _ = try other.store.apply(try newer.store.delta(since: VersionVector()))
        #expect(try other.row(rowID(1))?["colour"] == "red")
    }

    @Test func `whatever tables members have made up, the app has room for a new one`() throws {
        let folder = try TemporaryFolder()
        do {
            let test = try TestStore(
                .pool, sql: "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT)", tables: [TrackedTable("note")], folder: folder)
            func junk(_ numbers: Range<Int>) -> [TableSchema] {
                numbers.map { TableSchema(name: Array("junk\($0)".utf8), columns: []) }.sorted {
                    $0.name.lexicographicallyPrecedes($1.name)
                }
            }
            let room = CatalogStore.tablesOfPeersMax - 1
            _ = try test.store.apply(slice(junk(0..<room), 1))
            #expect(throws: StoreError.self) { try test.store.apply(slice(junk(room..<room + 1), 2)) }
            test.store.close()
        }
        let newer = try TestStore(
            .pool, sql: "CREATE TABLE list (id BLOB PRIMARY KEY NOT NULL, name TEXT)",
            tables: [TrackedTable("note"), TrackedTable("list")],
            folder: folder)
        try newer.execute("INSERT INTO list (id) VALUES (?)", [key(1)])
        #expect(try newer.store.verify().problems == [])
    }
}
