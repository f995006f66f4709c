import Foundation
import GRDB

extension Note {
    static let columnNames = ["id", "title", "body", "color", "tags", "created", "updated", "pinned"]
    /// For insertions.
    static let columns = columnNames.joined(separator: ", ")
    /// What a note is read from, of the table `note`.
    static let selection = selection()
    /// The same with an empty text in the place of the body.
    static let selectionWithoutBody = selection(body: "''")

    /// - Parameter body: what is read in the place of the body.
    static func selection(body: String = wholeText("note.body")) -> String {
        columnNames.map { name in
            switch name {
            case "title": wholeText("note.title")
            case "body": body
            default: "note." + name
            }
        }.joined(separator: ", ")
    }

    /// A text as bytes. What reads TEXT ends at the first U+0000, which another device may have written; see ``shownText(_:)``.
    static func wholeText(_ column: String) -> String { "CAST(\(column) AS BLOB)" }

    /// A text that may hold anything, with U+FFFD in the place of U+0000.
    static func shownText(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .string(let text): text.utf8.contains(0) ? shownText(Array(text.utf8)) : text
        case .blob(let bytes): shownText(bytes)
        default: ""
        }
    }

    private static func shownText(_ bytes: some Collection<UInt8>) -> String {
        guard bytes.contains(0) else { return String(decoding: bytes, as: UTF8.self) }
        var shown: [UInt8] = []
        shown.reserveCapacity(bytes.count)
        for byte in bytes { if byte == 0 { shown += [0xEF, 0xBF, 0xBD] } else { shown.append(byte) } }
        return String(decoding: shown, as: UTF8.self)
    }

    /// Reads a row that begins with ``selection``.
    init?(row: Row) {
        self.init { row[$0] }
    }

    /// - Parameter value: what the column at this place in ``columnNames`` holds. It may be anything: another device may have
    ///   written any value into any column.
    init?(value: (Int) -> DatabaseValue) {
        func text(_ column: Int) -> String { Self.shownText(value(column)) }
        func integer(_ column: Int) -> Int64 { Int64.fromDatabaseValue(value(column)) ?? 0 }
        guard let id = UUID.fromDatabaseValue(value(0)) else { return nil }
        self.init(
            id: id, title: text(1), body: text(2), color: NoteColor(rawValue: integer(3)), tags: NoteTags(json: text(4)),
            createdMilliseconds: integer(5), updatedMilliseconds: integer(6), isPinned: integer(7) != 0)
    }

    /// What a column of one of the fields holds.
    func databaseValue(of field: NoteField) throws -> DatabaseValue {
        switch field {
        case .title: title.databaseValue
        case .body: body.databaseValue
        case .color: color.rawValue.databaseValue
        case .tags: try tags.json().databaseValue
        }
    }
}
