import GRDB
import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithTexts

/// Ends, with each transaction of the app's writing connection, what Kith has noted of it in memory, and tells of commits.
final class TransactionWatch: TransactionObserver, Sendable {
    private let writer: WriterBox
    private let signal: CommitSignal
    private let live: LiveHub
    private let presence: StorePresence?
    /// Why nothing may be written; `nil` if something may.
    private let copy: SyncedDatabase.Options.Copy?

    init(_ writer: WriterBox, _ signal: CommitSignal, _ live: LiveHub, _ presence: StorePresence?, copy: SyncedDatabase.Options.Copy?) {
        self.copy = copy
        self.writer = writer
        self.signal = signal
        self.live = live
        self.presence = presence
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}

    func databaseWillCommit() throws {
        if let copy, writer.state.ledger.connection.isWriting {
            throw StoreError(.readOnly, "Nothing was changed, for the store can only be read now. \(copy.reason)")
        }
        writer.state.willCommit()
    }

    func databaseDidCommit(_ db: Database) {
        let commit = writer.state.commit()
        if let commit {
            if let own = commit.own { presence?.noteCommit(own) }
            signal.didCommit(commit.learned, commit.news)
        }
        // If the file is busy, the next merge or opening does it.
        try? writer.state.settleAfterCommit(db)
        live.didCommit(hasMoved: commit != nil, isOwn: commit?.own != nil, isFromHere: commit?.isFromHere ?? false)
    }

    func databaseDidRollback(_ db: Database) {
        writer.state.rollback()
        live.didRollBack()
    }
}
