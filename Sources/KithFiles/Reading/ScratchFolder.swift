import Foundation
import KithLock

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A folder for files that are needed for a while, gone with this object. What a program has left that was killed goes with the next one
/// in the same place.
final class ScratchFolder: Sendable {
    private static let prefix = ".kith-"
    private let folder: URL
    /// In which the files are: a store that is opened there locks it for a moment.
    private let files: URL
    /// Held as long as the folder is needed.
    private let lock: FileLock?

    /// In the system's folder for such files.
    convenience init() throws {
        try self.init(in: FileManager.default.temporaryDirectory)
    }

    /// On the same disk as a file.
    convenience init(beside file: String) throws {
        try self.init(in: URL(filePath: file).standardizedFileURL.deletingLastPathComponent())
    }

    private init(in place: URL) throws {
        Self.removeUnused(in: place)
        (folder, lock) = try Self.take(in: place)
        files = folder.appending(path: "files")
        do {
            try FileManager.default.createDirectory(
                at: files, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            Self.remove(folder)
            throw error
        }
    }

    private static func take(in place: URL) throws -> (folder: URL, lock: FileLock?) {
        while true {
            let folder = place.appending(path: "\(prefix)\(UUID().uuidString.lowercased())")
            Leftovers.note(folder.path)
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let lock = FileLock(reading: folder.path)
            // On a file system without locks, no program can take this one, so none removes the folder while it is in use.
            guard let isTaken = try? lock?.tryToTake(.exclusive) else {
                if lock == nil, !FileManager.default.fileExists(atPath: folder.path) {
                    Leftovers.forget(folder.path)
                    continue
                }
                return (folder, nil)
            }
            // Another program may have been quicker, before the folder was locked.
            if isTaken, FileManager.default.fileExists(atPath: folder.path) {
                return (folder, lock)
            }
            Leftovers.forget(folder.path)
        }
    }

    deinit { Self.remove(folder) }

    private static func remove(_ folder: URL) {
        try? FileManager.default.removeItem(at: folder)
        Leftovers.forget(folder.path)
    }

    private static func removeUnused(in place: URL) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
        for name in names where name.hasPrefix(prefix) && UUID(uuidString: String(name.dropFirst(prefix.count))) != nil {
            let folder = place.appending(path: name)
            // In a folder that all users write to, such a name may be a link, or a folder of somebody else's.
            let about = try? FileManager.default.attributesOfItem(atPath: folder.path)
            guard about?[.type] as? FileAttributeType == .typeDirectory, about?[.ownerAccountID] as? NSNumber == NSNumber(value: geteuid())
            else { continue }
            guard let lock = FileLock(reading: folder.path), (try? lock.tryToTake(.exclusive)) == true else { continue }
            try? FileManager.default.removeItem(at: folder)
        }
    }

    var path: String { files.path }

    func path(_ name: String) -> String { files.appending(path: name).path }
}
