import Foundation

/// A folder for files that are needed for a while, gone with this object.
final class ScratchFolder: Sendable {
    private let folder: URL

    /// In the system's folder for such files.
    convenience init() throws {
        try self.init(in: FileManager.default.temporaryDirectory)
    }

    /// On the same disk as a file.
    convenience init(beside file: String) throws {
        try self.init(in: URL(filePath: file).standardizedFileURL.deletingLastPathComponent())
    }

    private init(in place: URL) throws {
        folder = place.appending(path: ".kith-\(UUID().uuidString.lowercased())")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    var path: String { folder.path }

    func path(_ name: String) -> String { folder.appending(path: name).path }
}
