import GRDB
import KithCausality
import KithSync

/// What belongs to the connection that writes.
final class WriterState {
    let ledger: RowLedger
    let capture: Capture
    let clock: CommitClock
    let declarations: Declarations
    private var catalogVersion: Int

    init(ledger: RowLedger, capture: Capture, clock: CommitClock, declarations: Declarations, catalogVersion: Int) {
        self.ledger = ledger
        self.capture = capture
        self.clock = clock
        self.declarations = declarations
        self.catalogVersion = catalogVersion
    }

    /// Reads the catalog again if another process has added to it, or an addition was rolled back. Within a transaction.
    func refreshCatalog() throws {
        let store = CatalogStore(connection: ledger.connection)
        let version = try store.version()
        if version == catalogVersion { return }
        ledger.catalog = try store.load()
        declarations.annotate(&ledger.catalog)
        catalogVersion = version
    }

    /// Makes the next use read everything again.
    func forget() {
        clock.end()
        catalogVersion = -1
    }
}

/// Lets the state of the writing connection be kept by a store.
///
/// Sound because `state` is only touched within an access to the database's one writing connection, which GRDB grants to
/// one thread at a time; `declarations` never changes.
struct WriterBox: @unchecked Sendable {
    let state: WriterState
    let declarations: Declarations

    init(_ state: WriterState) {
        self.state = state
        declarations = state.declarations
    }
}

/// Forgets what a transaction had noted in memory when it is rolled back.
final class RollbackObserver: TransactionObserver, Sendable {
    private let writer: WriterBox

    init(_ writer: WriterBox) {
        self.writer = writer
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) {
        writer.state.clock.end()
    }
    func databaseDidRollback(_ db: Database) {
        writer.state.forget()
    }
}
