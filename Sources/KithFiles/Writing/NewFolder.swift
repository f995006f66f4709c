import CFileFormats
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Makes a folder or a file that is there whole or not at all: under another name first, which is its own at the end.
enum NewFolder {
    /// - Parameter body: fills the folder at the path that it gets.
    /// - Throws: ``FilesError`` with code `cannotCreate` if something is there already, but for an empty folder; what `body` throws.
    static func make<Result>(_ target: String, _ body: (String) throws -> Result) throws -> Result {
        try requireFree(target)
        let partial = try partialPath(target)
        Leftovers.note(partial)
        defer { Leftovers.forget(partial) }
        try NewFile.makeFolder(partial)
        do {
            let result = try body(partial)
            synchronize(partial)
            // An empty folder gives way, anything else does not.
            guard rename(partial, target) == 0 else {
                throw FilesError(
                    .cannotCreate, "\(target) cannot be made (\(ForeignFile.systemMessage())). Name a folder that is new or empty.")
            }
            return result
        } catch {
            try? FileManager.default.removeItem(atPath: partial)
            throw error
        }
    }

    /// The same with a file, which must not be there yet.
    static func makeFile<Result>(_ target: String, _ body: (String) throws -> Result) throws -> Result {
        if case .hidden(let words) = ForeignFile.kind(target) { throw FilesError(.cannotCreate, "\(target): \(words)") }
        guard ForeignFile.kind(target) == .missing else {
            throw FilesError(.cannotCreate, "\(target) exists already, and was left as it is. Name a new file.")
        }
        let partial = try partialPath(target)
        Leftovers.note(partial)
        defer { Leftovers.forget(partial) }
        do {
            let result = try body(partial)
            synchronize(partial)
            // A link fails where a file has appeared meanwhile; a file system without links has to do with a look before.
            if link(partial, target) == 0 {
                unlink(partial)
            } else if errno == EEXIST || rename(partial, target) != 0 {
                throw NewFile.failure(target)
            }
            return result
        } catch {
            try? FileManager.default.removeItem(atPath: partial)
            throw error
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

    private static func partialPath(_ target: String) throws(FilesError) -> String {
        let url = URL(filePath: target).standardizedFileURL
        let folder = url.deletingLastPathComponent()
        guard ForeignFile.kind(folder.resolvingSymlinksInPath().path) == .folder else {
            throw FilesError(.cannotCreate, "There is no folder \(folder.path). Make it first, or name another.")
        }
        return folder.appending(path: ".kith-\(UUID().uuidString.prefix(8).lowercased())-partial").path
    }

    /// Brings what was written to the disk.
    static func synchronize(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        _ = kith_sync_file_system(descriptor)
    }
}
