import GRDB
import KithLedger
import KithSQLite
import Synchronization

/// Looks whether other processes have committed, and tells whoever observes this one's database.
///
/// On the writing connection, where every commit of this process has been told, SQLite says whether another connection has committed. Only
/// then the vector is read: a look after the store's own commits costs the same however many replicas there are.
final class OtherProcesses: Sendable {
    private let writer: WriterBox
    private let signal: CommitSignal
    private let live: LiveHub
    /// Whether a look waits for the writing connection.
    private let isAwaited = Atomic(false)
    private let isStopped = Atomic(false)

    init(_ writer: WriterBox, _ signal: CommitSignal, _ live: LiveHub) {
        self.writer = writer
        self.signal = signal
        self.live = live
    }

    /// Looks as soon as the writing connection is free. Returns at once.
    func look(_ database: any DatabaseWriter) {
        if isAwaited.exchange(true, ordering: .acquiringAndReleasing) { return }
        database.asyncWriteWithoutTransaction { [weak self] db in self?.look(db) }
    }

    /// A look that has begun may still tell; none begins after.
    func stop() {
        isStopped.store(true, ordering: .releasing)
    }

    private func look(_ db: Database) {
        // What is committed from now on needs another look.
        isAwaited.store(false, ordering: .releasing)
        if isStopped.load(ordering: .acquiring) { return }
        // A transaction that the app has left open sees no commits of others, and must not begin to read because of this.
        guard writer.state.ledger.connection.isOutsideTransaction else { return }
        // A database that is busy is looked at again at the next occasion.
        guard let commit = try? commit(db), commit != .none else { return }
        // Nothing says to which tables: also to those that do not synchronise, and to columns that only this device has.
        SyncedDatabase.tellObservations(of: [.fullDatabase], db)
        if commit == .synchronised { signal.fireForeign() }
        live.otherProcessCommitted()
    }

    enum Commit {
        case none, local, synchronised
    }

    /// What another process has committed since the last look.
    func commit(_ db: Database) throws -> Commit {
        let version = try writer.state.ledger.connection.versionByOthers()
        if version == writer.state.versionByOthers { return .none }
        let vector = try VectorRecords.vector(db)
        writer.state.versionByOthers = version
        return signal.didRead(vector) ? .synchronised : .local
    }
}
