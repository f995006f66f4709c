import Foundation
import KithCapture
import KithCausality
import KithLedger
import KithLock
import KithSQLite
import KithTexts
import Synchronization

/// That this process has a database file open, known to all processes of the machine.
///
/// Every process holds a shared lock. Who gets the exclusive one is alone: the first to open judges whether the database is
/// still the replica it was, the last to close notes that all is on the disk.
final class StorePresence: Sendable {
    let file: DatabaseFile
    private let host: HostIdentity
    private let lock: FileLock
    private let sentinelPath: String
    private let mark = Mutex(CommitMark(opening: ""))
    /// The mark of the opening before, as long as the database on the disk may still have it.
    private let openingBefore = Mutex<String?>(nil)
    let ahead: AheadMark
    /// Whether no other process had the store open, so that its identity is to be judged.
    let isFirst: Bool

    init(_ file: DatabaseFile, _ host: HostIdentity) throws {
        self.file = file
        self.host = host
        sentinelPath = file.path + "-kith"
        let sentinelPath = sentinelPath
        (lock, isFirst) = try StoreError.locking { () throws(FileLock.Failure) in
            let lock = try FileLock(path: file.path + "-kith-lock")
            while try !lock.tryToTake(.exclusive) {
                try lock.take(.shared)
                // If the last process has left since, this one is the first after all.
                if Sentinel(path: sentinelPath)?.isClean == false { return (lock, false) }
                lock.release()
            }
            return (lock, true)
        }
        ahead = AheadMark(databasePath: file.path, isFirst: isFirst)
    }

    /// Whether the file that is open is still found at its path.
    ///
    /// - Throws: ``StoreError`` with code `lost`.
    func requireInPlace() throws {
        if file.isInPlace { return }
        throw StoreError(
            .lost,
            """
            \(file.path) was removed, moved or replaced while it is open. What is written now is lost when this program ends: copy what you \
            need, then end it and put the file back.
            """)
    }

    /// Why a database that claims to be a replica must become a new one.
    func doubt(_ claim: Sentinel.Claim) -> IdentityDoubt? {
        guard isFirst else { return nil }
        guard let sentinel = Sentinel(path: sentinelPath) else { return .unknown }
        let ahead = AheadMark.read(databasePath: file.path)
        if let doubt = sentinel.doubt(claim, host: host, file: file, ahead: ahead) { return doubt }
        // That line may have reached the disk before the commits did, of which nobody was told.
        if !sentinel.isClean, sentinel.boot != host.boot { return nil }
        let mark = SmallFile.read(lock.path) ?? []
        let newest = CommitMark.sequence(in: mark, replica: claim.replica.description, opening: claim.opening)
        guard let newest else { return nil }
        return newest > claim.sequence ? .olderDatabase : nil
    }

    /// The database is about to be open as this replica. On the disk before anything is committed, so that no stop of the
    /// machine can make it look as if nothing had been.
    /// - Parameter openingBefore: the mark that the database has until the opening transaction is committed.
    func announce(_ claim: Sentinel.Claim, openingBefore: String) throws {
        guard isFirst else { return }
        self.openingBefore.withLock { $0 = openingBefore }
        try sentinel(claim).write(to: sentinelPath, isDurable: true)
    }

    /// The database is open as this replica; others may open it now.
    func enter(_ claim: Sentinel.Claim) throws {
        mark.withLock { $0 = CommitMark(opening: claim.opening) }
        guard isFirst else { return }
        try note(claim)
        try lock.take(.shared)
    }

    /// The database goes on as another replica.
    func note(_ claim: Sentinel.Claim) throws {
        try sentinel(claim).write(to: sentinelPath, isDurable: false)
    }

    /// All that the database says of itself is on the disk, and its commits up to `vector`.
    func noteDurable(_ claim: Sentinel.Claim, _ vector: VersionVector) throws {
        openingBefore.withLock { $0 = nil }
        try note(claim)
        ahead.isDurable(vector, newest: Dot(replica: claim.replica, sequence: claim.sequence))
    }

    /// The store has made a commit of its own.
    func noteCommit(_ dot: Dot) {
        mark.withLock { lock.overwrite(with: $0.line(for: dot)) }
    }

    /// This process has closed the store. The last one notes that nothing is missing on the disk.
    /// - Parameter claim: what the database says of itself; `nil` if it may not be all on the disk.
    func leave(_ claim: Sentinel.Claim?) {
        defer {
            ahead.leave()
            lock.release()
        }
        guard let claim, let isLast = try? lock.tryToTake(.exclusive), isLast else { return }
        do {
            try SmallFile.synchronize(path: file.path + "-wal")
            try SmallFile.synchronizeFolder(of: file.path)
        } catch {
            return
        }
        openingBefore.withLock { $0 = nil }
        var sentinel = sentinel(claim)
        sentinel.isClean = true
        // Without the mark the next opening takes a new replica id, which costs little.
        try? sentinel.write(to: sentinelPath, isDurable: false)
    }

    private func sentinel(_ claim: Sentinel.Claim) -> Sentinel {
        var sentinel = Sentinel(claim, host: host, file: file)
        sentinel.openingBefore = openingBefore.withLock { $0 }
        return sentinel
    }
}
