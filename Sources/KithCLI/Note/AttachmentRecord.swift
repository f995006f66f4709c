import Foundation
import Kith
import KithNotes

/// An attachment in the JSON that commands print.
struct AttachmentRecord: Encodable {
    let id: String
    let name: String
    let sizeBytes: Int64
    /// `present`, `onItsWay`, `notFetched` or `damaged`.
    let state: String
    let receivedBytes: Int64
    /// Where the content is; `nil` unless it is present. Not to be written.
    let path: String?
    /// The content's hash; `nil` if the row names none.
    let content: String?

    init(_ attachment: NoteAttachment) {
        id = attachment.id.uuidString.lowercased()
        name = attachment.name
        sizeBytes = attachment.sizeBytes
        content = attachment.content?.description
        switch attachment.state {
        case .present(let file): (state, receivedBytes, path) = ("present", file.sizeBytes, file.url.path)
        case .onItsWay(let received, _): (state, receivedBytes, path) = ("onItsWay", received, nil)
        case .notFetched: (state, receivedBytes, path) = ("notFetched", 0, nil)
        case .damaged(let received, _): (state, receivedBytes, path) = ("damaged", received, nil)
        }
    }
}

extension NoteAttachment {
    /// For people, in messages.
    var label: String { "\u{201C}\(name)\u{201D} (\(ByteText.text(sizeBytes)))" }

    /// Where it is, for people.
    var stateText: String {
        switch state {
        case .present: "here"
        case .onItsWay: "on its way, \(Int(fractionReceived * 100)) %"
        case .notFetched: "not fetched: kith note save asks for it"
        case .damaged where fractionReceived > 0: "damaged; on its way again, \(Int(fractionReceived * 100)) %"
        case .damaged: "damaged; fetched again when a device has it"
        }
    }
}

extension [NoteAttachment] {
    var table: TextTable {
        var table = TextTable(header: ["ID", "SIZE", "STATE", "NAME"], flexibleColumns: 3)
        table.rows = map { attachment in
            var isPresent = false
            if case .present = attachment.state { isPresent = true }
            return [
                .init(String(attachment.id.uuidString.lowercased().suffix(8)), .dim), .init(ByteText.text(attachment.sizeBytes)),
                .init(attachment.stateText, isPresent ? .dim : .yellow), .init(attachment.name, .bold),
            ]
        }
        return table
    }
}
