import Foundation
import GRDB
import KithLedger
import KithSync

extension SyncedDatabase {
    /// Moves rows of a table with a declared position to a place in the order that people make by hand, in a transaction of its own; as
    /// the form with `db` does.
    ///
    /// - Throws: ``StoreError`` with code `notFound` if the table has no position, or the row of the place is not there.
    @discardableResult
    public func move(
        _ rows: [RowID], to place: Position.Place, in table: String, among condition: SQL? = nil
    ) throws(StoreError) -> Int {
        try write { db, _ in try move(db, rows, to: place, in: table, among: condition) }
    }

    /// Moves rows of a table with a declared position to a place in the order that people make by hand: together, in the order in which
    /// they are named. Rows that are not there are left out; rows that stand there already are not written.
    ///
    ///     try app.database.write { db in try app.store.move(db, chosen, to: .before(tea), in: "item") }
    ///
    /// It writes the moved rows alone. Only where a position would be longer than ``Position/bytesMax``, rows around the place get new
    /// ones, too: up to ``Position/rowsRenewedMax``, and more if an app has written equal positions or other texts. Of a row that is moved on
    /// another device just then, the later position is shown.
    ///
    /// - Parameters:
    ///   - db: a writing access to the store's database.
    ///   - place: in the order of ``Position/orderSQL(_:id:)``, and where that is equal, of ids.
    ///   - condition: which rows the list has, if people do not see all; the place is between two of them, and an index that begins with
    ///     these columns helps.
    /// - Returns: how many of the rows are there.
    /// - Throws: ``StoreError`` with code `notFound` if the table has no position, or the row of the place is not there.
    @discardableResult
    public func move(
        _ db: Database, _ rows: [RowID], to place: Position.Place, in table: String, among condition: SQL? = nil
    ) throws(StoreError) -> Int {
        let state = try writerState(db)
        return try StoreError.typed {
            try state.entry.enter()
            guard let (_, tracked) = state.ledger.tracked(table),
                let column = writer.declarations.tables.first(where: { $0.name == table })?.position
            else {
                throw StoreError(
                    .notFound,
                    "The table \(table) has no order by hand. Declare its column: TrackedTable(\"\(table)\", position: \"position\").")
            }
            let order = RowOrder(
                db: db, table: table, column: column, key: LiveKey(column: tracked.key, form: tracked.form), condition: condition)
            return try order.move(rows, to: place)
        }
    }
}

/// The order of a table's rows by hand, within one transaction.
private struct RowOrder {
    let db: Database
    let table: String
    let column: String
    let key: LiveKey
    let condition: SQL?

    private var order: SQL { SQL(sql: Position.orderSQL(quoted(column), id: quoted(key.column))) }
    private var id: SQL { SQL(sql: quoted(key.column)) }

    /// A row and what it is ordered by: a text, unless an app has written something else.
    private struct Placed {
        let row: RowID
        let order: DatabaseValue

        var position: String? { if case .string(let text) = order.storage { text } else { nil } }
        var isBlob: Bool { if case .blob = order.storage { true } else { false } }
        var isNumber: Bool {
            switch order.storage {
            case .int64, .double: true
            default: false
            }
        }
    }

    func move(_ rows: [RowID], to place: Position.Place) throws -> Int {
        let moved = try present(rows)
        if moved.isEmpty { return 0 }
        let update = try db.makeStatement(
            sql: "UPDATE main.\(quoted(table)) SET \(quoted(column)) = ? WHERE \(quoted(key.column)) = ?")
        for (row, position) in try positions(of: moved, at: place) {
            try update.execute(arguments: [position, key.value(row)])
        }
        return moved.count
    }

    /// Those of `rows` that are there, each once.
    private func present(_ rows: [RowID]) throws -> [Placed] {
        var found: [RowID: Placed] = [:]
        for start in stride(from: 0, to: rows.count, by: 500) {
            let keys = rows[start..<min(start + 500, rows.count)].map(key.value)
            for row in try fetch("\(id) IN \(keys)", orderedBy: "1").rows(max: keys.count) { found[row.row] = row }
        }
        return rows.compactMap { found.removeValue(forKey: $0) }
    }

