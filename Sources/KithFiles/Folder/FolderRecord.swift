import Foundation
import KithNotes

/// What a folder's file was when it was last read or written, which its next change is compared with.
struct FolderRecord {
    /// From the folder.
    var path: String
    let note: UUID
    /// The SHA-256 of the file's bytes; empty while there is none yet.
    var hash: [UInt8]
    /// What the file says of the note.
    var title: String
    var body: String
    var color: Int64
    var tags: [String]
    /// The links to attachments in its front matter.
    var links: [String]
    /// What is being written in the file's place, and the name that it has until then. See ``FolderPass``.
    var intent: Intent?

    struct Intent {
        /// The bytes to write; empty if the file is to be removed.
        var bytes: [UInt8]
        /// Of the file in the folder that changes places with the note's own.
        var temporary: String
    }

    /// Takes over what a file says.
    mutating func take(_ content: FolderContent, hash: [UInt8]) {
        (self.hash, title, body, color, tags) = (hash, content.title, content.body, content.color.rawValue, content.tags)
        // A file that does not say its id is written once more: no file has such a link.
        links = content.id == note ? content.attachments.map(\.link) : ["-"]
    }

    /// Whether the file says this already.
    func says(_ other: FolderContent) -> Bool {
        title.utf8.elementsEqual(other.title.utf8) && body.utf8.elementsEqual(other.body.utf8) && color == other.color.rawValue
            && NoteTags(tags) == NoteTags(other.tags) && links == other.attachments.map(\.link)
    }
}
