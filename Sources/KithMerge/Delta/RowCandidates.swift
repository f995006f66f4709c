import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithTexts

/// Finds rows through the index of commits.
package struct RowCandidates {
    package let ledger: RowLedger

    package init(ledger: RowLedger) {
        self.ledger = ledger
    }

    package struct Candidate {
        package let table: Int
        package let row: RowReference
        package let position: SlicePosition
    }

    /// The rows with a commit that `since` does not cover, in order; `nil` if there are more than `max`.
    package func uncovered(by since: VersionVector, _ heads: [Head], max limit: Int) throws -> [Candidate]? {
        let index = DotIndex(ledger.connection)
        guard try !index.exceeds(limit, uncoveredBy: since, ledger.catalog.replicas) else { return nil }
        var found: Set<Reference> = []
        try index.read(uncoveredBy: since, ledger.catalog.replicas) { found.insert(Reference(table: $0, row: $1)) }
        // The set is only a filter: what is returned is sorted.
        return try found.compactMap { try candidate(table: $0.table, row: $0.row) }.sorted { $0.position < $1.position }
    }

    /// The rows that one commit lives in.
    package func carrying(_ dot: Dot, replica number: Int) throws -> [Candidate] {
        try DotIndex(ledger.connection).rows(of: dot, replica: number).compactMap { try candidate(table: $0.table, row: $0.row) }
    }

    /// Everything known of a candidate's row.
    package func load(_ candidate: Candidate) throws -> ReadRow? {
        guard let table = ledger.catalog[candidate.table] else { return nil }
        if candidate.row < 0 {
            guard let hidden = try ledger.hiddenRow(candidate.table, candidate.position.row) else { return nil }
            var state = hidden.state
            state.context = try ledger.contextVector(hidden.context)
            return ReadRow(
                table: candidate.table, position: candidate.position, reference: candidate.row, state: state)
        }
        guard let tracked = table.tracked,
            let stored = try ledger.storedRow(candidate.table, row: candidate.row),
            let found = try UserTable(connection: ledger.connection, table: table, tracked: tracked).find(candidate.position.row)
        else { return nil }
        var state = try stored.state(tracked, values: found.values) { try SetText.elements(of: $0, ledger.connection) }
        state.context = try ledger.contextVector(stored.context)
        return ReadRow(
            table: candidate.table, position: candidate.position, reference: candidate.row, state: state)
    }

    private struct Reference: Hashable {
        let table: Int
        let row: RowReference
    }

    /// The row that an entry of the index names.
    package func candidate(table number: Int, row: RowReference) throws -> Candidate? {
        guard let table = ledger.catalog[number] else { return nil }
        let select = try ledger.connection.statement(
            row < 0 ? HiddenRows.idSQL : ClockTable.idSQL(number))
        select.bind(1, Int64(bitPattern: UInt64(row.magnitude)))
        guard try select.step() else { return nil }
        defer { select.reset() }
        return Candidate(table: number, row: row, position: SlicePosition(table: table.name, row: try select.rowID(0)))
    }
}
