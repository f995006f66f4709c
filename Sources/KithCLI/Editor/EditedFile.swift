import Foundation
import KithNotes

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A file in a folder of its own that only its owner can read, for the person's editor.
struct EditedFile {
    /// A title, a body, and what separates them.
    private static let bytesMax = NoteLimits.titleBytesMax + NoteLimits.mergedBodyBytesMax + 4

    private let folder: String
    private let path: String
    private let original: String

    /// Lets the person edit `text` and hands the result to `save`.
    ///
    /// If it cannot be saved, the file stays, and the error says where it is.
    static func edit<Result>(_ text: String, save: (String) throws -> Result) throws -> Result {
        let file = try EditedFile(text)
        do {
            try Editor().open(file.path)
            let result = try save(file.read())
            file.remove()
            return result
        } catch {
            if file.holdsNothingNew {
                file.remove()
                throw error
            }
            guard let failure = CommandFailure(error) else { throw error }
            throw CommandFailure(failure.status, "\(failure.message) Your text is in \(file.path)")
        }
    }

    /// Lets the person edit title and body of a note.
    static func edit<Result>(_ note: Note, save: (Note) throws -> Result) throws -> Result {
        try edit(NoteDraft(title: note.title, body: note.body).text) { text in
            let draft = NoteDraft(text: text, like: note.body)
            var edited = note
            edited.title = draft.title
            edited.body = draft.body
            return try save(edited)
        }
    }

    private init(_ text: String) throws(CommandFailure) {
        let base = ProcessInfo.processInfo.environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        var template = Array("\(base)/kith-note.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandFailure(
                .cannotCreate, "No file for the editor can be made in \(base) (\(StandardStreams.systemMessage())). Set TMPDIR.")
        }
        folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        path = folder + "/note.md"
        original = text
        guard FileManager.default.createFile(atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600]) else {
            throw CommandFailure(.inputOutput, "The file for the editor cannot be written in \(folder). Is the disk full?")
        }
    }

    private func read() throws(CommandFailure) -> String {
        try StandardStreams.read(path, bytesMax: Self.bytesMax)
    }

    private var holdsNothingNew: Bool {
        guard FileManager.default.fileExists(atPath: path) else { return true }
        return (try? read()).map { $0.utf8.elementsEqual(original.utf8) } ?? false
    }

    private func remove() {
        try? FileManager.default.removeItem(atPath: folder)
    }
}
