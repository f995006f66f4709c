import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithTexts

/// Applies a slice in the transaction that is open: rows, vector and clock together.
package struct SliceApplier {
    package let ledger: RowLedger
    package let records: VectorRecords
    package let clock: CommitClock
    package var earlyLimits = EarlyChanges.Limits()
    /// How long it takes is measured by this.
    package let monotonicMilliseconds: @Sendable () -> Int64
    /// The device that brings the slice; `nil` if that is not known.
    package var device: [UInt8]?

    package init(
        ledger: RowLedger, records: VectorRecords, clock: CommitClock, earlyLimits: EarlyChanges.Limits = EarlyChanges.Limits(),
        monotonicMilliseconds: @escaping @Sendable () -> Int64
    ) {
        self.ledger = ledger
        self.records = records
        self.clock = clock
        self.earlyLimits = earlyLimits
        self.monotonicMilliseconds = monotonicMilliseconds
    }

    /// The part of a slice that was applied.
    package struct Part {
        /// The names of the app's tables that changed.
        package var tables: [String]
        /// The row of the slice at which the part ends.
        package var end: Int
    }

    /// What became of a slice, or a part of it.
    package enum Outcome {
        case applied(Part)
        /// The store's vector does not cover the slice's `since`. Nothing changed.
        case refused
        /// A row that was collected here comes back, and more than its part is needed. The transaction must not stay.
        case needsWholeRows
    }

    /// After so long, a slice that is not the last of its delta goes on in another transaction, so that others can write.
    static let partMilliseconds: Int64 = 8

    /// Applies the rows from `first` on.
    package func apply(_ slice: Slice, from first: Int = 0) throws -> Outcome {
        try ledger.requireAllTables()
        let vector = try records.vector(ledger.catalog)
        guard vector.covers(slice.since) else { return .refused }
        let waiting = WaitingRows(ledger)
        let before = try waiting.mark()
        try records.observe(slice.clock)
        let target = slice.targetVector
        let listing = try listingToTake(of: slice, vector)
        var merger = RowMerger(
            ledger: ledger, clock: clock, own: try records.replica(ledger.catalog), vector: vector,
            vectorAfter: slice.isLast ? vector.joined(with: target) : vector,
            listed: try records.listed(ledger.catalog))
        merger.device = device
        let absent = try listing.map { try absentRows(slice, $0) } ?? []
        guard let (end, changed) = try merge(slice, from: first, listing, merger) else { return .needsWholeRows }
        for row in absent {
            _ = try merger.merge(RowState(), isCut: false, incomplete: [], into: row.table, id: row.id, theirs: slice.vector)
        }
        try merger.finish()
        if slice.isLast {
            try records.advance(to: slice.target, ledger)
            if let listing {
                // A store's floor never goes beyond its vector.
                let known = vector.joined(with: target)
                try records.raiseFloor(to: VersionVector(listing.floor.entries.filter(known.covers)), ledger)
                try ListingRule(ledger).settle()
            }
            try forgetCoveredResumption()
            try records.dropCoveredContexts(ledger)
            if ledger.keepsEarlyChanges, try records.resumption(ledger.catalog) == nil {
                try EarlyChanges(ledger).dropKnown { number, id in
                    guard let table = ledger.catalog[number] else { return nil }
                    return try RowCandidates(ledger: ledger).find(table, id)?.state
                }
            }
        } else if let position = end < slice.rows.count ? slice.rows[end - 1].position(in: slice.tables) : slice.position {
            let progress = Resumption(position: position, vector: target)
            let isTooOld = try before.areThere && waiting.isTimeOver(nowMilliseconds: clock.wallClockMilliseconds)
            try records.noteProgress(progress, replacesLater: isTooOld, ledger)
            if let listing { try records.noteListed(progress, after: listing.after, ledger) }
            // All of the delta has come from another peer.
            if vector.covers(target) { try forgetCoveredResumption() }
        }
        try waiting.noteArrivals(since: before, vector: merger.vectorAfter, nowMilliseconds: clock.wallClockMilliseconds)
        let tables = changed.union(absent.map(\.table))
        return .applied(Part(tables: tables.compactMap { ledger.catalog[$0]?.tracked?.sqlName }.sorted(), end: end))
    }

    /// The slice's listing, if this store has a reason to take one.
    private func listingToTake(of slice: Slice, _ vector: VersionVector) throws -> Listing? {
        guard let listing = slice.listing else { return nil }
        let answer = try ListingRule(ledger).answer(to: listing, vector: vector, nowMilliseconds: clock.wallClockMilliseconds)
        return answer == .take ? listing : nil
    }

    private func forgetCoveredResumption() throws {
        guard try records.forgetCoveredResumption(ledger.catalog) else { return }
        try EarlyChanges(ledger).dropCovered()
    }

    /// - Returns: the row at which the time was up, and the tables that changed; `nil` if rows must be sent whole.
    private func merge(
        _ slice: Slice, from first: Int, _ listing: Listing?, _ merger: RowMerger
    ) throws -> (end: Int, tables: Set<Int>)? {
        let tables = try slice.tables.map(number)
        let plain = try PlainRows.ofTables(tables, merger, theirs: slice.vector)
        let mayPause = !slice.isLast && slice.listing == nil
        let due = monotonicMilliseconds() + Self.partMilliseconds
        var changed: Set<Int> = []
        var lastTable = -1
        for (index, row) in slice.rows[first...].enumerated() {
            if mayPause, index > 0, monotonicMilliseconds() >= due {
                return (first + index, changed)
            }
            guard row.table >= 0, row.table < tables.count else { throw Self.unknownColumn }
            if row.isPrelude {
                try keepAhead([row], of: slice)
                continue
            }
            if row.table != lastTable { changed.insert(tables[row.table].number) }
            lastTable = row.table
            if let plain = plain[row.table], try plain.take(row) { continue }
            let incomplete = tables[row.table].incomplete
            let position = row.position(in: slice.tables)
            // Changes that went ahead of a row may be known here, and then are not kept: what its part lacks need not be gone.
            let isListed = listing.map { $0.after.map { position > $0 && position.predecessor != $0 } ?? true } ?? false
            let row = try localRow(row, tables)
            var part = row.state
            part.context = VersionVector()
            let theirs = row.state.context.isEmpty ? slice.vector : slice.vector.joined(with: row.state.context)
            let isMerged = try merger.merge(
                part, isCut: row.isCut, isListed: isListed, incomplete: incomplete, into: row.table, id: row.id, theirs: theirs)
            if !isMerged { return nil }
        }
        return (slice.rows.count, changed)
    }

    /// Keeps the changes of texts in these parts, which are in terms of the slice, until their rows come.
    ///
    /// - Returns: the texts that they are of.
    @discardableResult
    package func keepAhead(_ parts: [RowPart], of slice: Slice) throws -> [TextKey] {
        let tables = try slice.tables.map(number)
        return try parts.flatMap { part in
            let row = try localRow(part, tables)
            return try TextCells(ledger).keepEarly(row.state, table: row.table, id: row.id, earlyLimits)
        }
    }

    /// The rows held here that a listing passes over.
    private func absentRows(_ slice: Slice, _ listing: Listing) throws -> [(table: Int, id: RowID)] {
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
    package func localRows(of slice: Slice) throws -> [RowPart] {
        let tables = try slice.tables.map(number)
        return try slice.rows.map { try localRow($0, tables) }
    }

    private func localRow(_ part: RowPart, _ tables: [LocalTable]) throws -> RowPart {
        guard part.table >= 0, part.table < tables.count else { throw Self.unknownColumn }
        let table = tables[part.table]
        var row = part
        row.table = table.number
        for index in row.state.cells.indices {
            guard row.state.cells[index].column < table.columns.count else { throw Self.unknownColumn }
            row.state.cells[index].column = table.columns[row.state.cells[index].column]
        }
        row.state.cells.sort { $0.column < $1.column }
        return row
    }

    /// This store's numbers for a table of the slice and its columns. What is incomplete there will be so here.
    private func number(of schema: TableSchema) throws -> LocalTable {
        let catalog = CatalogStore(connection: ledger.connection)
        let number = try catalog.addTable(schema.name, isOfPeer: true, to: &ledger.catalog)
        let columns = try schema.columns.map { try catalog.addColumn($0, table: number, isOfPeer: true, to: &ledger.catalog) }
        try IncompleteColumns(connection: ledger.connection).take(schema.incomplete, of: number)
        let known = ledger.catalog.tables[number].columns
        let incomplete = schema.incomplete.compactMap { key in known.first { $0.key == key }?.number }
        return LocalTable(number: number, columns: columns, incomplete: incomplete)
    }

    private static let unknownColumn = StoreError(.sliceRejected, "A slice names a table or column that it does not list.")
}

/// A table of a slice, and its columns, as this store numbers them.
struct LocalTable {
    let number: Int
    let columns: [Int]
    /// Those of the columns known here of which the sender's rows may lack cells.
    let incomplete: [Int]
}
