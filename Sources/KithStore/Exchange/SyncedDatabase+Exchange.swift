import GRDB
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import Synchronization

/// What a store knows, and what it gives to peers and takes from them.
extension SyncedDatabase {
    // MARK: Knowledge

    /// Who this store is and what it knows, read in one transaction.
    package func summary() throws -> StoreSummary {
        let summary = try read(rows: false) { ledger in
            try noteOwnHead(ledger)
            let summary = try VectorRecords(connection: ledger.connection).summary(ledger.catalog)
            try noteProofs(of: summary.vector, ledger)
            return summary
        }
        // All sessions that begin at this moment hold it once.
        return lastSummary.withLock { last in
            if let last, last == summary { return last }
            last = summary
            return summary
        }
    }

    /// The same as a part of what is open on `db`.
    package func summary(_ db: Database) throws -> StoreSummary {
        try read(in: db, rows: false) { ledger in try VectorRecords(connection: ledger.connection).summary(ledger.catalog) }
    }

    /// The version vector.
    package func vector() throws -> VersionVector {
        try summary().vector
    }

    /// The same as a part of what is open on `db`.
    package func vector(_ db: Database) throws -> VersionVector {
        try summary(db).vector
    }

    /// What rows of broken-off catch-ups know beyond the vector: whoever is to bring the rest may never come back, so a session offers
    /// these rows to its peer once. Takes time in proportion to the number of such catch-ups.
    package func ahead() throws -> VersionVector {
        try read(rows: false) { ledger in
            let ahead = try VectorRecords(connection: ledger.connection).ahead(ledger.catalog)
            try noteProofs(of: ahead, ledger)
            return ahead
        }
    }

    // MARK: Slices

    /// Reads what a replica lacks, up to one slice.
    package func slice(_ request: SliceRequest, limits: SliceLimits = SliceLimits()) throws -> Slice {
        try read { ledger in
            try noteOwnHead(ledger)
            let slice = try SliceReader(ledger: ledger, limits: limits).read(request)
            try noteProofs(of: slice.vector, ledger)
            for row in slice.rows where !row.state.context.isEmpty { try noteProofs(of: row.state.context, ledger) }
            return slice
        }
    }

    /// Reads all that a replica with the vector `since` lacks, whatever its size.
    package func delta(since: VersionVector) throws -> Slice {
        try slice(SliceRequest(since: since), limits: SliceLimits(rowsMax: .max, bytesMax: .max, textBytesMax: .max, textChangesMax: .max))
    }

    /// Merges a slice: a whole delta, or the last slice of one, in one transaction; a slice of a longer delta in several, so that
    /// nobody waits long. Observations of the app's tables fire as for any other commit.
    ///
    /// - Parameter device: who brings it.
    package func apply(_ slice: Slice, from device: [UInt8]? = nil) throws -> ApplyOutcome {
        let slice = try keepingTextsAhead(of: slice)
        // A listing also deletes rows of tables that it does not name.
        let isRelated = slice.listing == nil ? writer.declarations.areRelated(slice.tables) : writer.declarations.hasForeignKeys
        // To stop SQLite's own actions costs every prepared statement. A few rows are tried with them; most have no need of it.
        var obeysForeignKeys = !isRelated || slice.listing == nil && slice.rows.count <= Self.relatedRowsTried
        let mayOmitTriggers = slice.canDoWithoutTriggers && !isRelated
        var first = 0
        var kept: [HeadProof] = []
        var refusals: [RowKey: String] = [:]
        var hasTextTurns = false
        while true {
            // The app writes in between, on the same connection and with triggers, so that each part switches them.
            do {
                let outcome = try writeMerged(obeyingForeignKeys: obeysForeignKeys, keeping: \.mayStay) { [refusals] db, state in
                    state.ledger.refusals = refusals
                    defer { state.ledger.refusals.removeAll() }
                    kept = try keepProofs(state)
                    defer { hasTextTurns = state.ledger.hasTextTurns }
                    return try mergePart(
                        of: slice, from: first, mayOmitTriggers: mayOmitTriggers && slice.isWorthNoTriggers(from: first),
                        isRelated: isRelated, device, db, state)
                }
                if outcome.mayStay { didKeep(kept) }
                // What fails here is tried again with the next slice, and when the device begins to sync. The slice is here.
                if hasTextTurns { try? takeTextTurns() }
                switch outcome {
                case .merged(let summary, let end) where end == slice.rows.count: return .applied(summary)
                case .merged(_, let end): first = end
                case .refused(let summary): return .refused(summary)
                case .needsWholeRows: return .incomplete(try summary())
                case .foreignKeysInTheWay: obeysForeignKeys = false
                }
            } catch let refused as TransactionRefused where refused.row.map({ refusals[$0] == nil }) ?? false {
                if let row = refused.row { refusals[row] = refused.message }
            }
        }
    }

