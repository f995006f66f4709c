import Foundation
import Kith
import KithNotes

extension NoteConflict {
    /// How many there are; `nil` if there are none.
    package static func sentence(ofCount count: Int) -> String? {
        if count == 0 { return nil }
        let what = count == 1 ? "1 field was" : "\(count) fields were"
        return "\(what) written on two machines at the same time."
    }

    /// The same, and the command to choose with.
    package static func line(ofCount count: Int) -> String? {
        sentence(ofCount: count).map { "\($0) \(StatusReport.Advice.choose.commands)" }
    }

    /// `The title of “Bread” (8f3a91c2) was also written on laptop`, and the command that shows it.
    package func sentence(_ names: DeviceNames) -> String {
        "\(statement(names)): `kith conflicts show \(noteID.uuidString.suffix(8).lowercased())`."
    }

    /// `The title of “Bread” (8f3a91c2) was also written on laptop`, for people.
    func statement(_ names: DeviceNames) -> String {
        let others = versions.map(\.author).filter { $0 != .own }.map { names[$0] ?? "another device" }
        var distinct: [String] = []
        for other in others where !distinct.contains(other) { distinct.append(other) }
        let shortID = noteID.uuidString.suffix(8).lowercased()
        let label = "\u{201C}\(title.isEmpty ? "(no title)" : String(title.prefix(40)))\u{201D} (\(shortID))"
        let whom = distinct.isEmpty ? "" : " on \(distinct.joined(separator: " and "))"
        return "The \(field.rawValue) of \(label) was also written\(whom)"
    }
}
