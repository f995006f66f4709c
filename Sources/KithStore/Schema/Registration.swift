import GRDBSQLite
import KithCapture
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

/// Looks whether the declared tables can be tracked, and says all that stands against it at once.
struct Registration {
    let connection: DatabaseConnection

    /// A declared table, what it is made of, and its foreign keys.
    typealias Found = (table: TrackedTable, columns: TableInspector.Columns, references: [Declarations.Reference])

    /// - Throws: ``StoreError`` with code `tableRejected`, or `notAStore` for a database that keeps text otherwise than as UTF-8.
    func inspect(_ tables: [TrackedTable]) throws -> [Found] {
        try checkEncoding()
        var found: [Found] = []
        var rejections: [String] = []
        for (index, table) in tables.enumerated() {
            var problems: [String] = []
            if tables[..<index].contains(where: { $0.name == table.name }) { problems.append("it is declared twice.") }
            if let columns = try TableInspector(connection: connection).inspect(table, { problems.append($0) }) {
                let references = try ReferenceInspector(connection: connection).references(of: table, columns.tracked, among: tables) {
                    problems.append($0)
                }
                found.append((table, columns, references))
            }
            if !problems.isEmpty { rejections.append(Self.rejection(table, problems)) }
        }
        if !rejections.isEmpty { throw StoreError(.tableRejected, rejections.joined(separator: "\n")) }
        return found
    }

    private static func rejection(_ table: TrackedTable, _ problems: [String]) -> String {
        if problems.count == 1 { return "Table \(table.name) cannot be tracked: \(problems[0])" }
        let list = problems.map { "\n  * " + $0 }.joined()
        return "Table \(table.name) cannot be tracked, for \(problems.count) reasons:\(list)"
    }

    private func checkEncoding() throws {
        let pragma = try connection.statement("PRAGMA encoding")
        defer { pragma.reset() }
        guard try pragma.step(), case .text(let name) = pragma.value(0), name != Array("UTF-8".utf8) else { return }
        throw StoreError(
            .notAStore,
            "The database keeps text as \(String(decoding: name, as: UTF8.self)), and Kith sends it as the bytes that are stored, which are UTF-8. Copy the tables into a new database, whose encoding is UTF-8 unless PRAGMA encoding says otherwise."
        )
    }
}
