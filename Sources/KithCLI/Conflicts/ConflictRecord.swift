import Foundation
import Kith
import KithNotes

/// A conflict in the JSON that commands print.
struct ConflictRecord: Encodable {
    struct Version: Encodable {
        let text: String
        /// The machine that wrote it; `nil` for a store that no machine has said it is.
        let device: String?
        /// When, by that machine's clock; `nil` for a time that no calendar shows.
        let written: String?
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
            Version(
                text: version.text, device: names[version.author],
                written: TimeText(milliseconds: version.writtenMilliseconds)?.iso8601)
        }
    }
}

extension NoteConflict {
    /// `The title of “Bread” (8f3a91c2) was also written on laptop`, for people.
    func sentence(_ names: DeviceNames) -> String {
        let others = versions.map(\.author).filter { $0 != .own }.map { names[$0] ?? "another device" }
        var distinct: [String] = []
        for other in others where !distinct.contains(other) { distinct.append(other) }
        let shortID = noteID.uuidString.suffix(8).lowercased()
        let label = "\u{201C}\(title.isEmpty ? "(no title)" : String(title.prefix(40)))\u{201D} (\(shortID))"
        let whom = distinct.isEmpty ? "" : " on \(distinct.joined(separator: " and "))"
        return "The \(field.rawValue) of \(label) was also written\(whom): `kith conflicts show \(shortID)`."
    }
}

extension [NoteConflict] {
    /// How many there are and what to do; `nil` if there are none.
    var sentence: String? {
        if isEmpty { return nil }
        let what = count == 1 ? "1 field was" : "\(count) fields were"
        return "\(what) written on two machines at the same time. Choose: `kith conflicts list`."
    }
}
