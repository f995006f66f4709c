import Foundation
import KithNotes

/// Writes all notes as a site of plain HTML pages, to be read in any browser: no script, and nothing from elsewhere but what notes show.
package struct SiteExport {
    private let notes: NotesStore
    private let options: ExportOptions
    private let root: String
    private var report = ExportReport()
    private var names = NameRegister()
    /// The page of each note.
    private var pages: [UUID: String] = [:]
    private var links = NoteLinks(titles: [])
    private var entries: [SitePage.Entry] = []
    private var files: AttachmentFiles

    /// Makes the folder, which must not be there, or be empty.
    ///
    /// - Throws: ``FilesError``, ``NotesError``; nothing is left of the folder then.
    package static func write(_ notes: NotesStore, to folder: String, options: ExportOptions = ExportOptions()) throws -> ExportReport {
        try FilesError.mapping {
            try NewFolder.make(folder) { partial in
                var export = SiteExport(notes, options, partial)
                // Links lead to notes that come later, too.
                var titles: [(updated: Int64, id: UUID, title: String)] = []
                try notes.forEachNote(includingTrash: false) { whole in
                    export.name(whole.note)
                    titles.append((whole.note.updatedMilliseconds, whole.note.id, whole.note.title))
                }
                export.links = NoteLinks(titles: titles.sorted { ($0.updated, $0.id) > ($1.updated, $1.id) }.map { ($0.id, $0.title) })
                try export.files.write(includingTrash: false)
                try notes.forEachNote(includingTrash: false) { try export.write($0) }
                try export.writeIndex()
                return export.report
            }
        }
    }

    private init(_ notes: NotesStore, _ options: ExportOptions, _ root: String) {
        (self.notes, self.options, self.root) = (notes, options, root)
        files = AttachmentFiles(notes, root)
        _ = names.take("index.html")
    }

    private mutating func name(_ note: Note) {
        if pages[note.id] != nil { return }
        let page = names.takeFree(stem: FileName.stem(for: note.title), ending: "html")
        pages[note.id] = page
    }

    private mutating func write(_ whole: WholeNote) throws {
        let note = whole.note
        // One that was added since is named now.
        name(note)
        guard let page = pages[note.id] else { return }
        var attached: [SitePage.Attachment] = []
        for attachment in whole.attachments {
            if let path = files.path(of: attachment) {
                attached.append(SitePage.Attachment(name: attachment.name, path: path))
            } else {
                report.missing.append(ExportReport.Missing(note: note.title, attachment: attachment.name))
            }
        }
        let html = SitePage.note(note, attachments: attached) { link in
            let id =
                switch link {
                case .title(let title): links.note(named: title)
                case .file(let name): links.note(ofFile: name)
                }
            return id.flatMap { pages[$0] }
        }
        try NewFile.write(Array(html.utf8), to: "\(root)/\(page)", modifiedMilliseconds: note.updatedMilliseconds)
        entries.append(SitePage.Entry(title: note.title, page: page, tags: Array(note.tags), updatedMilliseconds: note.updatedMilliseconds))
        report.notes += 1
        report.attachments = files.count
        if report.notes % ExportOptions.progressStep == 0 { options.progress(report.notes) }
    }

    private func writeIndex() throws {
        let sorted = entries.sorted { ($0.title.lowercased(), $0.page) < ($1.title.lowercased(), $1.page) }
        try NewFile.write(Array(SitePage.index(sorted).utf8), to: "\(root)/index.html")
    }
}
