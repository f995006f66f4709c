import Foundation
import Kith

/// A note with what belongs to it, as imports bring it and exports take it.
public struct WholeNote: Identifiable, Hashable, Sendable {
    /// The note itself.
    public var note: Note
    /// Its attachments.
    public var attachments: [Attachment]
    /// Whether it is deleted and can still be restored.
    public var isTrashed: Bool

    public var id: UUID { note.id }

    /// A file that belongs to the note. Its bytes are in the store, or on their way to it.
    public struct Attachment: Identifiable, Hashable, Sendable {
        public var id: UUID
        /// What people call it.
        public var name: String
        /// The length of its content.
        public var sizeBytes: Int64
        /// The name of its content, under which the bytes are kept.
        public var content: AttachmentID

        public init(id: UUID, name: String, sizeBytes: Int64, content: AttachmentID) {
            self.id = id
            self.name = name
            self.sizeBytes = sizeBytes
            self.content = content
        }
    }

    public init(_ note: Note, attachments: [Attachment] = [], isTrashed: Bool = false) {
        self.note = note
        self.attachments = attachments
        self.isTrashed = isTrashed
    }
}

/// What became of a note that was to be put into the store.
public enum InsertOutcome: Hashable, Sendable {
    case added
    /// The very same note is here already.
    case present
    /// A note with this id is here, and says something else. It was left as it is.
    case different
    /// A note with this id was deleted, and is in the trash. It was left there.
    case deleted
    /// It is no note: why, for people.
    case rejected(String)
}
