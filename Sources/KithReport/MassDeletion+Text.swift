import Foundation
import Kith
import KithNotes
import KithProgram

extension MassDeletion {
    /// What happened, in plain words.
    package func sentence(_ names: DeviceNames) -> String {
        let day = TimeText(milliseconds: sinceMilliseconds).map { String($0.local.prefix(10)) } ?? "an unknown day"
        let today = TimeText(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)).map { String($0.local.prefix(10)) }
        return PlainText.line(sentence(names, day: day == today ? "today" : "on \(day)"))
    }

    /// The same, and what can be done.
    package func warning(_ names: DeviceNames) -> String {
        sentence(names) + " " + StatusReport.Advice.bringBack(restorable(names)).commands
    }

    /// What `kith trash restore` takes for it.
    func restorable(_ names: DeviceNames) -> String {
        Self.reference(to: author, names).map { "--from \(PlainText.line($0))" } ?? "NOTE"
    }

    /// What `--from` takes for it; `nil` if nobody knows whose it was.
    private static func reference(to author: Author, _ names: DeviceNames) -> String? {
        guard case .device(let bytes) = author, let id = DeviceID(bytes: bytes) else { return nil }
        guard let name = names[author], !name.contains(where: { " '\"\\$`".contains($0) }) else { return id.shortDescription }
        return name
    }
}

/// A large deletion, in JSON.
package struct MassDeletionRecord: Encodable, Sendable {
    /// The id of the device; `nil` if nobody knows whose it was.
    package let device: String?
    package let notes: Int
    package let total: Int
    package let since: String?

    package init(_ deletion: MassDeletion) {
        if case .device(let bytes) = deletion.author { device = DeviceID(bytes: bytes)?.description } else { device = nil }
        (notes, total) = (deletion.rows, deletion.total)
        since = TimeText(milliseconds: deletion.sinceMilliseconds)?.iso8601
    }
}
