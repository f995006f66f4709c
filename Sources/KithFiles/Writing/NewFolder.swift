import CFileFormats
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Makes a folder or a file that is there whole or not at all: in a folder beside its place first, from where it is moved at the end.
enum NewFolder {
    private static let name = "new"

    /// - Parameter body: fills the folder at the path that it gets.
    /// - Throws: ``FilesError`` with code `cannotCreate` if something is there already, but for an empty folder; what `body` throws.
    static func make<Result>(_ target: String, _ body: (String) throws -> Result) throws -> Result {
        let target = ForeignFile.resolved(target)
        try requireFree(target)
        return try withExtendedLifetime(scratch(for: target)) { scratch in
            let partial = scratch.path(name)
            try NewFile.makeFolder(partial)
            let result = try body(partial)
            synchronize(partial)
            // An empty folder gives way, anything else does not.
            guard rename(partial, target) == 0 else {
                throw FilesError(
                    .cannotCreate, "\(target) cannot be made (\(ForeignFile.systemMessage())). Name a folder that is new or empty.")
            }
            return result
        }
    }

    /// The same with a file, which must not be there yet.
    static func makeFile<Result>(_ target: String, _ body: (String) throws -> Result) throws -> Result {
        if case .hidden(let words) = ForeignFile.kind(target) { throw FilesError(.cannotCreate, "\(target): \(words)") }
        guard ForeignFile.kind(target) == .missing else {
            throw FilesError(.cannotCreate, "\(target) exists already, and was left as it is. Name a new file.")
        }
        return try withExtendedLifetime(scratch(for: target)) { scratch in
            let partial = scratch.path(name)
            let result = try body(partial)
            synchronize(partial)
            // A link fails where a file has appeared meanwhile; a file system without links has to do with a look before.
            if link(partial, target) != 0, errno == EEXIST || rename(partial, target) != 0 { throw NewFile.failure(target) }
            return result
        }
    }

    private static func requireFree(_ target: String) throws(FilesError) {
        switch ForeignFile.kind(target) {
        case .missing: return
        case .hidden(let words): throw FilesError(.cannotCreate, "\(target): \(words)")
        case .folder where (try? FileManager.default.contentsOfDirectory(atPath: target))?.isEmpty == true: return
        default:
            throw FilesError(
                .cannotCreate, "\(target) exists already and is not an empty folder. It was left as it is; name a new one.")
        }
    }

    /// On the same disk. What a program has left there that was killed goes now.
    private static func scratch(for target: String) throws -> ScratchFolder {
        let folder = URL(filePath: target).standardizedFileURL.deletingLastPathComponent()
        guard ForeignFile.kind(folder.resolvingSymlinksInPath().path) == .folder else {
            throw FilesError(.cannotCreate, "There is no folder \(folder.path). Make it first, or name another.")
        }
        guard access(folder.path, W_OK | X_OK) == 0 else { throw NewFile.failure(target) }
        return try ScratchFolder(beside: target)
    }

    /// Brings what was written to the disk.
    static func synchronize(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        _ = kith_sync_file_system(descriptor)
    }
}
