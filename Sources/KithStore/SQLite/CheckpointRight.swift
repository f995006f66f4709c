import GRDBSQLite
import Synchronization

/// Lets only one process at a time move the write-ahead log of a database into the database itself.
///
/// SQLite versions 3.7.0 to 3.51.2 can corrupt a database when one connection commits while another one resets the log
/// ("The WAL Reset Bug", sqlite.org/wal.html). Checkpoints on commit are therefore made by whoever holds the node lock, or by
/// a process that can take that lock for the moment because nobody does. The checkpoint that SQLite makes when the very last
/// connection is closed is safe: there is nobody left to commit.
final class CheckpointRight: Sendable {
    /// Pages in the log from which on it is moved, as SQLite's own `wal_autocheckpoint`.
    static let pagesMin: Int32 = 1_000

    private let lockPath: String
    private let isHeld = Mutex(false)

    init(databasePath: String) {
        lockPath = databasePath + "-kith-node"
    }

    func nodeLockIsHeld(_ isHeld: Bool) {
        self.isHeld.withLock { $0 = isHeld }
    }

    /// Takes the place of `wal_autocheckpoint` on `connection`, which keeps this object alive.
    func install(on connection: OpaquePointer) {
        // The reference is given back by remove(from:).
        let reference = Unmanaged.passRetained(self).toOpaque()
        sqlite3_wal_hook(
            connection,
            { pointer, connection, name, pages in
                if let pointer, pages >= CheckpointRight.pagesMin {
                    Unmanaged<CheckpointRight>.fromOpaque(pointer).takeUnretainedValue().checkpoint(connection, name)
                }
                return SQLITE_OK
            }, reference)
    }

    /// Gives SQLite its own way back.
    func remove(from connection: OpaquePointer) {
        if let pointer = sqlite3_wal_hook(connection, nil, nil), pointer == Unmanaged.passUnretained(self).toOpaque() {
            Unmanaged<CheckpointRight>.fromOpaque(pointer).release()
        }
        sqlite3_wal_autocheckpoint(connection, Self.pagesMin)
    }

    private func checkpoint(_ connection: OpaquePointer?, _ name: UnsafePointer<CChar>?) {
        var lock: FileLock?
        if !isHeld.withLock({ $0 }) {
            guard let free = try? FileLock(path: lockPath), (try? free.tryToTake(.exclusive)) == true else { return }
            lock = free
        }
        // A checkpoint that cannot run now runs after a later commit.
        sqlite3_wal_checkpoint_v2(connection, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        lock?.release()
    }
}
