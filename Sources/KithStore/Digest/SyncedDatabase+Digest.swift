import KithCapture
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

extension SyncedDatabase {
    /// Rows that one call of ``advanceDigest()`` looks at, and rows of the patrol beside them: little enough that a local
    /// save does not notice.
    static let digestRowsMax = 2_000
    static let patrolRowsMax = 250

    /// What a look at the digest found.
    package struct DigestReading: Hashable, Sendable {
        /// `nil` while there are more changes to account for, so that it is worth asking again, and while a catch-up is not
        /// complete.
        package var digest: StoreDigest?
        /// Whether asking again brings the digest nearer.
        package var isBehind: Bool
        /// Rows that turned out to have changed behind Kith's back since they were looked at before.
        package var tampered: [SlicePosition]
    }

    /// Brings the digest further up to date, in one short transaction, and reads it if it is complete.
    ///
    /// Costs time in proportion to what was written since the last call; a new store, or one of an earlier version, is read
    /// once, a part with each call. There is none while a tracked table is not declared: its rows are not seen, and are not gone.
    package func advanceDigest() throws -> DigestReading {
        try write { _, state in
            if try state.ledger.undeclaredTable() != nil { return DigestReading(digest: nil, isBehind: false, tampered: []) }
            let digests = DigestLedger(ledger: state.ledger)
            let now = options.clock().milliseconds
            let digest = try digests.advance(rowsMax: Self.digestRowsMax, nowMilliseconds: now)
            let tampered = digest == nil ? [] : try digests.patrol(rowsMax: Self.patrolRowsMax)
            try DamageRecord(state.ledger).add(tampered)
            let isBehind = try digest == nil && !WaitingRows(state.ledger).holdBack(nowMilliseconds: now)
            return DigestReading(
                digest: tampered.isEmpty ? digest : try digests.advance(rowsMax: 0, nowMilliseconds: now), isBehind: isBehind,
                tampered: tampered)
        }
    }

    /// Notes the digest of rows that were written since the last time, so that a later look notices when the disk, or somebody behind Kith's
    /// back, changes them. What was changed before this is taken as it is.
    ///
    /// Costs time in proportion to what was written, in short transactions, and nothing if nothing was.
    package func noteDigest() throws {
        if try !read({ try $0.undeclaredTable() == nil && DigestLedger(ledger: $0).isBehind() }) { return }
        while try write({ _, state in
            let digests = DigestLedger(ledger: state.ledger)
            let now = options.clock().milliseconds
            return try digests.advance(rowsMax: Self.digestRowsMax, nowMilliseconds: now) == nil
                && !WaitingRows(state.ledger).holdBack(nowMilliseconds: now)
        }) {}
    }

    /// The digest of what the store holds now; `nil` while a catch-up is not complete. May take time in proportion to the store.
    package func digest() throws -> StoreDigest? {
        while true {
            let reading = try advanceDigest()
            if reading.digest != nil || !reading.isBehind { return reading.digest }
        }
    }

    /// Computes the digest from the rows themselves, in time proportional to the store. Nothing is changed.
    package func recomputedDigest() throws -> StoreDigest {
        try read { ledger in
            var rows = DigestSum()
            let digests = DigestLedger(ledger: ledger)
            try TableScan(ledger: ledger).read(after: nil) { row in
                rows.add(try digests.digest(of: row))
                return true
            }
            return StoreDigest(vector: try VectorRecords(connection: ledger.connection).vector(ledger.catalog), rows: rows)
        }
    }

    /// Lets the next look at the digest read every row anew, as is right when something may have been changed behind
    /// Kith's back. Takes no time by itself.
    ///
    /// - Parameter changed: rows that were: ``verify()`` names them until they are mended or written.
    package func distrustDigest(_ changed: [SlicePosition] = []) throws {
        try write { _, state in
            try DamageRecord(state.ledger).add(changed)
            try DigestLedger(ledger: state.ledger).distrust()
        }
    }
}