    /// The positions to be written; none if the rows stand there already.
    private func positions(of moved: [Placed], at place: Position.Place) throws -> [(RowID, String)] {
        let skipped = Set(moved.map(\.row))
        let sides = try sides(of: place, skipped)
        /// How many rows on each side get new positions, too.
        var renewed = 0
        var longest: [(RowID, String)]?
        while true {
            let below = try sides.below.first(renewed + 1)
            let above = try sides.above.first(renewed + 1)
            let (lower, upper) = (below.dropFirst(renewed).first, above.dropFirst(renewed).first)
            if renewed == 0, stands(moved, above: lower, below: upper) { return [] }
            let rows = below.prefix(renewed).reversed().map(\.row) + moved.map(\.row) + above.prefix(renewed).map(\.row)
            let isLast = lower == nil && upper == nil
            if let found = self.found(above: lower, below: upper, of: rows, renews: renewed > 0) {
                let positions = Array(zip(rows, found))
                let bytes = found.map(\.utf8.count).max() ?? 0
                if bytes <= (renewed == 0 ? Position.bytesMax : Position.bytesMax / 2) || isLast { return positions }
                let most = longest?.map(\.1.utf8.count).max()
                if 2 * renewed >= Position.rowsRenewedMax {
                    // Unless that makes them shorter, rows are not written.
                    return longest.flatMap { bytes + Self.bytesWorthwhile > most ?? 0 ? $0 : nil } ?? positions
                }
                if longest == nil { longest = positions }
            } else if isLast {
                throw StoreError(.failed, "The rows of \(table) cannot be put in order.")
            }
            renewed = renewed == 0 ? 4 : 2 * renewed
        }
    }

    private static let bytesWorthwhile = 8

    /// Whether rows follow each other already, and no others come between.
    private func stands(_ moved: [Placed], above lower: Placed?, below upper: Placed?) -> Bool {
        let all = [lower].compactMap(\.self) + moved + [upper].compactMap(\.self)
        return zip(all, all.dropFirst()).allSatisfy { left, right in
            guard let left = left.position, let right = right.position else { return false }
            return left.utf8.lexicographicallyPrecedes(right.utf8)
        }
    }

    /// SQL puts numbers before all texts, and blobs after.
    private func found(above lower: Placed?, below upper: Placed?, of rows: [RowID], renews: Bool) -> [String]? {
        var bounds: [String?] = [nil, nil]
        if let lower, !lower.isNumber {
            guard let position = lower.position else { return nil }
            bounds[0] = position
        }
        if let upper, !upper.isBlob {
            guard let position = upper.position else { return nil }
            bounds[1] = position
        }
        return renews
            ? Position.spread(above: bounds[0], below: bounds[1], of: rows) : Position.run(above: bounds[0], below: bounds[1], of: rows)
    }

    // MARK: Reading in order

    /// Rows in one direction, read as far as they are asked for.
    private final class Side {
        private var read: [Placed] = []
        private let cursor: RowCursor?
        private let key: LiveKey
        private let skipped: Set<RowID>

        init(_ cursor: RowCursor?, _ key: LiveKey, _ skipped: Set<RowID>) {
            (self.cursor, self.key, self.skipped) = (cursor, key, skipped)
        }

        func first(_ count: Int) throws -> ArraySlice<Placed> {
            while read.count < count, let row = try cursor?.next() {
                let placed = Placed(row: try key.id(row[1]), order: row[0])
                if !skipped.contains(placed.row) { read.append(placed) }
            }
            return read.prefix(count)
        }

        func rows(max: Int) throws -> ArraySlice<Placed> { try first(max) }
    }

    /// The rows on both sides of a place, the nearest first.
    private func sides(of place: Position.Place, _ skipped: Set<RowID>) throws -> (below: Side, above: Side) {
        let none = Side(nil, key, skipped)
        switch place {
        case .first: return (none, try fetch("true", orderedBy: ascending, skipped))
        case .last: return (try fetch("true", orderedBy: descending, skipped), none)
        case .before(let row), .after(let row):
            guard let anchor = try fetch("\(id) = \(key.value(row))", orderedBy: "1").rows(max: 1).first else {
                throw StoreError(.notFound, "The row \(row) of \(table) is not there any more. Choose another place.")
            }
            let (at, key) = (anchor.order, key.value(row))
            let isAfter = if case .after = place { true } else { false }
            let below: SQL = "\(order) <= \(at) AND (\(order) < \(at) OR \(id) \(sql: isAfter ? "<=" : "<") \(key))"
            let above: SQL = "\(order) >= \(at) AND (\(order) > \(at) OR \(id) \(sql: isAfter ? ">" : ">=") \(key))"
            return (try fetch(below, orderedBy: descending, skipped), try fetch(above, orderedBy: ascending, skipped))
        }
    }

    private var ascending: SQL { "\(order), \(id)" }
    private var descending: SQL { "\(order) DESC, \(id) DESC" }

    private func fetch(_ filter: SQL, orderedBy columns: SQL, _ skipped: Set<RowID> = []) throws -> Side {
        // The row that names a place need not be in the list.
        let listed: SQL = skipped.isEmpty ? "" : condition.map { "(\($0)) AND " } ?? ""
        let request: SQLRequest<Row> =
            "SELECT \(order), \(id) FROM main.\(sql: quoted(table)) WHERE \(listed)\(filter) ORDER BY \(columns)"
        return Side(try request.fetchCursor(db), key, skipped)
    }
}
