import Foundation
import GRDB

extension Note {
    static let columnNames = ["id", "title", "body", "color", "tags", "created", "updated", "pinned"]
    static let columns = columnNames.joined(separator: ", ")
    /// The same with an empty text in the place of the body.
    static let columnsWithoutBody = columnNames.map { $0 == "body" ? "''" : $0 }.joined(separator: ", ")

    /// Reads a row that begins with ``columns``.
    init?(row: Row) {
        self.init { row[$0] }
    }

    /// - Parameter value: what the column at this place in ``columnNames`` holds. It may be anything: another device may have
    ///   written any value into any column.
    init?(value: (Int) -> DatabaseValue) {
        func text(_ column: Int) -> String { String.fromDatabaseValue(value(column)) ?? "" }
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
