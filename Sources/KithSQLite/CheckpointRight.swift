import GRDBSQLite
import KithLock
import Synchronization

/// Lets only one process at a time move the write-ahead log of a database into the database itself.
///
/// SQLite versions 3.7.0 to 3.51.2 can corrupt a database when one connection commits while another one resets the log
/// ("The WAL Reset Bug", sqlite.org/wal.html). Checkpoints on commit are therefore made by whoever holds the node lock, or by
/// a process that can take that lock for the moment because nobody does. The checkpoint that SQLite makes when the very last
/// connection is closed is safe: there is nobody left to commit.
package final class CheckpointRight: Sendable {
    private let lockPath: String
    private let isHeld = Mutex(false)
    /// Pages in the log from which on it is moved: what the app has set as `wal_autocheckpoint`. 0 if it has switched that off, or
    /// has a hook of its own, which is left alone.
    private let pagesMin = Mutex<Int32>(0)
    /// Pages that the connection had written when the store was about to be opened or the log was moved last; `nil` once it is open.
    private let pagesBefore = Mutex<Int32?>(nil)

    package init(databasePath: String) {
        lockPath = databasePath + "-kith-node"
    }

    package func nodeLockIsHeld(_ isHeld: Bool) {
        self.isHeld.withLock { $0 = isHeld }
    }

    /// Takes the place of `wal_autocheckpoint` on `connection`, which keeps this object alive, before a store is opened there.
    ///
    /// Until the store is open, this connection moves the log only for what it writes itself: the app wants its first rows, and what others
    /// have left in the log may wait for the next commit.
    package func install(on connection: DatabaseConnection) throws {
        let pages = try Self.pages(connection)
        pagesMin.withLock { $0 = pages }
        if pages == 0 { return }
        pagesBefore.withLock { $0 = Self.pagesWritten(connection.handle) }
        // The reference is given back by remove(from:).
        let reference = Unmanaged.passRetained(self).toOpaque()
        sqlite3_wal_hook(
            connection.handle,
            { pointer, connection, name, pages in
                if let pointer {
                    Unmanaged<CheckpointRight>.fromOpaque(pointer).takeUnretainedValue().checkpoint(connection, name, pages)
                }
                return SQLITE_OK
            }, reference)
    }

    /// The store is open.
    package func didOpen() {
        pagesBefore.withLock { $0 = nil }
    }

    /// Gives SQLite its own way back, as the app had set it.
    package func remove(from connection: DatabaseConnection) {
        let pages = pagesMin.withLock { $0 }
        if pages == 0 { return }
        let hook = Unmanaged.passUnretained(self)
        defer { hook.release() }
        // The app has set another one since.
        if let set = try? Self.pages(connection), set != 0 { return }
        if sqlite3_wal_hook(connection.handle, nil, nil) == hook.toOpaque() { sqlite3_wal_autocheckpoint(connection.handle, pages) }
    }

    /// What the app has set, if SQLite does it; else 0.
    private static func pages(_ connection: DatabaseConnection) throws -> Int32 {
        let pragma = try connection.statement("PRAGMA wal_autocheckpoint")
        defer { pragma.reset() }
        return try pragma.step() ? Int32(truncatingIfNeeded: pragma.integer(0)) : 0
    }

    /// Pages that a connection has written to the log since it was opened.
    private static func pagesWritten(_ connection: OpaquePointer) -> Int32 {
        var (current, highest): (Int32, Int32) = (0, 0)
        sqlite3_db_status(connection, SQLITE_DBSTATUS_CACHE_WRITE, &current, &highest, 0)
        return current
    }

    /// Moves the whole log into the database and brings that to the disk.
    ///
    /// - Returns: whether that is done: not while others read an earlier state or move it. It waits for nobody.
    package func moveAll(on connection: DatabaseConnection) throws -> Bool {
        var lock: FileLock?
        if !isHeld.withLock({ $0 }) {
            guard let free = try? FileLock(path: lockPath), (try? free.tryToTake(.exclusive)) == true else { return false }
            lock = free
        }
        defer { lock?.release() }
        let pragma = try connection.statement("PRAGMA wal_checkpoint(PASSIVE)")
        defer { pragma.reset() }
        return try pragma.step() && pragma.int(0) == 0 && pragma.int(1) == pragma.int(2)
    }

    private func checkpoint(_ connection: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ pages: Int32) {
        let pagesMin = pagesMin.withLock { $0 }
        if pages < pagesMin { return }
        let isForLater = pagesBefore.withLock { before in
            guard let known = before, let connection else { return false }
            let written = Self.pagesWritten(connection)
            if written &- known < pagesMin { return true }
            before = written
            return false
        }
        if isForLater { return }
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
