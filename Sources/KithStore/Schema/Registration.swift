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
        var (found, problems) = try examine(tables)
        // Of tables that are tracked already, triggers have let in nothing else.
        for table in found where try !KeyFormInspector(connection: connection).isTracked(table.table.name) {
            let own = problems.filter { $0.table == table.table.name }
            problems += try ValueCheck(connection: connection).problems(table, looksAtIDs: own.isEmpty)
        }
        if problems.isEmpty { return found }
        let rejections = tables.indices.compactMap { index -> String? in
            let own = problems.filter { $0.table == tables[index].name }.map(\.message)
            let isFirst = !tables[..<index].contains { $0.name == tables[index].name }
            return own.isEmpty || !isFirst ? nil : Self.rejection(tables[index], own)
        }
        throw StoreError(.tableRejected, rejections.joined(separator: "\n"))
    }

    /// - Returns: the tables as far as they can be tracked, and all that keeps them, or others, from it.
    func examine(_ tables: [TrackedTable]) throws -> (found: [Found], problems: [SchemaProblem]) {
        try checkEncoding()
        var found: [Found] = []
        let problems = tables.map(SchemaProblems.init)
        var columns: [TableInspector.Columns?] = []
        for (index, table) in tables.enumerated() {
            if tables[..<index].contains(where: { $0.name == table.name }) { problems[index]("it is declared twice.", .declaration) }
            columns.append(try TableInspector(connection: connection).inspect(table, problems[index]))
        }
        let forms = Dictionary(zip(tables, columns).map { ($0.name, $1?.form ?? .blob) }) { first, _ in first }
        for (index, table) in tables.enumerated() {
            if let columns = columns[index] {
                let references = try ReferenceInspector(connection: connection, forms: forms)
                    .references(of: table, columns.tracked, among: tables, problems[index])
                let hard = references.filter { [.cascade, .restrict].contains($0.rule) }.map(\.column)
                for column in columns.required where !hard.contains(column) { report(missingDefault: column, of: table, problems[index]) }
                found.append((table, columns, references))
            }
        }
        for (index, table) in tables.enumerated() { try checkForm(of: table, forms, found, problems[index]) }
        return (found, problems.flatMap(\.all))
    }

    /// What other rows hold of a row's id cannot be written anew where they are hidden, or on a device that has not migrated yet.
    private func checkForm(of table: TrackedTable, _ forms: [String: KeyForm], _ found: [Found], _ report: SchemaProblems) throws {
        guard let form = forms[table.name], let known = try KeyFormInspector(connection: connection).known(table.name), known != form,
            found.contains(where: { $0.references.contains { $0.parent == table.name } })
        else { return }
        report(
            "its ids were \(known.words), and are \(form.words) now, which rows that refer to it, here and on other devices, do not follow. "
                + "Bring the ids back to what they were.", .key)
    }

    private func report(missingDefault column: String, of table: TrackedTable, _ report: SchemaProblems) {
        let select = try? connection.statement("SELECT upper(type) FROM pragma_table_info(?) WHERE name = ?")
        select?.bind(1, .text(table.name))
        select?.bind(2, .text(column))
        let type = (try? select?.step()) == true ? String(decoding: select?.blob(0) ?? [], as: UTF8.self) : ""
        select?.reset()
        let isNumber = ["INT", "REAL", "FLOA", "DOUB", "NUM", "BOOL", "DEC"].contains { type.contains($0) }
        report(
            "column \(column) is NOT NULL without a default, so a row from a machine that "
                + (table.localColumns.contains(column) ? "does not send it " : "does not have the column yet ")
                + "could not be stored. Give it a DEFAULT, or drop NOT NULL.", .missingDefault, column: column,
            edit: .setDefault(column, isNumber ? "0" : type.contains("BLOB") ? "x''" : "''"))
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
