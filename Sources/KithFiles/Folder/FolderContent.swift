import Foundation
import KithNotes

/// What a file of a folder says of its note.
struct FolderContent {
    var id: UUID?
    var title: String
    var body: String
    var color: NoteColor
    var tags: [String]
    var attachments: [MarkdownNote.Attachment]
    /// Whether the front matter says the title, not only the name of the file.
    var hasTitle: Bool
    var createdMilliseconds: Int64?

    /// - Throws: ``FilesError`` with code `data` for what cannot be understood, so that the file is left as it is.
    init(_ bytes: [UInt8], path: String) throws(FilesError) {
        let parsed = try MarkdownNote(bytes, readsPins: false)
        if parsed.hasBrokenFrontMatter { throw FilesError(.data, "Its front matter cannot be read as YAML.") }
        let stem = FileName.parts(RelativePath.name(of: path)).stem
        id = parsed.id
        title = ForeignNote.line(parsed.title ?? stem)
        hasTitle = parsed.title != nil
        body = parsed.body
        color = parsed.color ?? .none
        tags = Array(NoteTags(parsed.tags.compactMap { ForeignNote.tag($0, isOurs: false) }.prefix(NoteLimits.mergedTagsMax)))
        attachments = parsed.attachments
        createdMilliseconds = parsed.createdMilliseconds
    }

    /// What a file says that was made of `note`.
    init(_ note: MarkdownNote, title: String) {
        id = note.id
        self.title = title
        hasTitle = note.title != nil
        body = note.body
        color = note.color ?? .none
        tags = note.tags
        attachments = note.attachments
        createdMilliseconds = note.createdMilliseconds
    }
}
