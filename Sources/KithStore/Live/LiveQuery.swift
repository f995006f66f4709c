import Foundation
import GRDB
import KithLedger
import KithSQLite
import KithSync

/// The rows that a live list may show.
public typealias LiveRecord = EncodableRecord & FetchableRecord & Identifiable & Sendable

/// A request of which the rows are followed.
struct LiveQuery<Record: LiveRecord>: Sendable where Record.ID: Sendable {
    typealias Entry = LiveRows<Record>.Entry

    /// How the list is brought up to date.
    enum Plan: Sendable {
        /// Whether a row belongs to the list, and where, follows from the row alone: only rows that were written are read.
        case byRow(table: Int, LiveKey, LiveOrder)
        /// All rows are read and compared.
        case whole
    }

    let request: QueryInterfaceRequest<Record>

    init(_ request: QueryInterfaceRequest<Record>) {
        // Rows that the order leaves open stand by their keys, in each query alike.
        self.request = request.withStableOrder()
    }

    /// - Parameter tracked: the number and the key of a table that the store tracks.
    func plan(_ db: Database, tracked: (_ table: String) -> (number: Int, key: LiveKey)?) throws -> Plan {
        guard let (number, key) = tracked(request.databaseTableName) else { return .whole }
        let prepared = try request.makePreparedRequest(db)
        if Self.hasPrefetched(prepared) { return .whole }
        let sql = prepared.statement.sql.uppercased()
        // `id IN other` reads another table without any of the words below.
        let own = try Table(request.databaseTableName).databaseRegion(db)
        let calls = sql.filter { !$0.isWhitespace && $0 != "\"" }
        // What makes a row depend on other rows, or on files. A name that holds one of these words costs time, and nothing else.
        let isByRow =
            try own.union(request.databaseRegion(db)) == own && sql.components(separatedBy: "SELECT").count == 2
            && !["JOIN", "LIMIT", "DISTINCT", "GROUP", "OVER", "MATCH", "KITH_ATTACHMENT"].contains { sql.contains($0) }
            && !["MAX(", "MIN(", "COUNT(", "SUM(", "TOTAL(", "AVG(", "_AGG("].contains { calls.contains($0) }
        return isByRow ? .byRow(table: number, key, try order(db, key)) : .whole
    }

    private func order(_ db: Database, _ key: LiveKey) throws -> LiveOrder {
        let names = (0..<LiveOrder.rowsMax).map { "kith_\($0)" }
        let marks = names.map { ":\($0)" }.joined(separator: ", ")
        let few = request.filter(
            sql: "\(key.column.quotedDatabaseIdentifier) IN (\(marks))", arguments: LiveOrder.arguments(names.map { ($0, .null) }))
        let statement = try few.select([Column(key.column)], as: DatabaseValue.self).makePreparedRequest(db).statement
        return LiveOrder(key: key, names: names, sql: statement.sql, arguments: statement.arguments)
    }

    /// The tables and columns that a list depends on which is compared as a whole.
    func region(_ db: Database) throws -> DatabaseRegion { try request.databaseRegion(db) }

    // MARK: Rows

    /// All rows.
    ///
    /// - Parameter key: the column of the rows' keys, if they are asked for by them.
    func entries(_ db: Database, key: LiveKey?) throws -> [Entry] {
        if Self.hasPrefetched(try request.makePreparedRequest(db)) {
            return try Row.fetchAll(db, request).map { try Self.entry($0, key: key) }
        }
        return try entries(Row.fetchCursor(db, request), key: key)
    }

    /// Whether GRDB reads rows of an association after the request's own (`including(all:)`). It has no cursor for such a request, and no public
    /// property says that it is one. If a table is associated with itself, the request's region does not say it either.
    private static func hasPrefetched(_ prepared: PreparedRequest) -> Bool {
        guard let fetch = Mirror(reflecting: prepared).children.first(where: { $0.label == "supplementaryFetch" }) else { return true }
        return !Mirror(reflecting: fetch.value).children.isEmpty
    }

    /// Those of `keys` that belong to the list, in its order.
    func entries(_ db: Database, key: LiveKey, _ keys: some Sequence<RowID>) throws -> [Entry] {
        try entries(Row.fetchCursor(db, filtered(key, keys)), key: key)
    }

