import KithSQLite
import KithSync

/// Up to which transaction the journal may have forgotten changes of each table, so that a reader who has missed changes is told.
package struct ForgottenChanges {
    private let records: MetaRecords

    package init(_ connection: DatabaseConnection) {
        records = MetaRecords(connection)
    }

    private static func name(_ table: Int) -> String { "forgotten:\(table)" }

    /// The number of the last such transaction; `nil` if the journal has forgotten nothing of the table.
    package func number(of table: Int) throws -> Int64? {
        guard case .integer(let number)? = try records.value(Self.name(table)) else { return nil }
        return number
    }

    /// The journal forgets changes of a table up to a transaction.
    func note(_ number: Int64, of table: Int) throws {
        try records.set(Self.name(table), .integer(max(number, self.number(of: table) ?? 0)))
    }
}
