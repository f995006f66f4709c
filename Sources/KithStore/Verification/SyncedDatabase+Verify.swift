import GRDB
import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSync
import KithTexts

/// What a check of the whole store found.
public struct Verification: Hashable, Sendable {
    /// Rows that were read, hidden ones included.
    public var rowCount = 0
    /// Rows that rules of the app's tables refuse, at most ``problemsMax``: no damage, but not shown as they were merged.
    public var refusedRows: [RefusedRow] = []
    /// What does not hold together, one sentence each, at most ``problemsMax``; empty if the store is sound.
    public var problems: [String] = []
    /// Rows that were changed behind Kith's back, or have vanished, at most as many as ``SyncedDatabase/distrustDigest(_:)`` notes.
    package var changed: [SlicePosition] = []
    /// Whether SQLite cannot read all of the file: no other device mends that.
    package var isFileDamaged = false

    /// More problems than this are not listed.
    public static let problemsMax = 100

    /// Whether nothing was found.
    public var isSound: Bool { problems.isEmpty }
}

extension SyncedDatabase {
    /// Reads the whole store and checks that rows, clocks and index agree with each other.
    ///
    /// Takes time in proportion to the store. Nothing is changed.
    public func verify() throws(StoreError) -> Verification {
        try read { ledger in try StoreVerifier(ledger: ledger).run() }
    }

    /// The same as a part of what is open on `db`.
    public func verify(_ db: Database) throws(StoreError) -> Verification {
        try read(in: db) { ledger in try StoreVerifier(ledger: ledger).run() }
    }
}