    /// The same without what they hold.
    func order(_ db: Database, _ order: LiveOrder, of keys: [RowID]) throws -> [RowID] {
        if keys.count <= LiveOrder.rowsMax { return try order.rows(db, among: keys) }
        return try filtered(order.key, keys).select([Column(order.key.column)], as: DatabaseValue.self).fetchAll(db).map(order.key.id)
    }

    private func filtered(_ key: LiveKey, _ keys: some Sequence<RowID>) -> QueryInterfaceRequest<Record> {
        request.filter(keys.map(key.value).contains(Column(key.column)))
    }

    private func entries(_ cursor: RowCursor, key: LiveKey?) throws -> [Entry] {
        var entries: [Entry] = []
        while let row = try cursor.next() { entries.append(try Self.entry(row, key: key)) }
        return entries
    }

    private static func entry(_ row: Row, key: LiveKey?) throws -> Entry {
        var hasher = Hasher()
        row.fingerprint(into: &hasher)
        let id = try key.map { try $0.id(row[$0.column] ?? .null) }
        return Entry(key: id, fingerprint: hasher.finalize(), record: try Record(row: row))
    }
}

/// A live list's request for the keys of a few rows in their order, prepared once: preparing takes longer than the answer.
struct LiveOrder: Sendable {
    /// How many rows are compared at once. Among 100,000 rows one is found in five steps.
    static var rowsMax: Int { 16 }

    let key: LiveKey
    /// The parameters that stand for keys.
    fileprivate let names: [String]
    fileprivate let sql: String
    /// The request's own.
    fileprivate let arguments: StatementArguments

    fileprivate func rows(_ db: Database, among keys: [RowID]) throws -> [RowID] {
        guard let last = keys.last else { return [] }
        let given = names.enumerated().map { ($1, key.value($0 < keys.count ? keys[$0] : last)) }
        return try DatabaseValue.fetchAll(db.cachedStatement(sql: sql), arguments: arguments &+ Self.arguments(given)).map(key.id)
    }

    fileprivate static func arguments(_ values: [(String, DatabaseValue)]) -> StatementArguments {
        StatementArguments(Dictionary(values) { first, _ in first })
    }
}

/// The column that names the rows of a table.
struct LiveKey: Hashable, Sendable {
    let column: String
    let form: KeyForm

    func value(_ id: RowID) -> DatabaseValue {
        switch form.value(id) {
        case .text(let bytes): String(decoding: bytes, as: UTF8.self).databaseValue
        default: Data(id.bytes).databaseValue
        }
    }

    func id(_ value: DatabaseValue) throws -> RowID {
        let held: ColumnValue =
            switch value.storage {
            case .blob(let data): .blob(Array(data))
            case .string(let text): .text(text)
            default: .null
            }
        guard let id = form.id(of: held) else {
            throw StoreError(.valueRejected, "A live list needs the rows' keys: let the request select all columns of the table.")
        }
        return id
    }
}

extension Row {
    /// All that was read, also of joined tables and associations.
    fileprivate func fingerprint(into hasher: inout Hasher) {
        for (_, value) in unadapted { value.storage.fingerprint(into: &hasher) }
        for name in prefetchedRows.keys.sorted() {
            let rows = prefetchedRows[name] ?? []
            hasher.combine(rows.count)
            for row in rows { row.fingerprint(into: &hasher) }
        }
    }
}

extension DatabaseValue {
    /// The same for what is the same bit for bit.
    var fingerprint: Int {
        var hasher = Hasher()
        storage.fingerprint(into: &hasher)
        return hasher.finalize()
    }
}

extension DatabaseValue.Storage {
    /// Tells apart what a column holds, bit for bit: a text from another Unicode spelling of it, and 1 from 1.0, which `Hashable` does not.
    fileprivate func fingerprint(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .int64(let number):
            hasher.combine(1)
            hasher.combine(number)
        case .double(let number):
            hasher.combine(2)
            hasher.combine(number.bitPattern)
        case .string(var text):
            hasher.combine(3)
            text.withUTF8 { bytes in
                hasher.combine(bytes.count)
                hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
            }
        case .blob(let bytes):
            hasher.combine(4)
            hasher.combine(bytes)
        }
    }
}
