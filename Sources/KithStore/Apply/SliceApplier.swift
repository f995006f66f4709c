import KithCausality
import KithSync

/// Applies a slice in the transaction that is open: rows, vector and clock together.
struct SliceApplier {
    let ledger: RowLedger
    let records: VectorRecords
    let wallClockMilliseconds: Int64

    /// The names of the app's tables that changed; `nil` if the slice was refused, and nothing changed.
    func apply(_ slice: Slice) throws -> [String]? {
        let vector = try records.vector(ledger.catalog)
        guard vector.covers(slice.since) else { return nil }
        let tables = try slice.tables.map(number)
        let target = slice.targetVector
        let merger = RowMerger(
            ledger: ledger, vector: vector, vectorAfter: slice.isLast ? vector.joined(with: target) : vector,
            wallClockMilliseconds: wallClockMilliseconds)
        for row in slice.rows {
            guard row.table < tables.count else { throw Self.unknownColumn }
            let table = tables[row.table]
            var part = row.state
            part.context = VersionVector()
            for index in part.cells.indices {
                guard part.cells[index].column < table.columns.count else { throw Self.unknownColumn }
                part.cells[index].column = table.columns[part.cells[index].column]
            }
            part.cells.sort { $0.column < $1.column }
            let theirs = row.state.context.isEmpty ? slice.vector : slice.vector.joined(with: row.state.context)
            try merger.merge(part, into: table.number, id: row.id, theirs: theirs)
        }
        if slice.isLast {
            try records.advance(to: slice.target, ledger)
            try records.forgetCoveredResumption(ledger.catalog)
            try records.dropCoveredContexts(ledger)
        } else if let position = slice.position {
            try records.noteProgress(Resumption(position: position, vector: target), ledger)
        }
        try records.observe(slice.clock)
        return Set(slice.rows.compactMap { ledger.catalog[tables[$0.table].number]?.tracked?.sqlName }).sorted()
    }

    /// This store's numbers for a table of the slice and its columns.
    private func number(of schema: TableSchema) throws -> (number: Int, columns: [Int]) {
        let catalog = CatalogStore(connection: ledger.connection)
        let number = try catalog.addTable(schema.name, to: &ledger.catalog)
        return (number, try schema.columns.map { try catalog.addColumn($0, table: number, to: &ledger.catalog) })
    }

    private static let unknownColumn = StoreError(.sliceRejected, "A slice names a table or column that it does not list.")
}
