import KithCausality
import KithSync

/// Applies a slice in the transaction that is open: rows, vector and clock together.
struct SliceApplier {
    let ledger: RowLedger
    let records: VectorRecords
    let clock: CommitClock

    /// The names of the app's tables that changed; `nil` if the slice was refused, and nothing changed.
    func apply(_ slice: Slice) throws -> [String]? {
        let vector = try records.vector(ledger.catalog)
        guard vector.covers(slice.since) else { return nil }
        try records.observe(slice.clock)
        let rows = try localRows(of: slice)
        let target = slice.targetVector
        let merger = RowMerger(
            ledger: ledger, clock: clock, own: try records.replica(ledger.catalog), vector: vector,
            vectorAfter: slice.isLast ? vector.joined(with: target) : vector,
            listed: try records.listed(ledger.catalog))
        let absent = try absentRows(slice)
        for row in rows {
            if row.isPrelude {
                try TextCells(ledger).keepEarly(row.state, table: row.table, id: row.id)
                continue
            }
            var part = row.state
            part.context = VersionVector()
            let theirs = row.state.context.isEmpty ? slice.vector : slice.vector.joined(with: row.state.context)
            try merger.merge(part, isCut: row.isCut, into: row.table, id: row.id, theirs: theirs)
        }
        for row in absent {
            try merger.merge(RowState(), isCut: false, into: row.table, id: row.id, theirs: slice.vector)
        }
        if slice.isLast {
            try records.advance(to: slice.target, ledger)
            if let listing = slice.listing { try records.raiseFloor(to: listing.floor, ledger) }
            try records.forgetCoveredResumption(ledger.catalog)
            try records.dropCoveredContexts(ledger)
        } else if let position = slice.position {
            let progress = Resumption(position: position, vector: target)
            try records.noteProgress(progress, ledger)
            if let listing = slice.listing { try records.noteListed(progress, after: listing.after, ledger) }
        }
        let changed = rows.filter { !$0.isPrelude }.map(\.table) + absent.map(\.table)
        return Set(changed.compactMap { ledger.catalog[$0]?.tracked?.sqlName }).sorted()
    }

    /// The rows held here that a listing passes over.
    private func absentRows(_ slice: Slice) throws -> [(table: Int, id: RowID)] {
        guard let listing = slice.listing else { return [] }
        var listed = slice.rows.map { $0.position(in: slice.tables) }[...]
        var absent: [(table: Int, id: RowID)] = []
        try TableScan(ledger: ledger).read(after: listing.after) { row in
            if !slice.isLast, let end = slice.position, row.position > end { return false }
            while let first = listed.first, first < row.position { listed.removeFirst() }
            if listed.first != row.position { absent.append((row.table, row.position.row)) }
            return true
        }
        return absent
    }

    /// The rows of a slice, with this store's numbers for their tables and columns.
    func localRows(of slice: Slice) throws -> [RowPart] {
        let tables = try slice.tables.map(number)
        return try slice.rows.map { row in
            guard row.table < tables.count else { throw Self.unknownColumn }
            let table = tables[row.table]
            var row = row
            row.table = table.number
            for index in row.state.cells.indices {
                guard row.state.cells[index].column < table.columns.count else { throw Self.unknownColumn }
                row.state.cells[index].column = table.columns[row.state.cells[index].column]
            }
            row.state.cells.sort { $0.column < $1.column }
            return row
        }
    }

    /// This store's numbers for a table of the slice and its columns.
    private func number(of schema: TableSchema) throws -> (number: Int, columns: [Int]) {
        let catalog = CatalogStore(connection: ledger.connection)
        let number = try catalog.addTable(schema.name, to: &ledger.catalog)
        return (number, try schema.columns.map { try catalog.addColumn($0, table: number, to: &ledger.catalog) })
    }

    private static let unknownColumn = StoreError(.sliceRejected, "A slice names a table or column that it does not list.")
}
