import Foundation
import Kith

/// A field of a note that several machines wrote without having seen each other's text. Nothing is lost: one version is
/// shown, the others are kept until someone chooses. Of the body, which merges, it is a place that several changed at once.
public struct NoteConflict: Hashable, Sendable {
    /// One of the versions.
    public struct Version: Hashable, Sendable {
        /// What it says, in words that can be shown.
        public let text: String
        /// Who wrote it, as far as this machine knows.
        public let author: Author
        /// When, by the author's store, whose clock never goes back.
        public let written: HybridTimestamp
        let value: ColumnValue
    }

    /// Lines of the body that several machines changed at one place.
    public struct Lines: Hashable, Sendable {
        /// What they say now: the merge of all versions, which may make no sense.
        public let shown: String
        /// What they said before.
        public let before: String
    }

    /// The note's id.
    public let noteID: UUID
    /// The note's title, as it is shown.
    public let title: String
    /// Title, color or body.
    public let field: NoteField
    /// The one that is shown comes first, and each text occurs once; at least two. Of lines, what they were on each side.
    public let versions: [Version]
    /// Which lines, if it is about some of the body; `nil` for a whole title, color or body.
    public let lines: Lines?
    /// What the store says.
    let conflict: Conflict

    /// Whether `other` is the same choice: what is known of the authors may have changed meanwhile.
    func isSame(as other: NoteConflict) -> Bool {
        noteID == other.noteID && field == other.field && versions.map(\.value) == other.versions.map(\.value)
            && lines == other.lines
    }
}

extension NoteConflict {
    /// `nil` for what is not worth a question: tags merge, and times are written by no person.
    init?(_ conflict: Conflict, of note: Note) {
        guard conflict.table == NotesSchema.table, let field = NoteField(rawValue: conflict.column) else { return nil }
        let lines: Lines?
        switch (conflict.kind, field) {
        // Of a body: texts that were found, in files say, and are not of one origin.
        case (.value, .title), (.value, .color), (.value, .body): lines = nil
        case (.text(let found), .body): lines = Lines(shown: found.shown, before: found.before)
        default: return nil
        }
        let versions = conflict.versions.map { version in
            Version(
                text: field.text(of: version.value), author: version.author,
                written: version.stamp.timestamp, value: version.value)
        }
        self.init(noteID: note.id, title: note.title, field: field, versions: versions, lines: lines, conflict: conflict)
    }
}

extension NoteField {
    fileprivate func text(of value: ColumnValue) -> String {
        switch value {
        case .text(let bytes): String(decoding: bytes, as: UTF8.self)
        case .integer(let number): self == .color ? NoteColor(rawValue: number).name : String(number)
        case .real(let pattern): String(Double(bitPattern: pattern))
        case .blob(let bytes): "\(bytes.count) bytes"
        case .null: ""
        }
    }
}
