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
            try VectorRecords(connection: ledger.connection).vector(ledger.catalog) == vector ? body(ledger) : .unavailable
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

    private func mend(_ range: DigestRange, with slice: Slice) throws -> DigestResult {
        var kept: [HeadProof] = []
        let result = try writeMerged { db, state in
            kept = try keepProofs(state)
            let records = VectorRecords(connection: state.ledger.connection)
            let vector = try records.vector(state.ledger.catalog)
            let now = options.clock().milliseconds
            guard vector == slice.vector, try !WaitingRows(state.ledger).holdBack(nowMilliseconds: now) else {
                return DigestResult.unavailable
            }
            let own = try rows(in: range, state.ledger)
            let applier = SliceApplier(
                ledger: state.ledger, records: records, clock: state.clock, monotonicMilliseconds: options.monotonicMilliseconds)
            let theirs = try applier.localRows(of: slice).filter { row in
                range.contains(SlicePosition(table: state.ledger.catalog.tables[row.table].name, row: row.id))
            }
            let merger = RowMerger(
                ledger: state.ledger, clock: state.clock, own: try records.replica(state.ledger.catalog), vector: vector,
                vectorAfter: vector, listed: nil)
            let changed = try RowMender(ledger: state.ledger, clock: state.clock, merger: merger).mend(theirs)
            try merger.finish()
            try state.settleReferences(db)
            try DigestLedger(ledger: state.ledger).reread(changed)
            try MendingRecord(state.ledger).add(changed, nowMilliseconds: now)
            for table in Set(changed.map(\.table)) {
                guard let tracked = state.ledger.catalog.table(named: table)?.tracked else { continue }
                try state.notifyChanges(in: [tracked.sqlName], db)
            }
            return DigestResult.mended(own, changed: changed)
        }
        didKeep(kept)
        return result
    }
}
