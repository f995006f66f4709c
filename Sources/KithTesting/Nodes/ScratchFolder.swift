import Foundation
import KithLock
import KithStore

/// The folder of a simulated machine, in memory if the system has such a place. A run that is killed leaves its folders behind, and a later
/// one takes them away.
final class ScratchFolder {
    /// Where the machine keeps its files.
    let url: URL
    /// What is taken away at the end: the same, and the lock beside it, which is free as soon as the process ends, however it does.
    private let whole: URL
    private let lock: FileLock

    private static let prefix = "kith-simulation-"
    private static let lockName = "lock"

    convenience init() throws {
        _ = Self.isSwept
        try self.init(in: Self.parent)
    }

    init(in parent: URL) throws {
        let name = Self.prefix + UUID().uuidString
        whole = parent.appendingPathComponent(name)
        url = whole.appendingPathComponent("disk")
        // Whoever sweeps does not see the folder before its lock is taken.
        let hidden = parent.appendingPathComponent("." + name)
        try FileManager.default.createDirectory(at: hidden.appendingPathComponent("disk"), withIntermediateDirectories: true)
        lock = try FileLock(path: hidden.appendingPathComponent(Self.lockName).path)
        guard try lock.tryToTake(.exclusive), rename(hidden.path, whole.path) == 0 else {
            try? FileManager.default.removeItem(at: hidden)
            throw StoreError(
                .failed, "No folder can be made in \(parent.path) for a simulated machine: \(String(cString: strerror(errno))).")
        }
    }

    func remove() {
        try? FileManager.default.removeItem(at: whole)
    }

    // MARK: What killed runs left

    /// Once a process.
    private static let isSwept: Bool = {
        sweep(parent)
        return true
    }()

    /// Takes away the folders in `parent` whose processes are gone.
    static func sweep(_ parent: URL) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let folder = parent.appendingPathComponent(name)
            guard let lock = FileLock(reading: folder.appendingPathComponent(lockName).path) else { continue }
            if (try? lock.tryToTake(.exclusive)) == true { try? FileManager.default.removeItem(at: folder) }
        }
    }

    private static let parent: URL = {
        let memory = "/dev/shm"
        let folder =
            FileManager.default.isWritableFile(atPath: memory) ? URL(fileURLWithPath: memory) : FileManager.default.temporaryDirectory
        guard let path = realpath(folder.path, nil) else { return folder }
        defer { free(path) }
        return URL(fileURLWithPath: String(cString: path))
    }()
}
