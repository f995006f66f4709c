import Foundation
import KithNotes

extension NoteImport {
    /// Imports what is at `path`, whatever it is.
    ///
    /// Done again, it imports nothing twice: notes of Kith have ids, and those of others get one that follows from where they are and what they say.
    /// A note that is here already is never changed.
    /// - Throws: ``FilesError`` if it cannot be read or is nothing that can be imported; ``NotesError`` with code `busy`, `diskFull` or
    ///   `readOnly`: what was imported before is there then, and doing it again imports the rest.
    package static func run(_ path: String, into notes: NotesStore, options: Options = Options()) throws -> ImportReport {
        let path = URL(filePath: path).standardizedFileURL.path
        let importer = NoteImport(notes, options)
        return try FilesError.mapping {
            try importer.read(path)
            try importer.flush()
            let report = importer.report
            if report.added + report.present + report.leftOut == 0 { throw ImportFormat.nothing(in: path) }
            return report
        }
    }

    private static func isHidden(_ name: String) -> Bool { name.hasPrefix(".") && name != "." }

    private func read(_ path: String) throws {
        switch try ImportFormat.recognise(path) {
        case .markdown:
            var folder = try ForeignFile.kind(path) == .folder ? MarkdownFolder(path) : MarkdownFolder(file: path)
            try folder.read(into: self)
        case .lines:
            var file = try JSONLinesFile(path)
            try file.read(into: self)
        case .joplin:
            var folder = try JoplinFolder(path, self)
            try folder.read(into: self)
        case .keep:
            let place = KeepFolder.place(in: path)
            var folder = try place.map { try KeepFolder($0) } ?? KeepFolder(file: path)
            try folder.read(into: self)
            if place != nil { try folder.remarkOthers(in: path, self) }
        case .evernote:
            try EvernoteFile(path).read(into: self)
        case .archive:
            let scratch = try ScratchFolder()
            // As in a folder, hidden ones are passed over without a word.
            for oddity in try Archive.unpackAll(path, into: scratch.path)
            where !RelativePath.names(of: oddity.path).contains(where: Self.isHidden) {
                report.remark(oddity.path, oddity.words)
            }
            if case .file = ForeignFile.kind(scratch.path(NotesBackup.headName)) { throw ImportFormat.isBackup(path) }
            try read(unpacked: scratch.path)
            // What waits reads its attachments from there.
            try flush()
            report.name(path, insteadOf: scratch.path)
        }
    }

    /// Reads what was in an archive. A folder that holds all of it is what was packed: its notes are those of the folder itself.
    private func read(unpacked path: String) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0 != "__MACOSX" && $0 != ".DS_Store" }
        if names.count == 1, !Self.isHidden(names[0]), case let inner = "\(path)/\(names[0])", ForeignFile.kind(inner) == .folder,
            try ImportFormat.recognise(path) == .markdown, try ImportFormat.recognise(inner) == .markdown
        {
            var folder = try MarkdownFolder(inner, outer: names[0])
            try folder.read(into: self)
            return report.name(path, insteadOf: inner)
        }
        try read(path)
    }
}
