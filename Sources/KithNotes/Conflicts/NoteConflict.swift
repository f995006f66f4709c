import Foundation
import Kith

/// A field of a note that several machines wrote without having seen each other's text. Nothing is lost: one version is
/// shown, the others are kept until someone chooses.
public struct NoteConflict: Hashable, Sendable {
    /// One of the versions.
    public struct Version: Hashable, Sendable {
        /// What it says, in words that can be shown.
        public let text: String
        /// Who wrote it, as far as this machine knows.
        public let author: Author
        /// When, in milliseconds since 1970, by the author's clock.
        public let writtenMilliseconds: Int64
        let value: Value
    }

    public let noteID: UUID
    /// The note's title, as it is shown.
    public let title: String
    /// Title or color.
    public let field: NoteField
    /// The one that is shown comes first, and each text occurs once; at least two.
    public let versions: [Version]

    /// Whether `other` is the same choice: what is known of the authors may have changed meanwhile.
    func isSame(as other: NoteConflict) -> Bool {
        noteID == other.noteID && field == other.field && versions.map(\.value) == other.versions.map(\.value)
    }
}

extension NoteConflict {
    /// `nil` for what is not worth a question: bodies and tags merge, and times are written by no person.
    init?(_ conflict: Conflict, of note: Note) {
        guard conflict.kind == .value, conflict.table == NotesSchema.table, let field = NoteField(rawValue: conflict.column),
            field == .title || field == .color
        else { return nil }
        let versions = conflict.versions.map { version in
            Version(
                text: field.text(of: version.value), author: version.author,
                writtenMilliseconds: version.stamp.timestamp.milliseconds, value: version.value)
        }
        self.init(noteID: note.id, title: note.title, field: field, versions: versions)
    }
}

extension NoteField {
    fileprivate func text(of value: Value) -> String {
        switch value {
        case .text(let bytes): String(decoding: bytes, as: UTF8.self)
        case .integer(let number): self == .color ? NoteColor(rawValue: number).name : String(number)
        case .real(let pattern): String(Double(bitPattern: pattern))
        case .blob(let bytes): "\(bytes.count) bytes"
        case .null: ""
        }
    }
}
