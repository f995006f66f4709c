import Foundation
import Kith
import KithNotes

/// A line of the file of JSON lines: one of these.
///
/// The first line says what the file is, then come the notes, then the bytes of attachments in pieces, and the last line says how many
/// notes there were, so that a file that breaks off is known.
struct NoteLine: Codable {
    struct Head: Codable {
        var format = Self.name
        var version = 1

        static let name = "kith-notes"
    }

    struct Record: Codable {
        struct Attachment: Codable {
            let id: UUID
            let name: String
            let size: Int64
            let content: String
        }

        let id: UUID
        let title: String
        let body: String
        let color: Int64
        let tags: [String]
        /// In milliseconds since 1970.
        let created: Int64
        let updated: Int64
        var pinned: Bool?
        var deleted: Bool?
        var attachments: [Attachment]?
    }

    /// A piece of an attachment's bytes, in order.
    struct Piece: Codable {
        let content: String
        /// In base64.
        let bytes: String
        var isLast: Bool?
    }

    struct End: Codable {
        let notes: Int
    }

    var kith: Head?
    var note: Record?
    var piece: Piece?
    var end: End?
}

extension NoteLine.Record {
    init(_ whole: WholeNote) {
        let note = whole.note
        let attachments = whole.attachments.map {
            Attachment(id: $0.id, name: $0.name, size: $0.sizeBytes, content: $0.content.description)
        }
        self.init(
            id: note.id, title: note.title, body: note.body, color: note.color.rawValue, tags: Array(note.tags),
            created: note.createdMilliseconds, updated: note.updatedMilliseconds, pinned: note.isPinned ? true : nil,
            deleted: whole.isTrashed ? true : nil,
            attachments: attachments.isEmpty ? nil : attachments)
    }
}
