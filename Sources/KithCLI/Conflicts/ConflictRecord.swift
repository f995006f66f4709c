import Foundation
import Kith
import KithNotes
import KithReport

/// A conflict in the JSON that commands print.
struct ConflictRecord: Encodable {
    struct Version: Encodable {
        let text: String
        /// The machine that wrote it; `nil` for a store that no machine has said it is.
        let device: String?
        /// When, by that machine's clock; `nil` if that is not known.
        let written: String?
        /// If `written` is not known: when the machine wrote it at the latest; `nil` if that is not known, either.
        let writtenAtLatest: String?
    }

    let note: String
    let title: String
    let field: String
    /// The one that is shown comes first; `conflicts keep` counts from 1, through all places of a body.
    let versions: [Version]
    /// Of lines of the body: what they say now, and what they said before.
    let shown: String?
    let before: String?

    init(_ conflict: NoteConflict, _ names: DeviceNames) {
        note = conflict.noteID.uuidString.lowercased()
        title = conflict.title
        field = conflict.field.rawValue
        shown = conflict.lines?.shown
        before = conflict.lines?.before
        versions = conflict.versions.map { version in
            let written = WrittenTime(version.written)
            return Version(
                text: version.text, device: names[version.author], written: written.iso8601, writtenAtLatest: written.latestISO8601)
        }
    }
}
