import GRDB
import GRDBSQLite
import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSync
import KithTexts

/// What belongs to the connection that writes.
final class WriterState {
    let ledger: RowLedger
    let capture: Capture
    let clock: CommitClock
    let declarations: Declarations
    let entry: TransactionEntry
    /// Why the store took a new replica id when it was opened.
    let doubt: IdentityDoubt?
    /// What ``DatabaseConnection/versionByOthers()`` said when it was looked last what other processes have committed.
    var versionByOthers: Int64 = 0
    /// What the store knows after what the open transaction has merged.
    private var merged: StoreSummary?

    init(
        ledger: RowLedger, capture: Capture, clock: CommitClock, declarations: Declarations, entry: TransactionEntry,
        doubt: IdentityDoubt?
    ) {
        self.ledger = ledger
        self.capture = capture
        self.clock = clock
        self.declarations = declarations
        self.entry = entry
        self.doubt = doubt
        entry.commitFailed = { [unowned self] in forget() }
    }

    /// What the database says of itself.
    func claim() throws -> Sentinel.Claim {
        try VectorRecords(connection: ledger.connection).claim()
    }

    /// Tells who observes `tables`, which were written with statements that GRDB does not see, or what triggers have made of that.
    func notifyChanges(in tables: [String], _ db: Database) throws {
        for table in entry.reached(from: tables) { try db.notifyChanges(in: Table(table)) }
    }

    /// Notes that the open transaction moves the vector, to that of `summary`.
    func note(_ summary: StoreSummary) {
        merged = summary
    }

    /// The transaction is about to be committed, which may fail.
    func willCommit() {
        clock.tell(.willCommit)
    }

    /// Writes down what a transaction of Kith's has changed of rows with a journal. If it is a commit of this store, that is done when it
    /// commits, as in a transaction of the app.
    func storeJournal() throws {
        guard let journal = ledger.journal, !journal.isEmpty, clock.machine.noted == nil else { return }
        try JournalRecords(ledger: ledger).store(journal, process: capture.processName, nowMilliseconds: clock.wallClockMilliseconds)
    }

    /// What a transaction has added to the vector.
    struct Commit {
        /// The commit of this replica, if it is one.
        let own: Dot?
        let learned: VersionVector
        let news: CommitNews
        /// Whether the app has written it.
        let isFromHere: Bool
    }

    /// The transaction has committed. Returns what it has added, if anything.
    func commit() -> Commit? {
        var own: Head?
        switch clock.tell(.committed) {
        case .commit(let noted): own = Head(dot: noted.stamp.dot, timestamp: noted.stamp.timestamp)
        // What committed now is another transaction, in which nothing was noted.
        case .forget: forget()
        default: break
        }
        capture.staleSaves = StaleSaves()
        capture.rows.removeAll()
        ledger.journal?.clear()
        defer { merged = nil }
        guard let merged else { return own.map { Commit(own: $0.dot, learned: VersionVector([$0.dot]), news: .own($0), isFromHere: true) } }
        var learned = merged.vector
        if let own, !learned.covers(own.dot) {
            learned.insert(own.dot)
            return Commit(own: own.dot, learned: learned, news: .unknown, isFromHere: false)
        }
        return Commit(own: own?.dot, learned: learned, news: .merged(merged), isFromHere: false)
    }

    /// The transaction was rolled back: the next one reads everything again.
    func rollback() {
        clock.tell(.rolledBack)
        forget()
    }

    private func forget() {
        merged = nil
        capture.staleSaves = StaleSaves()
        capture.rows.removeAll()
        ledger.journal?.clear()
        entry.rollback()
    }
}

/// Lets the state of the writing connection be kept by a store.
///
/// Sound because `state` is only touched within an access to the database's one writing connection, which GRDB grants to
/// one thread at a time; nothing else ever changes.
struct WriterBox: @unchecked Sendable {
    let state: WriterState
    let declarations: Declarations
    let schema: SchemaGuard?
    /// Tells one connection from another: it is compared, and nothing is read through it, so any thread may have it.
    nonisolated(unsafe) let handle: OpaquePointer
    /// As SQLite calls it; empty for a database in memory.
    let file: String
    let doubt: IdentityDoubt?

    init(_ state: WriterState) {
        self.state = state
        schema = state.entry.schema
        handle = state.ledger.connection.handle
        file = Self.file(of: handle)
        declarations = state.declarations
        doubt = state.doubt
    }

    /// The name of the file that a connection has open.
    static func file(of connection: OpaquePointer) -> String {
        sqlite3_db_filename(connection, "main").map { String(cString: $0) } ?? ""
    }
}
