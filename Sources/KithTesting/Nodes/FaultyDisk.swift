import CFaultVFS
import GRDBSQLite
import KithStore

/// A folder in which databases lose, with the power, what was not synced, and in which writes and syncs can fail.
///
/// Beneath it is a layer of SQLite, in C, that keeps apart what was synced and what was not.
struct FaultyDisk: Sendable {
    /// Without symbolic links: SQLite asks for files by their real paths.
    let folder: String

    init(folder: String) throws {
        self.folder = folder
        for code in [kith_fault_install(), kith_fault_disk_add(folder)] where code != SQLITE_OK {
            throw StoreError(.failed, "SQLite refuses the layer that makes disks fail (\(code)).")
        }
    }

    func remove() {
        kith_fault_disk_remove(folder)
    }

    /// Brings to the disk what was written to `path`, unless the disk is broken.
    static func synchronize(path: String) throws {
        let code = kith_fault_sync(path)
        if code == SQLITE_OK { return }
        throw StoreError(code == SQLITE_FULL ? .diskFull : .failed, "\(path) could not be brought to the disk (\(code)).")
    }

    // MARK: Failing

    enum Failure {
        case full, broken

        var code: Int32 { self == .full ? SQLITE_FULL : SQLITE_IOERR }
    }

    /// After this many more writes and syncs all that follow fail, until ``work()``.
    func fail(_ failure: Failure, afterWrites count: Int) {
        kith_fault_disk_fail(folder, Int64(count), -1, failure.code)
    }

    func work() {
        kith_fault_disk_fail(folder, 0, 0, SQLITE_OK)
    }

    /// Whether something failed since ``fail(_:afterWrites:)``.
    var hasFailed: Bool { kith_fault_disk_failures(folder) > 0 }

    // MARK: Losing power

    /// The file as a loss of power may leave it; `nil` if it keeps all that it has.
    func survivor(of path: String, seed: UInt64) throws -> [UInt8]? {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = kith_fault_survivor(path, seed, &bytes)
        if count == -1 { return nil }
        guard count >= 0, let bytes else { throw StoreError(.failed, "There is no memory for \(path) after a loss of power.") }
        defer { kith_fault_free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    /// Does what changes the files and is undone before it ends; nothing of it counts.
    func asIfNothing(_ body: () throws -> Void) rethrows {
        kith_fault_disk_freeze(folder, 1)
        defer { kith_fault_disk_freeze(folder, 0) }
        try body()
    }

    /// All that the files hold is on the disk.
    func settle() {
        kith_fault_disk_settle(folder)
    }
}
