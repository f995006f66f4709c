import Foundation
import GRDB
import KithCausality
import KithLedger
import KithStore
import KithSync
import Synchronization
import TestSupport
import Testing

/// Where a store keeps its database.
enum Backend: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case memory
    case queue
    case pool

    var testDescription: String { rawValue }

    func open(_ path: String) throws -> any DatabaseWriter {
        switch self {
        case .memory: try DatabaseQueue()
        case .queue: try DatabaseQueue(path: path)
        case .pool: try DatabasePool(path: path)
        }
    }
}

/// A store with a table of notes, whose clock counts on by itself.
final class TestStore {
    static let noteSQL = """
        CREATE TABLE IF NOT EXISTS note (
            id BLOB PRIMARY KEY NOT NULL, title TEXT, color INTEGER,
            tags TEXT NOT NULL DEFAULT '[]', views INTEGER NOT NULL DEFAULT 0)
        """
    static let note = TrackedTable("note", sets: ["tags"], counters: ["views"])

    let folder: TemporaryFolder
    let path: String
    let database: any DatabaseWriter
    let store: SyncedDatabase

    init(
        _ backend: Backend = .memory, replica: ReplicaID? = nil, sql: String = TestStore.noteSQL,
        tables: [TrackedTable] = [TestStore.note], folder: TemporaryFolder? = nil, name: String = "notes.sqlite",
        textBudget: TextBudget = TextBudget()
    ) throws {
        self.folder = try folder ?? TemporaryFolder()
        path = self.folder.file(name)
        database = try backend.open(path)
        try database.write { try $0.execute(sql: sql) }
        var options = Self.options(replica)
        options.textBudget = textBudget
        store = try SyncedDatabase(database, tables: tables, options: options)
    }

    static func options(_ replica: ReplicaID? = nil) -> SyncedDatabase.Options {
        let now = Counter()
        var options = SyncedDatabase.Options(clock: { HybridTimestamp(milliseconds: 1_700_000_000_000 + now.next()) })
        let elapsed = Counter()
        options.monotonicMilliseconds = { elapsed.next() }
        if let replica { options.makeReplicaID = { replica } }
        return options
    }

    func execute(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
        try database.write { try $0.execute(sql: sql, arguments: arguments) }
    }

    /// The shown row, `nil` if it is not there.
    func row(_ id: RowID) throws -> Row? {
        try database.read { try Row.fetchOne($0, sql: "SELECT * FROM note WHERE id = ?", arguments: [Data(id.bytes)]) }
    }

    /// The number of commits this store has made.
    func sequence() throws -> UInt64 {
        let summary = try store.summary()
        return summary.vector[summary.replica]
    }

    /// Everything the store would send about a row.
    func state(_ id: RowID, table: String = "note") throws -> NamedState? {
        let slice = try store.delta(since: VersionVector())
        guard let part = slice.rows.first(where: { $0.id == id && slice.tables[$0.table].name == Array(table.utf8) }) else { return nil }
        return NamedState(part, slice.tables[part.table])
    }

    func receive(from other: TestStore) throws {
        guard case .applied = try store.apply(try other.store.delta(since: try store.vector())) else {
            throw StoreError(.failed, "refused")
        }
    }

    /// Takes all that `other` has, in slices of `rowsMax` rows.
    func receive(from other: TestStore, rowsMax: Int) throws {
        var request = SliceRequest(since: try store.vector())
        while true {
            let slice = try other.store.slice(request, limits: SliceLimits(rowsMax: rowsMax))
            guard case .applied = try store.apply(slice) else { throw StoreError(.failed, "refused") }
            if slice.isLast { return }
            request = SliceRequest(since: slice.since, after: slice.position, target: slice.target)
        }
    }

    /// Fails the test if the store does not hold together.
    func expectSound(_ location: SourceLocation = #_sourceLocation) throws {
        #expect(try store.verify().problems == [], sourceLocation: location)
    }
}

/// The state of a row with the names of its columns.
struct NamedState {
    let state: RowState
    private let schema: TableSchema

    init(_ part: RowPart, _ schema: TableSchema) {
        state = part.state
        self.schema = schema
    }

    /// The sequences of the commits that live in a column.
    func sequences(_ column: String) -> [UInt64] {
        cell(column)?.dots.map(\.sequence) ?? []
    }

    func cell(_ column: String) -> Cell? {
        schema.columns.firstIndex { $0.name == Array(column.utf8) }.flatMap { state[$0] }
    }

    var isDeleted: Bool { !state.tombstones.isEmpty }
}

final class Counter: Sendable {
    private let value = Atomic<Int64>(0)

    func next() -> Int64 {
        value.add(1, ordering: .relaxed).newValue
    }
}

/// The row id that ends in `number`.
func rowID(_ number: UInt64) -> RowID { RowID(high: 0x0190_0000_0000_7000, low: number) }

/// `rowID(number)` as an argument of a statement.
func key(_ number: UInt64) -> Data { Data(rowID(number).bytes) }
