import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

/// A store whose app can be updated: the database stays, and is opened again.
final class App {
    let database: DatabaseQueue
    private(set) var store: SyncedDatabase
    private let options: SyncedDatabase.Options

    init(_ sql: String, _ tables: [TrackedTable] = [TrackedTable("note")], replica: UInt64) throws {
        database = try DatabaseQueue()
        options = TestStore.options(ReplicaID(high: 1, low: replica))
        try database.write { try $0.execute(sql: sql) }
        store = try SyncedDatabase(database, tables: tables, options: options)
    }

    func migrate(_ sql: String, _ tables: [TrackedTable] = [TrackedTable("note")]) throws {
        store.close()
        try execute(sql)
        store = try SyncedDatabase(database, tables: tables, options: options)
    }

    func execute(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
        try database.write { try $0.execute(sql: sql, arguments: arguments) }
    }

    func receive(from other: App) throws {
        let slice = try other.store.delta(since: try store.vector())
        guard case .applied = try store.apply(slice) else { throw StoreError(.failed, "refused") }
    }

    func text(_ sql: String) throws -> [String] { try database.read { try String.fetchAll($0, sql: sql) } }

    func expectSound(_ location: SourceLocation = #_sourceLocation) throws {
        #expect(try store.verify().problems == [], sourceLocation: location)
    }
}
