import GRDBSQLite
import KithSQLite
import KithSync
import KithText

/// A tracked column that is a set, a counter or a text, and so holds less than any value.
package struct CheckedColumn: Sendable {
    /// Among the tracked columns.
    package let place: Int
    package let kind: ColumnKind
    /// For messages, with its table.
    package let name: String

    /// Refuses what the column cannot hold, as a constraint of the table would. Returns how it is written: a set in its one form or not, a
    /// counter as a number or as NULL.
    package func check(_ value: OpaquePointer?, _ connection: DatabaseConnection) throws(SQLiteError) -> SetText.Form {
        switch kind {
        case .register: return .tidy
        case .set:
            let form = SetText.form(of: value, connection)
            if case .none = form { throw refused("is a set: it holds a JSON array such as [\"a\",\"b\"]") }
            // An element takes a byte, and a comma.
            if sqlite3_value_bytes(value) >= 2 * WireLimits.setElementsMax,
                SetText.count(of: ColumnValue(value), connection) > WireLimits.setElementsMax
            {
                throw refused("has more than \(WireLimits.setElementsMax) elements")
            }
            return form
        case .counter:
            let type = sqlite3_value_type(value)
            guard type == SQLITE_INTEGER || type == SQLITE_NULL else { throw refused("is a counter: it holds an INTEGER") }
            return type == SQLITE_NULL ? .loose : .tidy
        case .text:
            guard sqlite3_value_type(value) == SQLITE_NULL || Self.isText(value) else {
                throw refused("is a text: it holds NULL or at most \(TextLimits.textScalarsMax) characters of valid UTF-8")
            }
            return .tidy
        }
    }

    private func refused(_ reason: String) -> SQLiteError {
        SQLiteError(code: SQLITE_CONSTRAINT | 7 << 8, message: "\(name) \(reason)")  // SQLITE_CONSTRAINT_TRIGGER
    }

    /// Whether a text column can hold the value.
    package static func isText(_ value: OpaquePointer?) -> Bool {
        guard sqlite3_value_type(value) == SQLITE_TEXT, let bytes = sqlite3_value_text(value) else { return false }
        let buffer = UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(value)))
        guard let text = String(validating: buffer, as: UTF8.self) else { return false }
        return buffer.count <= TextLimits.textScalarsMax || text.unicodeScalars.count <= TextLimits.textScalarsMax
    }
}
