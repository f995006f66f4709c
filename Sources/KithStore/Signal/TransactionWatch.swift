import GRDB
import KithCausality

/// Ends, with each transaction of the app's writing connection, what Kith has noted of it in memory, and tells of commits.
final class TransactionWatch: TransactionObserver, Sendable {
    private let writer: WriterBox
    private let signal: CommitSignal

    init(_ writer: WriterBox, _ signal: CommitSignal) {
        self.writer = writer
        self.signal = signal
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}

    func databaseWillCommit() {
        writer.state.willCommit()
    }

    func databaseDidCommit(_ db: Database) {
        if let (learned, news) = writer.state.commit() { signal.didCommit(learned, news) }
        // If the file is busy, the next merge or opening does it.
        try? writer.state.settleAfterCommit(db)
    }

    func databaseDidRollback(_ db: Database) {
        writer.state.rollback()
    }
}
