import KithSQLite
import KithSync

/// What the app's table shows of a cell without a write.
package struct ColumnDefaults {
    private let connection: DatabaseConnection

    package init(_ connection: DatabaseConnection) {
        self.connection = connection
    }

    /// The default of a column as an expression.
    package func expression(_ place: Int, of tracked: CatalogTable.Tracked) throws -> String {
        let select = try connection.statement(
            """
            SELECT dflt_value FROM pragma_table_xinfo(?) WHERE '"' || replace(name, '"', '""') || '"' = ?
            """)
        select.bind(1, .text(tracked.sqlName))
        select.bind(2, .text(tracked.names[place]))
        defer { select.reset() }
        guard try select.step(), !select.isNull(0) else { return "NULL" }
        let expression = String(decoding: select.blob(0), as: UTF8.self)
        if (try? connection.passingStatement("SELECT (\(expression))")) != nil { return "(\(expression))" }
        // A name stands for itself.
        return "'" + expression.replacing("'", with: "''") + "'"
    }

    /// An expression for whether the row `n` shows something else in a column than its default.
    package func isWritten(_ place: Int, of tracked: CatalogTable.Tracked) throws -> String {
        "n.\(tracked.names[place]) COLLATE BINARY IS NOT \(try expression(place, of: tracked))"
    }
}
