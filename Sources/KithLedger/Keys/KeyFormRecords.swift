import KithSQLite
import KithSync

/// Which form the ids of a table have, kept by name of the table: once it is found out it holds, also while the table has no rows.
package struct KeyFormRecords {
    private let records: MetaRecords

    package init(_ connection: DatabaseConnection) {
        records = MetaRecords(connection)
    }

    private static func name(_ table: String) -> String { "ids:\(table)" }

    package func form(of table: String) throws -> KeyForm? {
        guard case .text(let name)? = try records.value(Self.name(table)) else { return nil }
        return KeyForm(rawValue: String(decoding: name, as: UTF8.self))
    }

    package func note(_ form: KeyForm, of table: String) throws {
        if try self.form(of: table) != form { try records.set(Self.name(table), .text(form.rawValue)) }
    }
}
