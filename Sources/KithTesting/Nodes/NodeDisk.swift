import Foundation
import GRDB

/// Where a simulated machine keeps its database: in memory, or in a folder if its disk is to be copied, restored or broken.
final class NodeDisk {
    /// `nil` in memory.
    private let folder: URL?
    private let scratch: ScratchFolder?
    let faults: FaultyDisk?
    private(set) var database: any DatabaseWriter

    init(inMemory: Bool) throws {
        if inMemory {
            scratch = nil
            folder = nil
            faults = nil
            database = try DatabaseQueue()
        } else {
            let scratch = try ScratchFolder()
            let folder = scratch.url
            (self.scratch, self.folder) = (scratch, folder)
            faults = try FaultyDisk(folder: folder.path)
            database = try Self.open(folder)
        }
    }

    private static func open(_ folder: URL) throws -> any DatabaseWriter {
        try DatabasePool(path: folder.appendingPathComponent(databaseName).path)
    }

    private static let databaseName = "app.sqlite"
    private static let companions = ["-wal", "-shm"].map { databaseName + $0 }
    private static let sentinelName = databaseName + "-kith"
    /// The file that processes lock, in which a store notes its commits and never waits for the disk.
    private static let lockName = databaseName + "-kith-lock"
    /// The file that says whether others may know what is not on the disk.
    private static let aheadName = databaseName + "-kith-ahead"

    /// The small file by which a store is told from a copy; empty if there is none.
    func sentinel() -> Data {
        folder.flatMap { try? Data(contentsOf: $0.appendingPathComponent(Self.sentinelName)) } ?? Data()
    }

    /// The small files by which a store is told from a copy or an older one, by name.
    func beside() -> [String: Data] {
        guard let folder else { return [:] }
        var files: [String: Data] = [:]
        for name in [Self.sentinelName, Self.aheadName] { files[name] = try? Data(contentsOf: folder.appendingPathComponent(name)) }
        return files
    }

    /// Makes these files what they were.
    func putBeside(_ files: [String: Data]) throws {
        guard let folder else { return }
        for (name, content) in files.sorted(by: { $0.key < $1.key }) {
            try Self.overwrite(folder.appendingPathComponent(name), with: content)
        }
    }

    /// The database file as it is when all that is committed is in it.
    func copy() throws -> Data {
        guard let folder, let faults else { return Data() }
        let path = folder.appendingPathComponent("backup.sqlite").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try faults.asIfNothing {
            let copy = try DatabaseQueue(path: path)
            try database.backup(to: copy)
            try copy.close()
        }
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }

    // MARK: Ends

    /// Ends the process as a signal does that cannot be caught: what `close` would have tidied up is left as it was.
    func kill(closing close: () -> Void) throws {
        guard folder != nil else { return close() }
        try end(closing: close) { try Data(contentsOf: $0) }
    }

    /// Ends process and machine: of what was not synced the disk keeps what `seed` says.
    ///
    /// - Parameter sentinels: what the small file beside the database may be then.
    func losePower(seed: UInt64, sentinels: [Data], closing close: () -> Void) throws {
        guard folder != nil, let faults else { return close() }
        var random = SplitMix64(seed: seed)
        try end(closing: close) { file in
            if file.lastPathComponent == Self.sentinelName { return random.pick(sentinels) ?? Data() }
            if file.lastPathComponent == Self.lockName { return Data() }
            // That they may is on the disk before they do; that they do not any more gets there some time.
            if file.lastPathComponent == Self.aheadName { return random.chance(percent: 30) ? Data("1".utf8) : try Data(contentsOf: file) }
            return if let bytes = try faults.survivor(of: file.path, seed: random.next()) { Data(bytes) } else {
                try Data(contentsOf: file)
            }
        }
    }

    /// Closes everything, and puts back what `content` says was left in each file.
    private func end(closing close: () -> Void, _ content: (URL) throws -> Data) throws {
        guard let folder, let faults else { return }
        try faults.asIfNothing {
            var left: [(URL, Data)] = []
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() where !name.hasSuffix("-shm") {
                let file = folder.appendingPathComponent(name)
                left.append((file, try content(file)))
            }
            close()
            try database.close()
            for (file, content) in left { try Self.overwrite(file, with: content) }
        }
    }

    /// The process is started again. After a loss of power, what is in the files now is on the disk.
    func reopen(afterLoss: Bool) throws {
        guard let folder else { return }
        if afterLoss {
            faults?.work()
            faults?.settle()
        }
        database = try Self.open(folder)
    }

    /// Somebody puts another database file in the place of this one, and leaves what lies beside it.
    func replace(by content: Data) throws {
        guard let folder else { return }
        try database.close()
        for name in Self.companions { try? FileManager.default.removeItem(at: folder.appendingPathComponent(name)) }
        try Self.overwrite(folder.appendingPathComponent(Self.databaseName), with: content)
        try reopen(afterLoss: true)
    }

    /// Puts `content` into the same file, so that it keeps its inode.
    private static func overwrite(_ file: URL, with content: Data) throws {
        if !FileManager.default.fileExists(atPath: file.path) {
            try content.write(to: file)
            return
        }
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: content)
    }

    func remove() {
        guard let scratch else { return }
        try? database.close()
        faults?.remove()
        scratch.remove()
    }
}
