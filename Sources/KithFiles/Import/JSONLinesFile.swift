import Foundation
import Kith
import KithNotes

/// Reads a file of JSON lines that Kith wrote. All of it is read and checked before the first note is imported.
struct JSONLinesFile {
    private let path: String
    /// A folder for the bytes of attachments.
    private let scratch: ScratchFolder
    /// Contents of which all pieces were there.
    private var whole: Set<String> = []
    private var open: (content: String, file: FileHandle)?

    /// Bytes of a line: a body of which every character is escaped, and all else.
    static let lineBytesMax = 32 << 20

    init(_ path: String) throws {
        self.path = path
        scratch = try ScratchFolder()
    }

    mutating func read(into importer: NoteImport) throws {
        try check()
        try Self.forEachLine(path) { line, _ in
            if let note = line.note { try importer.add(self.note(note)) }
        }
        try importer.flush()
    }

    /// Whether the first line says that the file is one.
    static func isOne(_ path: String) -> Bool {
        guard var reader = try? LineReader(path, bytesMax: 4_096), let first = try? reader.next() else { return false }
        return (try? JSONDecoder().decode(NoteLine.self, from: Data(first)))?.kith?.format == NoteLine.Head.name
    }

    /// Reads all, and puts the bytes of attachments into files.
    private mutating func check() throws {
        var (notes, end): (Int, Int?) = (0, nil)
        try Self.forEachLine(path) { line, number in
            if number == 1 {
                guard let head = line.kith, head.format == NoteLine.Head.name else {
                    throw Self.damage(path, number, "It is no file of Kith's notes.")
                }
                guard head.version == 1 else {
                    throw FilesError(.data, "\(self.path) was written by a newer version of Kith. Update this program.")
                }
            }
            if end != nil { throw Self.damage(path, number, "Something follows the end.") }
            if line.note != nil { notes += 1 }
            if let piece = line.piece { try self.take(piece, number) }
            end = line.end?.notes
        }
        guard let end, end == notes, open == nil else {
            throw FilesError(.data, "\(path) is not whole: its end is missing. Nothing was imported; copy or export it again.")
        }
    }

    private static func forEachLine(_ path: String, _ body: (NoteLine, Int) throws -> Void) throws {
        var reader = try LineReader(path, bytesMax: lineBytesMax)
        let decoder = JSONDecoder()
        var number = 0
        while let bytes = try reader.next() {
            number += 1
            guard let line = try? decoder.decode(NoteLine.self, from: Data(bytes)) else {
                throw damage(path, number, "It is no line of Kith's notes.")
            }
            try body(line, number)
        }
    }

    private static func damage(_ path: String, _ line: Int, _ words: String) -> FilesError {
        FilesError(.data, "\(path), line \(line): \(words) Nothing was imported.")
    }

    private mutating func take(_ piece: NoteLine.Piece, _ line: Int) throws {
        guard AttachmentID(piece.content) != nil, let bytes = Data(base64Encoded: piece.bytes) else {
            throw Self.damage(path, line, "It is damaged.")
        }
        if open == nil {
            let file = scratch.path(piece.content)
            guard !whole.contains(piece.content), FileManager.default.createFile(atPath: file, contents: nil) else {
                throw Self.damage(path, line, "An attachment is there twice.")
            }
            open = (piece.content, try FileHandle(forWritingTo: URL(filePath: file)))
        }
        guard let file = open, file.content == piece.content else { throw Self.damage(path, line, "Pieces of two attachments are mixed.") }
        try file.file.write(contentsOf: bytes)
        if piece.isLast == true {
            try file.file.close()
            open = nil
            whole.insert(piece.content)
        }
    }

    private func note(_ record: NoteLine.Record) -> ForeignNote {
        var note = ForeignNote(origin: record.title, title: record.title, body: record.body)
        note.id = record.id
        note.tags = record.tags
        note.color = NoteColor(rawValue: record.color)
        note.isPinned = record.pinned ?? false
        note.createdMilliseconds = record.created
        note.updatedMilliseconds = record.updated
        note.isTrashed = record.deleted ?? false
        note.attachments = (record.attachments ?? []).compactMap { attachment in
            guard let content = AttachmentID(attachment.content) else { return nil }
            let source: ForeignNote.Attachment.Source =
                whole.contains(attachment.content)
                ? .file(path: scratch.path(attachment.content)) : .elsewhere(content, bytes: attachment.size)
            return ForeignNote.Attachment(name: attachment.name, source: source, id: attachment.id, content: content)
        }
        return note
    }
}
