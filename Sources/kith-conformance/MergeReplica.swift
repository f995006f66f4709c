import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Synchronization

/// One replica of a scenario: a real store whose wall clock the scenario sets.
final class MergeReplica {
    private let database: DatabaseQueue
    private(set) var store: SyncedDatabase
    private var migrator = DatabaseMigrator()
    private let now: Now
    private let options: SyncedDatabase.Options
    private let table: TrackedTable
    private let hasTexts: Bool

    private final class Now: Sendable {
        let value = Mutex<UInt64>(0)
    }

    /// - Parameters:
    ///   - path: a database file, or `nil` for a database in memory.
    ///   - hasTexts: whether the table has a text column.
    ///   - hasTable: whether there is a table; it comes with ``adopt(_:now:)`` otherwise.
    init(name: String, deletePolicy: DeletePolicy, path: String?, hasTexts: Bool = false, hasTable: Bool = true) throws {
        database = try path.map { try DatabaseQueue(path: $0) } ?? DatabaseQueue()
        let now = Now()
        self.now = now
        self.hasTexts = hasTexts
        let id = Self.replicaID(name)
        // The scenarios' clock is a plain integer, so a reading is a raw timestamp.
        options = SyncedDatabase.Options(clock: { HybridTimestamp(rawValue: now.value.withLock { $0 }) }, makeReplicaID: { id })
        table = TrackedTable(
            "item", sets: ["tags"], counters: ["views"], texts: hasTexts ? ["note"] : [], deletePolicy: deletePolicy)
        if hasTable { try Self.makeTable(in: database, hasTexts) }
        store = try SyncedDatabase(database, tables: hasTable ? [table] : [], options: options)
    }

