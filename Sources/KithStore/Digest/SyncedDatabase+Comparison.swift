import GRDB
import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

extension SyncedDatabase {
    /// Does what a session asks while it compares digests with its peer.
    ///
    /// - Throws: ``StoreError`` with code `sliceRejected` for rows that do not hold together. What the store cannot do now,
    ///   for instance because the disk is full, is ``DigestResult/unavailable``: a comparison can wait.
    package func perform(_ task: DigestTask) throws -> DigestResult {
        do {
            switch task {
            case .read:
                let reading = try advanceDigest()
                return .read(reading.digest, isBehind: reading.isBehind)
            case .divide(let range, let vector):
                return try reading(at: vector) { .parts(try range.parts(max: WireLimits.digestPartsMax, $0)) }
            case .sum(let range, let parts, let vector):
                return try reading(at: vector) { .sums(try range.sums(for: parts, $0)) }
            case .readRows(let range, let vector):
                return try reading(at: vector) { .rows(try rows(in: range, $0)) }
            case .mend(let range, let slice):
                return try mend(range, with: slice)
            }
        } catch let error as StoreError where error.code != .sliceRejected && error.code != .corrupt {
            return .unavailable
        } catch is TransactionRefused {
            return .unavailable
        }
    }

    /// Reads at a vector: a comparison of stores that know different things means nothing.
    private func reading(at vector: VersionVector, _ body: (RowLedger) throws -> DigestResult) throws -> DigestResult {
        try read { ledger in
            try ledger.requireAllTables()
            return try VectorRecords(connection: ledger.connection).vector(ledger.catalog) == vector ? body(ledger) : .unavailable
        }
    }

    /// All that is known of the rows of a range, deleted ones included, up to one slice.
    private func rows(in range: DigestRange, _ ledger: RowLedger) throws -> Slice {
        let records = VectorRecords(connection: ledger.connection)
        let heads = try records.heads(ledger.catalog)
        var builder = SliceBuilder(
            ledger, SliceRequest(since: VersionVector()), SliceLimits(textBytesMax: .max, textChangesMax: WireLimits.textChangesMax),
            target: heads)
        try TableScan(ledger: ledger).read(after: range.after) { row in
            guard range.contains(row.position) else { return false }
            return try row.state.isTooLargeToSend || builder.add(row)
        }
        return builder.finish(heads: heads, clock: try records.clock(), floor: nil)
    }

    /// Mends rows, in several transactions if there are more changes of texts than one takes, so that the app writes in between.
    ///
    /// What is here is read before, so that all that is equal on both sides holds up nobody.
    private func mend(_ range: DigestRange, with slice: Slice) throws -> DigestResult {
        guard case .rows(let own) = try reading(at: slice.vector, { .rows(try rows(in: range, $0)) }) else { return .unavailable }
        let parts = MendingSlice(slice, own: own).parts(max: options.textBudget.changesOfAllMax)
        var changed: [SlicePosition] = []
        var (isMended, hasTextTurns) = (parts.isEmpty, false)
        do {
            for part in parts {
                // A later comparison finds what is left, also if a commit of this store for the first part stands in the way.
                guard let mended = try mendPart(range, with: part) else { break }
                changed += mended.rows
                (isMended, hasTextTurns) = (true, mended.hasTextTurns)
            }
        } catch  where !changed.isEmpty {}
        // What fails here is tried again with the next slice, and when the device begins to sync.
        if hasTextTurns { try? takeTextTurns() }
        return isMended ? .mended(own, changed: changed) : .unavailable
    }

    /// - Returns: which rows have changed; `nil` if the store is another one by now. Then nothing was changed.
    private func mendPart(_ range: DigestRange, with part: MendingSlice) throws -> (rows: [SlicePosition], hasTextTurns: Bool)? {
        var part = part
        guard let ahead = try keepTextsAhead(of: &part) else { return nil }
        var (kept, hasTextTurns) = ([HeadProof](), false)
        let changed = try writeMerged { db, state -> [SlicePosition]? in
            kept = try keepProofs(state)
            defer { hasTextTurns = state.ledger.hasTextTurns }
            try state.ledger.requireAllTables()
            let records = VectorRecords(connection: state.ledger.connection)
            let now = options.clock().milliseconds
            guard try isUnchanged(state.ledger, part.slice, ahead), try !WaitingRows(state.ledger).holdBack(nowMilliseconds: now) else {
                return nil
            }
            let theirs = try sliceApplier(state).localRows(of: part.slice).filter { row in
                range.contains(SlicePosition(table: state.ledger.catalog.tables[row.table].name, row: row.id))
            }
            let vector = part.slice.vector
            let merger = RowMerger(
                ledger: state.ledger, clock: state.clock, own: try records.replica(state.ledger.catalog), vector: vector,
                vectorAfter: vector, listed: nil)
            let changed = try RowMender(
                ledger: state.ledger, clock: state.clock, merger: merger, slice: part, hasTextsAhead: !ahead.isEmpty
            ).mend(theirs)
            try merger.finish()
            try state.settleReferences(db)
            try DigestLedger(ledger: state.ledger).reread(changed)
            try MendingRecord(state.ledger).add(changed, nowMilliseconds: now)
            for table in Set(changed.map(\.table)) {
                guard let tracked = state.ledger.catalog.table(named: table)?.tracked else { continue }
                try state.notifyChanges(in: [tracked.sqlName], db)
            }
            return changed
        }
        didKeep(kept)
        return changed.map { ($0, hasTextTurns) }
    }

    /// Keeps changes of the texts of a row ahead of it, some in each transaction, if there are more than one transaction takes.
    ///
    /// - Returns: what is kept of each text; `nil` if the store is another one by now.
    private func keepTextsAhead(of part: inout MendingSlice) throws -> [TextKey: TextStanding]? {
        var kept: [TextKey: TextStanding] = [:]
        while let ahead = part.takeAhead(leaving: options.textBudget.changesOfAllMax) {
            let isKept = try writeMerged { [slice = part.slice] _, state in
                guard try isUnchanged(state.ledger, slice, kept) else { return false }
                for key in try sliceApplier(state).keepAhead([ahead], of: slice) {
                    kept[key] = try TextCells(state.ledger).standing(of: key)
                }
                return true
            }
            if !isKept { return nil }
        }
        return kept
    }

    /// Whether the store knows what it knew when the rows were read, and texts are as they were left.
    private func isUnchanged(_ ledger: RowLedger, _ slice: Slice, _ kept: [TextKey: TextStanding]) throws -> Bool {
        guard try VectorRecords(connection: ledger.connection).vector(ledger.catalog) == slice.vector else { return false }
        return try kept.allSatisfy { key, standing in try TextCells(ledger).standing(of: key) == standing }
    }

    private func sliceApplier(_ state: WriterState) -> SliceApplier {
        SliceApplier(
            ledger: state.ledger, records: VectorRecords(connection: state.ledger.connection), clock: state.clock,
            earlyLimits: options.earlyChanges, monotonicMilliseconds: options.monotonicMilliseconds)
    }
}
