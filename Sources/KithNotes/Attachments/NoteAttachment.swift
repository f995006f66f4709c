import Foundation
import GRDB
import Kith

/// A file that belongs to a note, as a value.
public struct NoteAttachment: Identifiable, Hashable, Sendable {
    public let id: UUID
    /// The note that it belongs to.
    public let note: UUID
    /// What the file was called where it was attached. Another device may have written anything: see ``fileName``.
    public let name: String
    /// Bytes, as the device that attached it says.
    public let sizeBytes: Int64
    /// The content; `nil` if the row names none.
    public let content: AttachmentID?
    /// Whether the content is here.
    public let state: AttachmentState
}

extension NoteAttachment {
    /// A name for a file on this machine: the last part of ``name``, without what has a meaning in paths.
    public var fileName: String {
        let last = name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? ""
        let shown = String(
            String.UnicodeScalarView(last.unicodeScalars.filter { $0.properties.generalCategory != .control && $0.value != 0 }))
        let bare = shown.drop { $0 == "." || $0 == " " }
        return bare.isEmpty ? "attachment-\(id.uuidString.lowercased().suffix(8))" : String(bare)
    }

    /// A name that no other file of the note has, if need be with a number. The text names a picture by it, and a browser gives one name to
    /// all pictures that a person pastes.
    ///
    /// - Parameter taken: the names of the others. The name stays if a number would make it too long.
    package static func freeName(_ name: String, among taken: [String]) -> String {
        let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 } ?? name.endIndex
        for number in 1...taken.count + 1 {
            let numbered = number == 1 ? name : "\(name[..<dot]) (\(number))\(name[dot...])"
            if numbered.utf8.count > NoteLimits.attachmentNameBytesMax { break }
            if !taken.contains(where: { $0.utf8.elementsEqual(numbered.utf8) }) { return numbered }
        }
        return name
    }

    /// How much of it is here, from 0 to 1.
    public var fractionReceived: Double {
        switch state {
        case .present: 1
        case .onItsWay(let received, let size), .damaged(let received, let size):
            Double(received) / Double(max(1, size ?? sizeBytes, received))
        case .notFetched: 0
        }
    }

    /// The id that a file gets when it is attached, the same on every machine: so a note that is exported and imported elsewhere has each
    /// attachment once when the machines meet.
    ///
    /// - Parameter number: how often the note has this file under this name then.
    package static func id(of content: AttachmentID, _ name: String, in note: Note, number: Int = 1) -> UUID {
        // The ids of notes begin with a time.
        let time = note.id.bytes.prefix(6).reduce(0) { $0 << 8 | Int64($1) }
        return UUID.derived(
            from: ["kith attachment 1", note.id.uuidString, name, content.description] + (number == 1 ? [] : ["\(number)"]),
            milliseconds: time)
    }

    /// For insertions.
    static let columns = "id, note, name, size, file"
    /// What an attachment is read from.
    static let selection = "id, note, \(Note.wholeText("name")) AS name, size, file"

    /// Reads a row, whatever it holds: another device may have written any value into any column.
    init?(row: Row, in store: SyncedDatabase) {
        guard let id = UUID.fromDatabaseValue(row["id"]), let note = UUID.fromDatabaseValue(row["note"]) else { return nil }
        self.id = id
        self.note = note
        name = Note.shownText(row["name"])
        content = String.fromDatabaseValue(row["file"]).flatMap { AttachmentID($0) }
        state = content.map(store.attachmentState) ?? .onItsWay(receivedBytes: 0, sizeBytes: nil)
        sizeBytes = state.sizeBytes ?? max(0, Int64.fromDatabaseValue(row["size"]) ?? 0)
    }
}
