import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithTexts

/// Reads what another replica lacks, in the order of ``SlicePosition``, up to one slice.
package struct SliceReader {
    package let ledger: RowLedger
    package let limits: SliceLimits

    package init(ledger: RowLedger, limits: SliceLimits) {
        self.ledger = ledger
        self.limits = limits
    }

    /// Up to this many rows to send, they are found through the index of commits and sorted; beyond, tables are scanned.
    static let indexedRowsMax = 20_000

    /// The rows to send, in order, as the index of commits names them; `nil` if the tables are to be scanned.
    private func candidates(since: VersionVector, _ heads: [Head]) throws -> [RowCandidates.Candidate]? {
        // Who knows nothing lacks every row.
        if since.isEmpty { return nil }
        return try RowCandidates(ledger: ledger).uncovered(by: since, heads, max: Self.indexedRowsMax)
    }

    package func read(_ request: SliceRequest) throws -> Slice {
        try ledger.requireAllTables()
        let records = VectorRecords(connection: ledger.connection)
        let heads = try records.heads(ledger.catalog)
        let floor = try records.floor(ledger.catalog)
        let request = request.listing(above: floor)
        let isListing = request.since.isEmpty && !floor.isEmpty
        let withheld = try withheld(request)
        let target = request.target ?? heads.filter { !withheld.authors.contains($0.dot.replica) }
        var builder = SliceBuilder(ledger, request, limits, target: target)
        if let candidates = try candidates(since: request.since, heads) {
            try readIndexed(candidates, request, &builder)
        } else {
            if request.after == nil { builder.rowsRemaining = try rowCount() }
            try TableScan(ledger: ledger).read(after: request.after) { row in
                guard try builder.add(row) else { return false }
                builder.rowsRemaining -= 1
                return true
            }
        }
        var slice = builder.finish(heads: heads, clock: try records.clock(), floor: isListing ? floor : nil)
        slice.withheld = withheld.rows
        return slice
    }

    /// Which rows are still too large to be sent, and whose commits in them the receiver lacks: it must not come to believe that it
    /// knows those.
    private func withheld(_ request: SliceRequest) throws -> (rows: [SlicePosition], authors: Set<ReplicaID>) {
        var rows: [SlicePosition] = []
        var authors: Set<ReplicaID> = []
        for position in request.withheld {
            guard let table = ledger.catalog.table(named: position.table),
                var part = try RowCandidates(ledger: ledger).find(table, position.row)?.state.uncovered(by: request.since)
            else { continue }
            try TextCells(ledger).fill(&part, table: table.number, id: position.row, unknownTo: request.since)
            guard part.isTooLargeToSend else { continue }
            rows.append(position)
            authors.formUnion(part.liveDots.filter { !request.since.covers($0) }.map(\.replica))
        }
        return (rows, authors)
    }

    /// All rows, by which the length of a delta is estimated that is read by a scan.
    private func rowCount() throws -> Int {
        let tables = ledger.catalog.tables.filter { $0.tracked != nil }.map { ClockTable.name($0.number) }
        return try tables.reduce(try HiddenRows(ledger.connection).count()) { sum, table in
            let select = try ledger.connection.statement("SELECT count(*) FROM \(table)")
            defer { select.reset() }
            return try select.step() ? sum + select.int(0) : sum
        }
    }

    private func readIndexed(
        _ candidates: [RowCandidates.Candidate], _ request: SliceRequest, _ builder: inout SliceBuilder
    ) throws {
        var remaining = candidates.count
        for candidate in candidates {
            builder.rowsRemaining = remaining
            remaining -= 1
            if let after = request.after, candidate.position <= after { continue }
            guard let row = try RowCandidates(ledger: ledger).load(candidate) else { continue }
            if try !builder.add(row) { return }
        }
    }
}

extension SliceRequest {
    /// The request of a receiver that has not seen all deletions up to `floor`, which are collected here, is one for everything:
    /// what is absent was deleted. What it holds of a broken-off catch-up counts if that knew of them.
    fileprivate func listing(above floor: VersionVector) -> SliceRequest {
        if since.covers(floor) { return self }
        let isUsable = resumption.map { $0.vector.covers(floor) && $0.position != .end } ?? false
        var request = SliceRequest(
            since: VersionVector(), resumption: isUsable ? resumption : nil, after: after, target: target, preludes: preludes)
        request.withheld = withheld
        return request
    }
}

/// A row as it was read: where it stands, and everything known of it.
package struct ReadRow {
    package let table: Int
    package let position: SlicePosition
    package let reference: RowReference
    package var state: RowState
}
