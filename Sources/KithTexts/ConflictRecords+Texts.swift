import KithCausality
import KithLedger
import KithSync

extension ConflictRecords {
    /// All conflicts, the latest write first.
    package func all() throws -> MergedTexts.Found {
        let authors = try Authors(ledger: ledger)
        var found = try MergedTexts(ledger: ledger).search(authors)
        found.conflicts += try rows().flatMap { try values($0.table, $0.id, authors) }
        found.conflicts.sort { left, right in
            let (newest, other) = (left.newest, right.newest)
            if newest != other { return newest > other }
            return (left.table, left.row, left.column, left.start) < (right.table, right.row, right.column, right.start)
        }
        return found
    }

    /// Those of a visible row: whole values by column, then texts.
    package func conflicts(_ number: Int, _ id: RowID, _ authors: Authors) throws -> [Conflict] {
        let texts = try MergedTexts(ledger: ledger).search(table: number, id: id, authors).conflicts
        return try values(number, id, authors) + texts.sorted { ($0.column, $0.start) < ($1.column, $1.start) }
    }
}

extension Conflict {
    /// When the last of the versions was written.
    fileprivate var newest: HybridTimestamp { versions.map(\.stamp.timestamp).max() ?? .zero }

    /// Where in its text it is.
    fileprivate var start: Int {
        if case .text(let lines) = kind { lines.range.lowerBound } else { 0 }
    }
}
