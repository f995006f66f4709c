import GRDBSQLite
import KithSync
import KithText

/// A tracked column that is a set, a counter or a text, and so holds less than any value.
struct CheckedColumn: Sendable {
    /// Among the tracked columns.
    let place: Int
    let kind: ColumnKind
    /// For messages, with its table.
    let name: String

    /// Refuses what the column cannot hold, as a constraint of the table would. Returns how a set is written.
    func check(_ value: OpaquePointer?, _ connection: Connection) throws(SQLiteError) -> SetText.Form {
        switch kind {
        case .register: return .tidy
        case .set:
            let form = SetText.form(of: value, connection)
            if case .none = form { throw refused("is a set: it holds a JSON array such as [\"a\",\"b\"]") }
            // An element takes a byte, and a comma.
            if sqlite3_value_bytes(value) >= 2 * WireLimits.setElementsMax,
                SetText.count(of: Value(value), connection) > WireLimits.setElementsMax
            {
                throw refused("has more than \(WireLimits.setElementsMax) elements")
            }
            return form
        case .counter:
            let type = sqlite3_value_type(value)
            guard type == SQLITE_INTEGER || type == SQLITE_NULL else { throw refused("is a counter: it holds an INTEGER") }
            return .tidy
        case .text:
            guard sqlite3_value_type(value) == SQLITE_NULL || TextValue.isValid(value) else {
                throw refused("is a text: it holds NULL or at most \(TextLimits.textScalarsMax) characters of valid UTF-8")
            }
            return .tidy
        }
    }

    private func refused(_ reason: String) -> SQLiteError {
        SQLiteError(code: SQLITE_CONSTRAINT | 7 << 8, message: "\(name) \(reason)")  // SQLITE_CONSTRAINT_TRIGGER
    }
}
