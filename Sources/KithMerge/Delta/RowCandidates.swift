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
        guard try !exceeds(limit, since) else { return nil }
        var found: Set<Reference> = []
        // A replica that only rows of an unfinished catch-up name has no head yet, and counts from the start.
        let select = try ledger.connection.statement("SELECT tbl, row FROM kith_dot WHERE replica = ? AND sequence > ?")
        for (number, replica) in ledger.catalog.replicas.ids.enumerated() {
            select.bind(1, number)
            select.bind(2, Int64(bitPattern: since[replica]))
            while try select.step() { found.insert(Reference(table: select.int(0), row: select.integer(1))) }
        }
        // The set is only a filter: what is returned is sorted.
        return try found.compactMap { try candidate(table: $0.table, row: $0.row) }.sorted { $0.position < $1.position }
    }

    /// Whether the index has more than `limit` entries that `since` does not cover.
    private func exceeds(_ limit: Int, _ since: VersionVector) throws -> Bool {
        let count = try ledger.connection.statement(
            "SELECT count(*) FROM (SELECT 1 FROM kith_dot WHERE replica = ? AND sequence > ? LIMIT ?)")
        var left = limit
        for (number, replica) in ledger.catalog.replicas.ids.enumerated() {
            count.bind(1, number)
            count.bind(2, Int64(bitPattern: since[replica]))
            count.bind(3, left + 1)
            if try count.step() { left -= count.int(0) }
            count.reset()
            if left < 0 { return true }
        }
        return false
    }

    /// The rows that one commit lives in.
    package func carrying(_ dot: Dot, replica number: Int) throws -> [Candidate] {
        let select = try ledger.connection.statement("SELECT tbl, row FROM kith_dot WHERE replica = ? AND sequence = ?")
        select.bind(1, number)
        select.bind(2, Int64(bitPattern: dot.sequence))
        var found: [Reference] = []
        while try select.step() { found.append(Reference(table: select.int(0), row: select.integer(1))) }
        return try found.compactMap { try candidate(table: $0.table, row: $0.row) }
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
            row < 0 ? HiddenRows.idSQL : "SELECT id FROM \(Sidecar.clockTable(number)) WHERE row = ?")
        select.bind(1, Int64(bitPattern: UInt64(row.magnitude)))
        guard try select.step() else { return nil }
        defer { select.reset() }
        return Candidate(table: number, row: row, position: SlicePosition(table: table.name, row: try select.rowID(0)))
    }
}
