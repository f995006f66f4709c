import Foundation
import GRDB
import Synchronization

/// Where a simulated machine keeps its database: in memory, or in a folder if its disk is to be copied and restored.
final class NodeDisk {
    private static let folderCount = Atomic<Int>(0)
    /// `nil` in memory.
    private let folder: URL?
    private(set) var database: any DatabaseWriter

    init(inMemory: Bool) throws {
        if inMemory {
            folder = nil
            database = try DatabaseQueue()
        } else {
            let number = Self.folderCount.add(1, ordering: .relaxed).newValue
            let name = "kith-simulation-\(ProcessInfo.processInfo.processIdentifier)-\(number)"
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(name)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            self.folder = folder
            database = try Self.open(folder)
        }
    }

    private static func open(_ folder: URL) throws -> any DatabaseWriter {
        try DatabasePool(path: folder.appendingPathComponent(databaseName).path)
    }

    private static let databaseName = "app.sqlite"
    private static let companions = ["-wal", "-shm"].map { databaseName + $0 }

    /// The database file as it is when all that is committed is in it.
    func copy() throws -> Data {
        guard let folder else { return Data() }
        let path = folder.appendingPathComponent("backup.sqlite").path
        let copy = try DatabaseQueue(path: path)
        try database.backup(to: copy)
        try copy.close()
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }

    /// Ends the process as a signal does that cannot be caught: what `close` would have tidied up is left as it was.
    func kill(closing close: () -> Void) throws {
        guard let folder else { return close() }
        var left: [(URL, Data)] = []
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() where !Self.isSharedMemory(name) {
            let file = folder.appendingPathComponent(name)
            left.append((file, try Data(contentsOf: file)))
        }
        close()
        try database.close()
        for (file, content) in left { try Self.overwrite(file, with: content) }
        database = try Self.open(folder)
    }

    /// Somebody puts another database file in the place of this one, and leaves what lies beside it.
    func replace(by content: Data) throws {
        guard let folder else { return }
        try database.close()
        for name in Self.companions { try? FileManager.default.removeItem(at: folder.appendingPathComponent(name)) }
        try Self.overwrite(folder.appendingPathComponent(Self.databaseName), with: content)
        database = try Self.open(folder)
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

    private static func isSharedMemory(_ name: String) -> Bool { name.hasSuffix("-shm") }

    func remove() {
        guard let folder else { return }
        try? database.close()
        try? FileManager.default.removeItem(at: folder)
    }
}
