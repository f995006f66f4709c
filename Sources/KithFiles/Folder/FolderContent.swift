import Foundation
import KithNotes

/// What a file of a folder says of its note.
struct FolderContent {
    var id: UUID?
    var title: String
    /// The text as the note has it, and as it stands in the file.
    var body: String
    private(set) var text: String
    var color: NoteColor
    var tags: [String]
    var attachments: [MarkdownNote.Attachment]
    /// Those that the text alone says.
    private var found: [MarkdownNote.Attachment] = []
    /// Whether the front matter says the title, not only the name of the file.
    var hasTitle: Bool
    var createdMilliseconds: Int64?
    /// Of the note's last change before the file was made.
    var updatedMilliseconds: Int64?

    /// - Throws: ``FilesError`` with code `data` for what cannot be understood, so that the file is left as it is.
    init(_ bytes: [UInt8], path: String) throws(FilesError) {
        let parsed = try MarkdownNote(bytes, readsPins: false, at: path)
        if parsed.hasBrokenFrontMatter { throw FilesError(.data, "Its front matter cannot be read as YAML.") }
        let stem = FileName.parts(RelativePath.name(of: path)).stem
        id = parsed.id
        title = ForeignNote.line(parsed.title ?? stem)
        hasTitle = parsed.title != nil
        text = parsed.body
        body = AttachmentLinks(parsed.attachments).inNote(text)
        color = parsed.color ?? .none
        // Those that are too many or too long are not dropped: the file would be written without them.
        tags = Array(NoteTags(parsed.tags.map(ForeignNote.word).filter { !$0.isEmpty }))
        attachments = parsed.attachments
        (createdMilliseconds, updatedMilliseconds) = (parsed.createdMilliseconds, parsed.updatedMilliseconds)
    }

    /// What a file says that was made of `note`.
    ///
    /// - Parameter body: the text of the note itself.
    init(_ note: MarkdownNote, title: String, body: String) {
        id = note.id
        self.title = title
        hasTitle = note.title != nil
        (self.body, text) = (body, note.body)
        color = note.color ?? .none
        tags = note.tags
        attachments = note.attachments
        (createdMilliseconds, updatedMilliseconds) = (note.createdMilliseconds, note.updatedMilliseconds)
    }

    /// Reads links that a person has written as they are in a file, to what is among the folder's attachments, as the note has them.
    ///
    /// - Parameter isWay: whether a way, up to the last slash, leads from the file to the attachment of a name.
    mutating func readLinks(where isWay: (_ folder: String, _ name: String) -> Bool) {
        found = AttachmentLinks.marked(in: text, where: isWay)
        if !found.isEmpty { body = AttachmentLinks(attachments + found).inNote(text) }
    }

    /// Whether it names files, or has a link, which may lead to one.
    var mayHaveFiles: Bool { !attachments.isEmpty || !MarkdownLinks.links(in: text).isEmpty }

    /// Whether links in the text say the names of files as Kith writes them.
    var isAsWritten: Bool {
        let links = AttachmentLinks(attachments)
        return links.isEmpty || links.inFile(body).utf8.elementsEqual(text.utf8)
    }

    /// Reads links by what the file said before, too: its front matter may be gone, or changed by a program that knows of no marks.
    mutating func readLinks(since record: FolderRecord) {
        let before = record.links.compactMap { MarkdownNote.Attachment(link: $0) }
        if !before.isEmpty { body = AttachmentLinks(attachments + before + found).inNote(text) }
    }
}
