import KithCausality
import KithLock
import KithSQLite
import KithTexts
import Synchronization

/// Whether others may know commits of this store that a loss of power would take. Then the store must not go on under its id after one, for
/// it would give their numbers to other commits.
///
/// A line in a file beside the database. `1` is on the disk before such a commit is told. When all that was told is on the disk and the store
/// rests, `0` follows, with the newest commit that is there, in one write: a disk that has lost the mark has the commit's number, which an
/// older copy of the database, put in its place, lacks. One process at a time keeps it, which locks the file as long as it tells commits; a
/// process that finds it locked brings its commits to the disk instead, before it tells them.
final class AheadMark: Sendable {
    private struct State {
        /// What a loss of power leaves, and the store's own newest commit among it.
        var durable = VersionVector()
        var newest: Dot?
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
        if isFirst, Self.read(databasePath: databasePath)?.isAhead == true, let lock = Self.lock(path) {
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

    /// What the file says.
    struct Content {
        /// Whether others may know commits that a loss of power has taken.
        var isAhead: Bool
        /// The replica, and its newest commit that was on the disk.
        var replica = ""
        var sequence: UInt64 = 0

        init?(_ line: [UInt8]) {
            let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }.map { String(decoding: $0, as: UTF8.self) }
            guard let flag = words.first, flag == "0" || flag == "1" else { return nil }
            isAhead = flag == "1"
            if words.count == 3, let number = UInt64(words[2]) { (replica, sequence) = (words[1], number) }
        }

        /// All lines are equally long, but for that of a store that has only just begun to tell.
        static func line(_ dot: Dot) -> [UInt8] {
            let digits = String(dot.sequence)
            return Array("0 \(dot.replica) \(String(repeating: "0", count: 20 - digits.count))\(digits)\n".utf8)
        }
    }

    /// `nil` if there is no file, or it says nothing.
    static func read(databasePath: String) -> Content? { SmallFile.read(path(databasePath)).flatMap(Content.init) }

    /// A commit of this store is about to be told to others.
    ///
    /// - Parameter flush: brings what was committed to the disk, and calls ``isDurable(_:newest:)``. Called if the mark cannot be set.
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
    ///
    /// - Parameter newest: the store's own newest commit among it.
    func isDurable(_ vector: VersionVector, newest: Dot) {
        state.withLock { ($0.durable, $0.newest) = (vector, newest) }
    }

    /// No commit is expected soon, so the mark goes if all that was told is on the disk.
    func rest() {
        state.withLock { state in
            guard let newest = state.newest, state.durable.covers(state.told) else { return }
            state.lock?.overwrite(with: Content.line(newest))
            state.isSet = false
            state.told = VersionVector()
        }
    }
}
