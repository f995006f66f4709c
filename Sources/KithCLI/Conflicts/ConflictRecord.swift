import Foundation
import KithNotes

/// A conflict in the JSON that commands print.
struct ConflictRecord: Encodable {
    let note: String
    let title: String
    let field: String
    /// The one that is shown comes first; `conflicts keep` counts from 1.
    let versions: [String]

    init(_ conflict: NoteConflict) {
        note = conflict.noteID.uuidString.lowercased()
        title = conflict.title
        field = conflict.field.rawValue
        versions = conflict.versions.map(\.text)
    }
}
