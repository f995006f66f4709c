import Foundation
import KithNotes
import Testing

/// A folder of its own for a test, removed with it.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "kith-files-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func path(_ name: String) -> String { url.appending(path: name).path }

    /// A store of notes in a file, so that it can have attachments.
    func notes(_ name: String = "notes") throws -> NotesStore {
        var options = NotesStore.Options()
        options.readsWhileWriting = false
        return try NotesStore.open(url.appending(path: "\(name)-store/notes.sqlite"), options: options)
    }

    /// Writes a file with the folders above it.
    @discardableResult
    func write(_ name: String, _ bytes: some Sequence<UInt8>) throws -> String {
        let file = url.appending(path: name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
        return file.path
    }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String { try write(name, text.utf8) }

    /// Runs a line of the shell in it.
    func shell(_ line: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", line]
        process.currentDirectoryURL = url
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    /// A copy of a sample.
    func copyFixture(_ name: String) throws {
        let fixture = Bundle.module.bundleURL.appending(path: "Fixtures/\(name)")
        try FileManager.default.copyItem(at: fixture, to: url.appending(path: name))
    }

    func bytes(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: url.appending(path: name))) }

    /// All files below a folder, with their bytes.
    func tree(_ name: String) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        let root = url.appending(path: name)
        for path in try FileManager.default.subpathsOfDirectory(atPath: root.path) {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: root.appending(path: path).path, isDirectory: &isFolder), !isFolder.boolValue
            else {
                continue
            }
            files[path] = try bytes("\(name)/\(path)")
        }
        return files
    }
}

extension NotesStore {
    /// All notes with what belongs to them, those of the trash included; ids of attachments are made anew by some formats and left out.
    func everything() throws -> [WholeNote] {
        var notes: [WholeNote] = []
        try forEachNote { note in
            var note = note
            for index in note.attachments.indices { note.attachments[index].id = note.id }
            notes.append(note)
        }
        return notes
    }

    /// The only note with this title.
    func titled(_ title: String) throws -> Note? {
        let found = try list().filter { $0.title == title }
        return found.count == 1 ? found[0] : nil
    }
}
