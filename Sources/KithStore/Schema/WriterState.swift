import KithCausality
import KithSync

/// What belongs to the connection that writes.
final class WriterState {
    let ledger: RowLedger
    let capture: Capture
    let clock: CommitClock
    let declarations: Declarations
    let entry: TransactionEntry
    /// Why the store took a new replica id when it was opened.
    let doubt: IdentityDoubt?
    /// What the open transaction has added to the vector.
    private var learned = VersionVector()

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
    }

    /// What the database says of itself.
    func claim() throws -> Sentinel.Claim {
        try VectorRecords(connection: ledger.connection).claim(ledger.catalog)
    }

    /// Notes that the open transaction moves the vector.
    func note(_ vector: VersionVector) {
        learned.join(vector)
    }

    /// The transaction has committed. Returns what it has added to the vector.
    func commit() -> VersionVector {
        if let dot = clock.end() { learned.insert(dot) }
        defer { learned = VersionVector() }
        return learned
    }

    /// The transaction was rolled back: the next one reads everything again.
    func rollback() {
        _ = clock.end()
        learned = VersionVector()
        entry.rollback()
    }
}

/// Lets the state of the writing connection be kept by a store.
///
/// Sound because `state` is only touched within an access to the database's one writing connection, which GRDB grants to
/// one thread at a time; `declarations` and `doubt` never change.
struct WriterBox: @unchecked Sendable {
    let state: WriterState
    let declarations: Declarations
    let doubt: IdentityDoubt?

    init(_ state: WriterState) {
        self.state = state
        declarations = state.declarations
        doubt = state.doubt
    }
}
