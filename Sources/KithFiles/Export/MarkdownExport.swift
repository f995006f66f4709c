import Foundation
import Kith
import KithNotes

/// Writes all notes as a folder of Markdown files, with front matter that Obsidian and Joplin understand.
///
/// | path | what |
/// |---|---|
/// | `Title.md` | a note; `Title (2).md` is another one of that title |
/// | `attachments/photo.jpg` | a file that notes have |
/// | `.trash/Title.md` | a note in the trash |
package struct MarkdownExport {
    /// The folder of attachments.
    static let attachmentFolder = "attachments"

    private let notes: NotesStore
    private let options: ExportOptions
    private let root: String
    private var report = ExportReport()
    private var names = NameRegister()
    private var trashNames = NameRegister()
    private var files: AttachmentFiles

    /// Makes the folder, which must not be there, or be empty.
    ///
    /// - Throws: ``FilesError``, ``NotesError``; nothing is left of the folder then.
    package static func write(_ notes: NotesStore, to folder: String, options: ExportOptions = ExportOptions()) throws -> ExportReport {
        try FilesError.mapping {
            try NewFolder.make(folder) { partial in
                var export = MarkdownExport(notes, options, partial)
                try export.files.write(includingTrash: options.includesTrash)
                try notes.forEachNote(includingTrash: options.includesTrash) { try export.write($0) }
                return export.report
            }
        }
    }

    private init(_ notes: NotesStore, _ options: ExportOptions, _ root: String) {
        (self.notes, self.options, self.root) = (notes, options, root)
        files = AttachmentFiles(notes, root)
    }

    private mutating func write(_ whole: WholeNote) throws {
        let title = FileName.stem(for: whole.note.title)
        var attachments: [MarkdownNote.Attachment] = []
        for attachment in whole.attachments {
            guard let path = files.path(of: attachment) else {
                report.missing.append(ExportReport.Missing(note: whole.note.title, attachment: attachment.name))
                continue
            }
            attachments.append(MarkdownNote.Attachment(path: (whole.isTrashed ? "../" : "") + path, name: attachment.name))
        }
        let name = whole.isTrashed ? trashNames.takeFree(stem: title, ending: "md") : names.takeFree(stem: title, ending: "md")
        var note = MarkdownNote(whole, stem: String(name.dropLast(3)), attachments: attachments)
        note.nameFilesInLinks()
        if whole.isTrashed {
            if report.trashed == 0 { try NewFile.makeFolder("\(root)/\(MarkdownFolder.trashFolder)") }
            note.deletedMilliseconds = whole.note.updatedMilliseconds
            report.trashed += 1
        }
        let path = whole.isTrashed ? "\(root)/\(MarkdownFolder.trashFolder)/\(name)" : "\(root)/\(name)"
        try NewFile.write(note.bytes(), to: path, modifiedMilliseconds: whole.note.updatedMilliseconds)
        report.notes += 1
        report.attachments = files.count
        if report.notes % ExportOptions.progressStep == 0 { options.progress(report.notes) }
    }
}

/// The files of attachments in an exported folder: equal content under one name is one file.
struct AttachmentFiles {
    private let notes: NotesStore
    private let root: String
    private var paths: [String: String] = [:]
    private var names = NameRegister()

    /// Files that were written.
    var count: Int { paths.count }

    init(_ notes: NotesStore, _ root: String) {
        (self.notes, self.root) = (notes, root)
    }

    /// Writes the attachments of all notes. Not a part of the walk over them: what is found damaged is set aside, which takes an access
    /// of its own.
    mutating func write(includingTrash: Bool) throws {
        var all: [WholeNote.Attachment] = []
        try notes.forEachNote(includingTrash: includingTrash) { all += $0.attachments }
        for attachment in all where paths[Self.key(attachment)] == nil {
            guard let file = try notes.store.provenAttachment(attachment.content) else { continue }
            if paths.isEmpty { try NewFile.makeFolder("\(root)/\(MarkdownExport.attachmentFolder)") }
            let path = "\(MarkdownExport.attachmentFolder)/\(names.takeFree(FileName.name(for: attachment.name)))"
            try NewFile.copy(file.url, to: "\(root)/\(path)")
            paths[Self.key(attachment)] = path
        }
    }

    /// Where the attachment was written; `nil` if its bytes are not here.
    func path(of attachment: WholeNote.Attachment) -> String? { paths[Self.key(attachment)] }

    /// What makes two attachments one file.
    static func key(_ attachment: WholeNote.Attachment) -> String { "\(attachment.content) \(attachment.name)" }
}
