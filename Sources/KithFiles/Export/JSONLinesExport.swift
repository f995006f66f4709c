import Foundation
import Kith
import KithNotes

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Writes all notes into one file, a JSON object a line: for programs, and to have everything back as it was.
package struct JSONLinesExport {
    /// Bytes of a piece of an attachment.
    static let pieceBytes = 192 << 10

    /// Makes the file, which must not be there.
    ///
    /// - Throws: ``FilesError``, ``NotesError``; nothing is left of the file then.
    package static func write(_ notes: NotesStore, to file: String, options: ExportOptions = ExportOptions()) throws -> ExportReport {
        try FilesError.mapping { try NewFolder.makeFile(file) { try write(notes, to: file, at: $0, options) } }
    }

    private static func write(_ notes: NotesStore, to file: String, at partial: String, _ options: ExportOptions) throws -> ExportReport {
        let descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw NewFile.failure(file) }
        defer { close(descriptor) }
        var writer = LineWriter(descriptor: descriptor, path: file)
        var report = ExportReport()
        var contents: [AttachmentID: (note: String, name: String)] = [:]
        try writer.add(NoteLine(kith: NoteLine.Head()))
        try notes.forEachNote(includingTrash: options.includesTrash) { whole in
            try writer.add(NoteLine(note: NoteLine.Record(whole)))
            for attachment in whole.attachments { contents[attachment.content] = (whole.note.title, attachment.name) }
            report.notes += 1
            if whole.isTrashed { report.trashed += 1 }
            if report.notes % ExportOptions.progressStep == 0 { options.progress(report.notes) }
        }
        for (id, name) in contents.sorted(by: { $0.key.description < $1.key.description }) {
            guard let content = try notes.store.provenAttachment(id) else {
                report.missing.append(ExportReport.Missing(note: name.note, attachment: name.name))
                continue
            }
            try writer.add(content, id)
            report.attachments += 1
        }
        try writer.add(NoteLine(end: NoteLine.End(notes: report.notes)))
        try writer.flush()
        return report
    }
}

/// Collects lines and writes them.
private struct LineWriter {
    let descriptor: Int32
    let path: String
    private var buffer: [UInt8] = []
    private let encoder: JSONEncoder

    init(descriptor: Int32, path: String) {
        (self.descriptor, self.path) = (descriptor, path)
        encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    }

    mutating func add(_ line: NoteLine) throws {
        buffer += try encoder.encode(line)
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count > 1 << 20 { try flush() }
    }

    mutating func add(_ content: AttachmentFile, _ id: AttachmentID) throws {
        let file = try FileHandle(forReadingFrom: content.url)
        defer { try? file.close() }
        var next = try file.read(upToCount: JSONLinesExport.pieceBytes) ?? Data()
        while true {
            let piece = next
            next = piece.isEmpty ? Data() : try file.read(upToCount: JSONLinesExport.pieceBytes) ?? Data()
            let isLast = next.isEmpty
            try add(
                NoteLine(
                    piece: NoteLine.Piece(content: id.description, bytes: piece.base64EncodedString(), isLast: isLast ? true : nil)))
            if isLast { return }
        }
    }

    mutating func flush() throws {
        try NewFile.write(buffer, descriptor, path)
        buffer = []
    }
}
