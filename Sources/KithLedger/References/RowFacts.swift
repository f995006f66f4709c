import KithCausality
import KithSQLite
import KithSync

/// What the rule of references asks of a row.
package struct RowFacts {
    package enum Life {
        /// Its own state lets it be shown.
        case alive
        /// Deleted, with contents.
        case dead
        /// Nothing that could be shown is known of it.
        case absent
    }

    package var life: Life
    package var isShown: Bool
    /// The references it has, as they were written, with the rows they name; `nil` for a value that names none.
    package var references: [(reference: Reference, parent: RowKey?, value: ColumnValue)] = []

    package func parents(_ rule: (Reference) -> Bool) -> [RowKey?] {
        references.filter { rule($0.reference) }.map(\.parent)
    }
}

/// Reads facts, each once.
package final class RowFactsReader {
    package let ledger: RowLedger
    private var known: [RowKey: RowFacts] = [:]

    package init(_ ledger: RowLedger) {
        self.ledger = ledger
    }

    package subscript(row: RowKey) -> RowFacts {
        get throws {
            if let known = known[row] { return known }
            let facts = try read(row)
            known[row] = facts
            return facts
        }
    }

    /// A row was written.
    package func forget(_ row: RowKey) {
        known[row] = nil
    }

    private func read(_ row: RowKey) throws -> RowFacts {
        guard let table = ledger.catalog[row.table], let tracked = table.tracked else { return RowFacts(life: .absent, isShown: false) }
        if let found = try UserTable(connection: ledger.connection, table: table, tracked: tracked).find(row.id) {
            guard let stored = try ledger.storedRow(row.table, row: found.row) else { return RowFacts(life: .absent, isShown: true) }
            var facts = RowFacts(life: .alive, isShown: true)
            if !stored.exceptions.tombstones.isEmpty {
                let state = try stored.state(tracked, values: found.values) { try SetText.elements(of: $0, ledger.connection) }
                if !state.isVisible(tracked.deletePolicy) { facts.life = .dead }
            }
            facts.references = tracked.references.compactMap { reference in
                Self.named(reference, stored.written(reference.column) ?? found.values[reference.position])
            }
            return facts
        }
        guard let hidden = try ledger.hiddenRow(row.table, row.id) else { return RowFacts(life: .absent, isShown: false) }
        var facts = RowFacts(life: .absent, isShown: false)
        let values = hidden.state.shownValues(tracked)
        // Of a table that has nothing but counters, garbage collection takes nothing.
        let isKept = table.columns.allSatisfy { $0.key.kind == .counter }
        let hasContents = isKept ? !hidden.state.cells.isEmpty : !hidden.state.isBare
        if hidden.reason == .deleted || hidden.reason == .reference, hasContents,
            tracked.naturalKey?.names(row.id, showing: values) ?? true
        {
            facts.life = hidden.state.isVisible(tracked.deletePolicy) ? .alive : .dead
        }
        facts.references = tracked.references.compactMap { Self.named($0, values[$0.position] ?? .null) }
        return facts
    }

    private static func named(_ reference: Reference, _ value: ColumnValue) -> (Reference, RowKey?, ColumnValue)? {
        switch value {
        case .null: nil
        default: (reference, reference.row(named: value), value)
        }
    }
}

/// The largest part of `rows` in which each has what it requires: `requires` names the rows needed, of which those outside
/// are there or not by `isGiven`. `nil` stands for a row that can never be.
package func largestPart(
    of rows: Set<RowKey>, requires: (RowKey) throws -> [RowKey?], isGiven: (RowKey) throws -> Bool
) rethrows -> Set<RowKey> {
    var part = rows
    var dependents: [RowKey: [RowKey]] = [:]
    var lost: [RowKey] = []
    for row in rows.sorted() {
        for parent in try requires(row) {
            guard let parent, try rows.contains(parent) || isGiven(parent) else {
                lost.append(row)
                break
            }
            dependents[parent, default: []].append(row)
        }
    }
    while let row = lost.popLast() {
        if part.remove(row) != nil { lost += dependents[row] ?? [] }
    }
    return part
}