    private static func makeTable(in database: DatabaseQueue, _ hasTexts: Bool) throws {
        try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE item (
                        id BLOB PRIMARY KEY NOT NULL, title TEXT, color INTEGER,
                        tags TEXT NOT NULL DEFAULT '[]', views INTEGER NOT NULL DEFAULT 0\(hasTexts ? ", note TEXT" : ""))
                    """)
        }
    }

    /// The letters themselves, padded with zeros.
    static func replicaID(_ name: String) -> ReplicaID {
        var high: UInt64 = 0
        for (index, byte) in name.utf8.prefix(8).enumerated() { high |= UInt64(byte) << UInt64(56 - 8 * index) }
        return ReplicaID(high: high, low: 0)
    }

    // MARK: Steps

    func commit(_ operations: [MergeScenario.Operation], now milliseconds: UInt64) throws {
        now.value.withLock { $0 = milliseconds }
        try database.write { db in
            for operation in operations { try Self.apply(operation, db, store) }
        }
    }

    /// The table comes with these rows, and is tracked then.
    func adopt(_ rows: [String: [String: MergeScenario.Content]], now milliseconds: UInt64) throws {
        now.value.withLock { $0 = milliseconds }
        store.close()
        try Self.makeTable(in: database, hasTexts)
        try database.write { db in
            for (row, columns) in rows {
                try Self.apply(MergeScenario.Operation(op: "insert", row: row, columns: columns), db, nil)
            }
        }
        store = try SyncedDatabase(database, tables: [table], options: options)
    }

    /// The app is updated, and its new version runs `operations` as a step of its migrator.
    func migrate(_ operations: [MergeScenario.Operation], now milliseconds: UInt64) throws {
        now.value.withLock { $0 = milliseconds }
        store.close()
        migrator.registerMigration("step \(migrator.migrations.count)") { db in
            for operation in operations { try Self.apply(operation, db, nil) }
        }
        store = try SyncedDatabase(database, tables: [table], migrator: migrator, options: options)
    }

    func receive(from sender: MergeReplica) throws {
        _ = try store.apply(try sender.store.delta(since: try store.vector()))
    }

    private static func apply(_ operation: MergeScenario.Operation, _ db: Database, _ store: SyncedDatabase?) throws {
        guard let id = UUID(uuidString: operation.row) else { throw Failure("\(operation.row) is not a UUID") }
        let key = withUnsafeBytes(of: id.uuid) { Data($0) }
        let columns = (operation.columns ?? [:]).sorted { $0.key < $1.key }
        switch operation.op {
        case "insert":
            let names = ["id"] + columns.map(\.key)
            let marks = Array(repeating: "?", count: names.count).joined(separator: ", ")
            try db.execute(
                sql: "INSERT OR IGNORE INTO item (\(names.joined(separator: ", "))) VALUES (\(marks))",
                arguments: StatementArguments([key.databaseValue] + columns.map { try sql($0.value) }))
        case "delete":
            try db.execute(sql: "DELETE FROM item WHERE id = ?", arguments: [key])
        default:
            for (column, content) in columns { try change(operation.op, column, try sql(content), key, db, store) }
        }
    }

    private static func change(
        _ operation: String, _ column: String, _ value: DatabaseValue, _ key: Data, _ db: Database, _ store: SyncedDatabase?
    ) throws {
        switch operation {
        case "set":
            // A save that changes nothing writes nothing; the model's `set` always writes.
            try db.execute(sql: "UPDATE item SET \(column) = NULL WHERE id = ? AND \(column) IS ?", arguments: [key, value])
            try db.execute(sql: "UPDATE item SET \(column) = ? WHERE id = ?", arguments: [value, key])
        case "add":
            try db.execute(
                sql: """
                    UPDATE item SET \(column) = (SELECT json_group_array(value) FROM
                        (SELECT value FROM json_each(\(column)) UNION SELECT ?)) WHERE id = ?
                    """, arguments: [value, key])
        case "remove":
            try db.execute(
                sql: """
                    UPDATE item SET \(column) = (SELECT json_group_array(value) FROM json_each(\(column)) WHERE value <> ?)
                    WHERE id = ?
                    """, arguments: [value, key])
        case "increment":
            try db.execute(sql: "UPDATE item SET \(column) = \(column) + ? WHERE id = ?", arguments: [value, key])
        case "resolve", "beside":
            guard try Bool.fetchOne(db, sql: "SELECT 1 FROM item WHERE id = ?", arguments: [key]) == true,
                let id = RowID(bytes: key)
            else { return }
            let kept: ColumnValue = Int64.fromDatabaseValue(value).map { .integer($0) } ?? .text(String.fromDatabaseValue(value) ?? "")
            if operation == "resolve" {
                try store?.resolve(db, table: "item", id: id, column: column, keeping: kept)
            } else {
                // Made from what no row shows.
                try store?.saveValue(db, table: "item", id: id, column: column, kept, base: .blob([]))
            }
        default:
            throw Failure("unknown operation \(operation)")
        }
    }

    private static func sql(_ content: MergeScenario.Content) throws -> DatabaseValue {
        switch content {
        case .integer(let number), .count(let number): number.databaseValue
        case .string(let string): string.databaseValue
        case .list(let list): String(decoding: try JSONEncoder().encode(list), as: UTF8.self).databaseValue
        }
    }

    // MARK: Answers

    /// What the app sees.
    func shownRows() throws -> [Row] {
        try database.read { try Row.fetchAll($0, sql: "SELECT * FROM item") }
    }

    /// What the replica shows, in the form of the vectors' `expect`.
    func answer(names: [String]) throws -> [String: Any] {
        let vector = try store.vector()
        var known: [String: Any] = [:]
        for name in names where vector[Self.replicaID(name)] > 0 { known[name] = vector[Self.replicaID(name)] }
        var rows: [String: Any] = [:]
        for row in try shownRows() {
            let key: Data = row["id"]
            guard let id = RowID(bytes: key) else { continue }
            let tags = try JSONDecoder().decode([String].self, from: Data((row["tags"] as String).utf8)).sorted()
            var columns: [String: Any] = [
                "title": row["title"] as String? ?? NSNull(), "color": row["color"] as Int64? ?? NSNull(),
                "tags": tags, "views": row["views"] as Int64,
            ]
            if hasTexts { columns["note"] = row["note"] as String? ?? NSNull() }
            rows[hyphenated(id)] = ["columns": columns, "alternatives": try alternatives(id)]
        }
        return ["vector": known, "rows": rows]
    }

    private func alternatives(_ id: RowID) throws -> [String: Any] {
        var values: [String: [ColumnValue]] = [:]
        for alternative in try store.alternatives(table: "item", id: id) {
            values[alternative.column, default: []].append(alternative.value)
        }
        return values.mapValues { values in
            values.sorted().map { value -> Any in
                switch value {
                case .integer(let number): number
                case .text(let bytes): String(decoding: bytes, as: UTF8.self)
                default: NSNull()
                }
            }
        }
    }

    private func hyphenated(_ id: RowID) -> String {
        var digits = Array(id.description)
        for position in [20, 16, 12, 8] { digits.insert("-", at: position) }
        return String(digits)
    }
}
