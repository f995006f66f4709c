import Foundation
import GRDB

extension Note {
    /// The columns that `init(row:)` reads.
    static let columns = columnNames.joined(separator: ", ")
    static let columnNames = ["id", "title", "body", "color", "tags", "created", "updated"]

    /// Reads a row, whatever it holds: another device may have written any value into any column.
    init?(row: Row) {
        func text(_ column: String) -> String { String.fromDatabaseValue(row[column]) ?? "" }
        func integer(_ column: String) -> Int64 { Int64.fromDatabaseValue(row[column]) ?? 0 }
        guard let id = UUID.fromDatabaseValue(row["id"]) else { return nil }
        self.init(
            id: id, title: text("title"), body: text("body"), color: NoteColor(rawValue: integer("color")),
            tags: NoteTags(json: text("tags")), createdMilliseconds: integer("created"), updatedMilliseconds: integer("updated"))
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
