import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The file of the notes, before SQLite sees it.
enum NotesFile {
    /// Makes an empty file that only its owner can read, with its folder; SQLite fills it.
    static func createIfMissing(_ file: URL) throws(NotesError) {
        let folder = file.deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw NotesError(
                .cannotCreate,
                "The folder \(folder.path) for the notes cannot be made. Check the path, and the permissions of the folder above it.")
        }
        // An existing file must not be opened here: closing it would drop the locks that SQLite may hold on it.
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            close(descriptor)
            return
        }
        let error = errno
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder)
        if isFolder.boolValue {
            throw NotesError(.cannotCreate, "\(file.path) is a folder. Name a file in it for the notes: \(file.path)/notes.sqlite")
        }
        if !exists {
            throw NotesError(
                .cannotCreate,
                "The file \(file.path) for the notes cannot be made (\(String(cString: strerror(error)))). Check the permissions of its folder."
            )
        }
    }
}
