import KithCausality
import KithLock
import KithSQLite
import KithTexts
import Synchronization

/// Whether others may know commits of this store that a loss of power would take. Then the store must not go on under its id after one, for
/// it would give their numbers to other commits.
///
/// One byte in a file beside the database: `1` is on the disk before such a commit is told, and `0` comes when all that was told is
/// on the disk. One process at a time keeps it, which locks the file as long as it tells commits; a process that finds it locked brings
/// its commits to the disk instead, before it tells them.
final class AheadMark: Sendable {
    private struct State {
        /// What a loss of power leaves.
        var durable = VersionVector()
        /// What was told before it was on the disk.
        var told = VersionVector()
        /// Held once this process has told anything.
        var lock: FileLock?
        /// Whether the file says `1`.
        var isSet = false
    }

    private let path: String
    private let state: Mutex<State>

    /// - Parameter isFirst: whether no other process has the store open. Then this one takes over the mark of one that was killed.
    init(databasePath: String, isFirst: Bool) {
        path = Self.path(databasePath)
        var state = State()
        if isFirst, Self.isSet(databasePath: databasePath), let lock = Self.lock(path) {
            state.lock = lock
            state.isSet = true
        }
        self.state = Mutex(state)
    }

    private static func path(_ databasePath: String) -> String { databasePath + "-kith-ahead" }

    private static func lock(_ path: String) -> FileLock? {
        guard let lock = try? FileLock(path: path), (try? lock.tryToTake(.exclusive)) == true else { return nil }
        return lock
    }

    /// Whether others may know commits that a loss of power would have taken.
    static func isSet(databasePath: String) -> Bool { SmallFile.read(path(databasePath))?.first == UInt8(ascii: "1") }

    /// A commit of this store is about to be told to others.
    ///
    /// - Parameter flush: brings what was committed to the disk, and calls ``isDurable(_:)``. Called if the mark cannot be set.
    /// - Throws: what `flush` throws, and ``StoreError`` if nothing can be on the disk. Then the commit must not be told.
    func willTell(_ dot: Dot, flush: () throws -> Void) throws {
        if isSafe(dot) { return }
        try flush()
        if state.withLock({ $0.durable.covers(dot) }) { return }
        throw StoreError(
            .failed,
            "A loss of power could take what was written here, and that cannot be noted beside the database. So it is sent to nobody.")
    }

    /// Whether the commit is on the disk, or that it may be lost.
    private func isSafe(_ dot: Dot) -> Bool {
        state.withLock { state in
            if state.durable.covers(dot) { return true }
            guard let lock = state.lock ?? Self.lock(path) else { return false }
            if !state.isSet {
                guard (try? lock.store([UInt8(ascii: "1")])) != nil else { return false }
                // The file may be new.
                if state.lock == nil, (try? SmallFile.synchronizeFolder(of: path)) == nil { return false }
            }
            (state.lock, state.isSet) = (lock, true)
            state.told.insert(dot)
            return true
        }
    }

    /// This process tells no more. A mark stays until the store is clean, or was taken over.
    func leave() {
        state.withLock { $0.lock = nil }
    }

    /// A loss of power leaves what `vector` covers.
    func isDurable(_ vector: VersionVector) {
        state.withLock { state in
            state.durable = vector
            guard state.isSet, vector.covers(state.told) else { return }
            state.lock?.overwrite(with: [UInt8(ascii: "0")])
            state.isSet = false
            state.told = VersionVector()
        }
    }
}