    /// Keeps the changes of texts ahead of their rows, some in each transaction, if there are more than one transaction is to take.
    ///
    /// - Returns: what is left of the slice.
    private func keepingTextsAhead(of slice: Slice) throws -> Slice {
        let limit = options.textBudget.changesOfAllMax
        guard slice.rows.reduce(0, { $0 + $1.state.textChangeCount }) > limit, try vector().covers(slice.since) else { return slice }
        var left = slice
        var (parts, room) = ([RowPart](), limit)
        func keep() throws {
            try writeMerged { [parts] _, state in
                _ = try SliceApplier(
                    ledger: state.ledger, records: VectorRecords(connection: state.ledger.connection), clock: state.clock,
                    earlyLimits: options.earlyChanges, monotonicMilliseconds: options.monotonicMilliseconds
                ).keepAhead(parts, of: slice)
            }
            (parts, room) = ([], limit)
        }
        for row in left.rows.indices {
            for cell in left.rows[row].state.cells.indices {
                let entry = left.rows[row].state.cells[cell]
                guard case .text(var text) = entry.cell else { continue }
                while !text.changes.isEmpty {
                    let taken = Array(text.changes.prefix(room))
                    text.changes.removeFirst(taken.count)
                    room -= taken.count
                    let state = RowState(cells: [
                        .init(column: entry.column, cell: .text(TextState(touched: VersionVector(), changes: taken)))
                    ])
                    parts.append(RowPart(table: left.rows[row].table, id: left.rows[row].id, state: state))
                    if room == 0 { try keep() }
                }
                left.rows[row].state.cells[cell].cell = .text(text)
            }
        }
        try keep()
        return left
    }

    private static let relatedRowsTried = 16

    /// What became of a part of a slice.
    private enum PartOutcome {
        case merged(StoreSummary, end: Int)
        case refused(StoreSummary)
        case needsWholeRows
        /// SQLite's own rule for foreign keys stands against the merge, which follows another one, or would act in it.
        case foreignKeysInTheWay

        /// Whether what was written is a whole.
        var mayStay: Bool {
            switch self {
            case .merged, .refused: true
            case .needsWholeRows, .foreignKeysInTheWay: false
            }
        }
    }

    /// - Parameter isRelated: whether other rows may have to be shown or hidden for what the slice brings.
    private func mergePart(
        of slice: Slice, from first: Int, mayOmitTriggers: Bool, isRelated: Bool, _ device: [UInt8]?, _ db: Database, _ state: WriterState
    ) throws -> PartOutcome {
        let records = VectorRecords(connection: state.ledger.connection)
        let before = try records.vector(state.ledger.catalog)
        signal.willMove(from: before)
        var applier = SliceApplier(
            ledger: state.ledger, records: records, clock: state.clock, earlyLimits: options.earlyChanges,
            monotonicMilliseconds: options.monotonicMilliseconds)
        applier.device = device
        let omitsTriggers = try mayOmitTriggers && WatchedTables(state.ledger).areFree(slice)
        let connection = state.ledger.connection
        let outcome: SliceApplier.Outcome
        do {
            outcome =
                try omitsTriggers
                ? connection.withoutTriggers { try applier.apply(slice, from: first) } : applier.apply(slice, from: first)
            if isRelated, case .applied = outcome { try state.settleReferences(db) }
        } catch let error as SQLiteError where error.isForeignKey && connection.obeysForeignKeys {
            return .foreignKeysInTheWay
        }
        let part: SliceApplier.Part
        switch outcome {
        case .applied(let applied): part = applied
        case .refused: return .refused(try records.summary(state.ledger.catalog))
        case .needsWholeRows: return .needsWholeRows
        }
        if connection.obeysForeignKeys, connection.hasBrokenReferences { return .foreignKeysInTheWay }
        let summary = try records.summary(state.ledger.catalog)
        try state.notifyChanges(in: part.tables, db)
        if summary.vector != before { state.note(summary) }
        return .merged(summary, end: part.end)
    }
}
