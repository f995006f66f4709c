import Foundation
import KithLedger
import KithLock
import KithSQLite

/// The right to be the one process of this machine that synchronises a store: it talks to the network, applies what peers
/// send, and alone moves the write-ahead log into the database.
///
/// Held until it is released or the process ends, however it ends.
package final class NodeLock: Sendable {
    private let lock: FileLock
    private let checkpoints: CheckpointRight?

    /// - Throws: ``StoreError`` with code `busy`, naming the process that holds the lock.
    init(databasePath: String, checkpoints: CheckpointRight?) throws {
        lock = try Self.takenLock(path: databasePath + "-kith-node")
        self.checkpoints = checkpoints
        lock.write("process \(ProcessInfo.processInfo.processIdentifier)")
        checkpoints?.nodeLockIsHeld(true)
    }

    private static func takenLock(path: String) throws -> FileLock {
        let (lock, isTaken) = try StoreError.locking { () throws(FileLock.Failure) in
            let lock = try FileLock(path: path)
            // Who looks whether it is taken holds it for a moment.
            return (lock, try lock.tryToTake(.exclusive, for: 100, pauseMilliseconds: 2))
        }
        if isTaken { return lock }
        throw StoreError(.busy, "Another process already synchronises this store (\(lock.text)). Stop it, or let it do the work.")
    }

    deinit {
        release()
    }

    /// Lets another process take over.
    package func release() {
        checkpoints?.nodeLockIsHeld(false)
        lock.write("")
        lock.release()
    }
}

extension SyncedDatabase {
    /// Whether some process synchronises the store in this file now. Writes nothing, so that it can be asked where nothing can be written.
    package static func isSynchronized(at path: String) -> Bool {
        guard let lock = FileLock(reading: DatabaseFile.path(of: path) + "-kith-node") else { return false }
        guard let isFree = try? lock.tryToTake(.shared) else { return false }
        if isFree { lock.release() }
        return !isFree
    }

    /// Takes the right to synchronise this store, if no other process has it. The store must outlive the lock.
    ///
    /// - Throws: ``StoreError`` with code `busy`, naming the process that holds the lock; `failed` for a database in
    ///   memory, which nobody else could synchronise.
    package func takeNodeLock() throws -> NodeLock {
        guard let presence else { throw StoreError(.failed, "A database in memory has no lock, and needs none.") }
        return try NodeLock(databasePath: presence.file.path, checkpoints: checkpoints)
    }
}
