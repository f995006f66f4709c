import GRDB
import KithStore
import KithSync

/// What the tables with a journal of one database show.
struct ShownTables: Equatable {
    typealias Values = [String: ColumnValue]

    /// By table and row.
    private(set) var rows: [String: [RowID: Values]] = [:]
    /// By table, the columns that are sets, of which the order of elements says nothing.
    private let sets: [String: Set<String>]
    /// The columns that each table has.
    private var columns: [String: [String]] = [:]

    init(_ db: Database, _ tables: [WorkloadTable]) throws {
        var sets: [String: Set<String>] = [:]
        for table in tables where table.isKnown {
            let names = table.columns.filter { $0.isKnown && $0.kind == .set }.map(\.name)
            sets[table.name] = Set(names)
        }
        self.sets = sets
        for table in tables where table.isKnown && table.hasJournal {
            let columns = (table.keyColumns + table.columns).filter(\.isKnown).map(\.name)
            let sql = "SELECT \(([table.key] + columns).map(quoted).joined(separator: ", ")) FROM \(quoted(table.name))"
            self.columns[table.name] = columns
            var found: [RowID: Values] = [:]
            for row in try Row.fetchAll(try db.cachedStatement(sql: sql)) {
                guard let id = table.form.id(of: ColumnValue(row[0] as DatabaseValue)) else { continue }
                var values: Values = [:]
                for (place, column) in columns.enumerated() {
                    values[column] = normal(ColumnValue(row[place + 1] as DatabaseValue), column, table.name)
                }
                found[id] = values
            }
            rows[table.name] = found
        }
    }

    func normal(_ value: ColumnValue, _ column: String, _ table: String) -> ColumnValue {
        guard sets[table]?.contains(column) == true, case .text(let bytes) = value else { return value }
        return .text(RowView.text(RowDraft.elements(ofArray: bytes)))
    }

    func isSet(_ column: String, _ table: String) -> Bool { sets[table]?.contains(column) == true }

    subscript(table: String, row: RowID) -> Values? { rows[table]?[row] }

    // MARK: Back

    struct Place: Hashable {
        let table: String
        let row: RowID
    }

    /// Leaves out what is shown since `before` only because rows that a step had deleted are back: rows that others have put beneath
    /// them meanwhile, and references to them.
    func withoutWhatCameAlong(_ step: HistoryTransaction, since before: ShownTables, _ tables: [WorkloadTable]) -> ShownTables {
        let changes = Dictionary(step.changes.map { (Place(table: $0.table, row: $0.row), $0) }) { first, _ in first }
        func isNew(_ place: Place) -> Bool { self[place.table, place.row] != nil && before[place.table, place.row] == nil }
        var back = Set(changes.filter { $0.value.kind == .delete }.keys.filter(isNew))
        func isBack(_ column: WorkloadTable.Column, _ value: ColumnValue?) -> Bool {
            guard let reference = column.reference, let value, let id = tables[reference.parent].form.id(of: value) else { return false }
            return back.contains(Place(table: tables[reference.parent].name, row: id))
        }
        var shown = self
        var found: Set<Place>
        repeat {
            found = []
            for table in tables {
                for (row, values) in shown.rows[table.name] ?? [:] {
                    let place = Place(table: table.name, row: row)
                    guard isNew(place), changes[place]?.kind != .delete, table.columns.contains(where: { isBack($0, values[$0.name]) })
                    else {
                        continue
                    }
                    found.insert(place)
                }
            }
            for place in found { shown.rows[place.table]?[place.row] = nil }
            back.formUnion(found)
        } while !found.isEmpty
        for table in tables {
            for (row, values) in before.rows[table.name] ?? [:] {
                let step = changes[Place(table: table.name, row: row)]
                for column in table.columns where step?.columns[column.name] == nil && isBack(column, shown[table.name, row]?[column.name])
                {
                    shown.rows[table.name]?[row]?[column.name] = values[column.name]
                }
            }
        }
        return shown
    }

    /// Why a transaction cannot be what has led here.
    struct Contradiction: Error {
        let message: String
    }

    /// What was shown before a transaction that has led here.
    mutating func takeBack(_ transaction: HistoryTransaction) throws(Contradiction) {
        for change in transaction.changes { try takeBack(change) }
    }

    private mutating func takeBack(_ change: HistoryChange) throws(Contradiction) {
        let (table, id) = (change.table, change.row)
        func contradict(_ message: String) -> Contradiction { Contradiction(message: "\(change.kind) of \(table) \(id): \(message)") }
        switch change.kind {
        case .insert:
            guard rows[table]?.removeValue(forKey: id) != nil else { throw contradict("the row was not shown after it") }
        case .delete:
            guard rows[table]?[id] == nil else { throw contradict("the row was shown after it") }
            rows[table, default: [:]][id] = old(change)
        case .update:
            guard var values = rows[table]?[id] else { throw contradict("the row was not shown after it") }
            for (column, content) in change.columns {
                guard let shown = values[column] else { throw contradict("there is no column \(column)") }
                guard let before = Self.before(content, shown, { normal($0, column, table) }) else {
                    throw contradict("\(column) showed \(Literal(shown)) after it, and not \(content)")
                }
                values[column] = before
            }
            rows[table]?[id] = values
        }
    }

    /// What a deleted row held: all columns, NULL where none is named.
    private func old(_ change: HistoryChange) -> Values {
        var values: Values = [:]
        for column in columns[change.table] ?? [] { values[column] = .null }
        for case (let column, .value(let old, _)) in change.columns { values[column] = normal(old, column, change.table) }
        return values
    }

    /// `nil` if the content is not what has led to `shown`.
    private static func before(
        _ content: HistoryChange.Column, _ shown: ColumnValue, _ normal: (ColumnValue) -> ColumnValue
    ) -> ColumnValue? {
        switch content {
        case .value(let old, let new): return normal(new) == shown ? normal(old) : nil
        case .text(let offset, let removed, let inserted):
            guard case .text(let bytes) = shown, offset + inserted.utf8.count <= bytes.count,
                bytes[offset..<offset + inserted.utf8.count].elementsEqual(inserted.utf8)
            else { return nil }
            return .text(Array(bytes[..<offset]) + Array(removed.utf8) + Array(bytes[(offset + inserted.utf8.count)...]))
        }
    }

    /// The first row in which two moments differ, for people.
    func difference(from other: ShownTables) -> String {
        for table in Set(rows.keys).union(other.rows.keys).sorted() {
            let ids = Set((rows[table] ?? [:]).keys).union((other.rows[table] ?? [:]).keys)
            for id in ids.sorted(by: { ($0.high, $0.low) < ($1.high, $1.low) }) where rows[table]?[id] != other.rows[table]?[id] {
                return "\(table) \(id): \(Self.words(rows[table]?[id])) and not \(Self.words(other.rows[table]?[id]))"
            }
        }
        return "nothing"
    }

    private static func words(_ values: Values?) -> String {
        guard let values else { return "no row" }
        return "(" + values.sorted { $0.key < $1.key }.map { "\($0.key)=\(Literal($0.value))" }.joined(separator: ", ") + ")"
    }

    static func == (left: ShownTables, right: ShownTables) -> Bool { left.rows == right.rows }
}

/// What a node's tables with a journal showed when they were looked at last, and where its journal stood.
struct HistoryWatch {
    let shown: ShownTables
    let token: HistoryToken?
    /// How often it was looked.
    let count: Int
}
