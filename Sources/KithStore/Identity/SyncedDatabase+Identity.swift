import GRDB
import GRDBSQLite
import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts
import Synchronization

extension SyncedDatabase {
    /// Why this store took a new replica id when it was opened; `nil` if it is the replica it was, or new.
    ///
    /// What the old id wrote is still there, and what it wrote and lost comes back from peers.
    package var identityDoubt: IdentityDoubt? { writer.doubt }

    /// What changes when the database was copied, restored or set back, and at no other time: who remembers something beside it that must
    /// fit together with what is in it compares this.
    package func incarnation() throws(StoreError) -> String {
        try StoreError.typed { try read(rows: false) { ledger in try NewReplica(options: options).incarnation(ledger) } }
    }

    /// Whether the file that this store writes is no more at its path: it was moved or deleted, or another one took its place.
    package func hasMoved() async throws -> Bool {
        try await database.writeWithoutTransaction { db in
            var isMoved: Int32 = 0
            let code = sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &isMoved)
            return code == SQLITE_OK && isMoved != 0
        }
    }

    /// A peer claims to hold this commit of this replica: does the store know it, too?
    ///
    /// If the peer holds more than this store has ever written, or something else under the same number, then this store
    /// was set back to an earlier state, perhaps with its whole machine, and takes a new replica id at once. Claims about
    /// another replica change nothing.
    /// - Returns: who the store is now, and what it knows.
    package func verifyIdentity(_ head: Head) throws -> StoreSummary {
        let summary = try summary()
        guard try contradicts(head, summary) else { return summary }
        return try renewIdentity(from: head.dot.replica)
    }

    /// Another live store bears the replica id `replica`: if it is this store's, this store takes a new one.
    ///
    /// - Returns: who the store is now, and what it knows.
    package func renewIdentity(from replica: ReplicaID) throws -> StoreSummary {
        try write { _, state in
            let records = VectorRecords(connection: state.ledger.connection)
            // Another process may have been faster.
            if try records.replica(state.ledger.catalog) == replica {
                // It may have been set back to before a deletion that others have forgotten since.
                try ListingRule(state.ledger).becomeDue(nowMilliseconds: options.clock().milliseconds)
                note(try NewReplica(options: options).adopt(state.ledger))
                try presence?.note(try state.claim())
            }
            return try records.summary(state.ledger.catalog)
        }
    }

    private func contradicts(_ head: Head, _ summary: StoreSummary) throws -> Bool {
        guard head.dot.replica == summary.replica else { return false }
        let mine = summary.head(of: summary.replica)
        let sequence = mine?.dot.sequence ?? 0
        if head.dot.sequence > sequence { return true }
        if head.dot.sequence == sequence { return mine.map { $0.timestamp != head.timestamp } ?? false }
        guard let timestamp = try timestamp(of: head.dot) else { return false }
        return timestamp != head.timestamp
    }

    /// When a commit was made, as far as a row that still carries it can tell.
    private func timestamp(of dot: Dot) throws -> HybridTimestamp? {
        try read { ledger in
            guard let number = ledger.catalog.replicas.ids.firstIndex(of: dot.replica), try !DoubtedTimes(ledger).contains(dot) else {
                return nil
            }
            for candidate in try RowCandidates(ledger: ledger).carrying(dot, replica: number) {
                guard let row = try RowCandidates(ledger: ledger).load(candidate) else { continue }
                for entry in row.state.cells {
                    guard case .register(let register) = entry.cell else { continue }
                    if let write = register.writes.first(where: { $0.stamp.dot == dot }) { return write.stamp.timestamp }
                }
            }
            return nil
        }
    }

    /// Brings everything that is committed to the disk, so that no stop of the machine can lose it.
    ///
    /// Takes one `fsync` if something was committed since the last time, else nothing. After one that failed the next says nothing of what the
    /// first was to store, for the system forgets that: then the log is written anew, into the database. A database in memory, or one with
    /// `PRAGMA synchronous = OFF`, can promise nothing.
    /// - Parameter isResting: whether no commit is expected soon. Then the mark that others may know what the disk has not goes, if they know
    ///   nothing of the kind.
    /// - Returns: what cannot be lost: the vector before the `fsync`.
    /// - Throws: ``StoreError``, with code `lost` if the database's file is not in its place any more.
    package func makeDurable(isResting: Bool = true) throws -> VersionVector {
        guard let presence else { return VersionVector() }
        try presence.requireInPlace()
        defer { if isResting { presence.ahead.rest() } }
        // So that a copy of the disk can prove what is on it. What cannot be signed now is signed when it is sent.
        try? signAll()
        return try durability.withLock { durable in
            let (vector, claim) = try read { ledger in
                let records = VectorRecords(connection: ledger.connection)
                return (try records.vector(ledger.catalog), try records.claim())
            }
            if vector == durable { return vector }
            guard try isSynchronizing() else { return VersionVector() }
            if isLogInDoubt.load(ordering: .acquiring) { try moveLog() }
            isLogInDoubt.store(true, ordering: .releasing)
            try options.synchronizeLog(presence.file.path + "-wal")
            isLogInDoubt.store(false, ordering: .releasing)
            try presence.noteDurable(claim, vector)
            durable = vector
            return vector
        }
    }

    /// A commit of this store is about to be told to others. If a loss of power could take it, that is noted first, so that the store does not
    /// go on under its id then.
    ///
    /// - Throws: ``StoreError`` if that is not possible, and the commit must not be told.
    func willTell(_ dot: Dot) throws {
        try presence?.ahead.willTell(dot) { _ = try makeDurable() }
    }

    /// Moves the log into the database, so that what it holds is written anew.
    private func moveLog() throws {
        let isDone = try StoreError.mapping {
            try database.unsafeReentrantWrite { [writer, checkpoints] _ in
                try checkpoints?.moveAll(on: writer.state.ledger.connection) ?? false
            }
        }
        if isDone { return }
        throw StoreError(
            .busy, "The disk failed to store what was written, and it could not be written again yet, because others read the database.")
    }

    private func isSynchronizing() throws -> Bool {
        try StoreError.mapping {
            try database.unsafeReentrantWrite { [writer] _ in try writer.state.ledger.connection.isSynchronizing() }
        }
    }
}
