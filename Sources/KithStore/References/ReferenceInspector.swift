import GRDBSQLite
import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

/// Reads a table's foreign keys and says which of them can hold after every merge.
struct ReferenceInspector {
    let connection: DatabaseConnection
    /// How the tables that are declared write their ids.
    let forms: [String: KeyForm]

    /// - Parameters:
    ///   - columns: the tracked columns of the table.
    ///   - tables: all tables that are declared.
    ///   - report: gets every foreign key that cannot hold.
    func references(
        of table: TrackedTable, _ columns: [(name: String, kind: ColumnKind)], among tables: [TrackedTable], _ report: SchemaProblems
    ) throws -> [Declarations.Reference] {
        var found: [Declarations.Reference] = []
        for key in try foreignKeys(of: table.name) where !key.columns.allSatisfy(table.localColumns.contains) {
            do {
                found.append(try reference(key, of: table, columns, among: tables, besides: found))
            } catch let rejection as Rejection {
                report(
                    "its foreign key \(key.columns.joined(separator: ", ")) \(rejection.reason)", .reference, column: key.columns.first,
                    declaration: rejection.declaration, edit: rejection.edit)
            }
        }
        return found
    }

    private struct Rejection: Error {
        let reason: String
        var declaration: String?
        var edit: TableEdit?
    }

    private func reference(
        _ key: ForeignKey, of table: TrackedTable, _ columns: [(name: String, kind: ColumnKind)], among tables: [TrackedTable],
        besides found: [Declarations.Reference]
    ) throws -> Declarations.Reference {
        let column = key.columns.joined(separator: ", ")
        func reject(_ why: String, declaration: String? = nil, edit: TableEdit? = nil) -> Rejection {
            Rejection(reason: why, declaration: declaration, edit: edit)
        }
        guard let kind = columns.first(where: { $0.name == column })?.kind, kind == .register else {
            throw reject(
                "is not one plain column that synchronises, so a merge could not obey it. Refer to one row by its id, in a register.")
        }
        guard let parent = tables.first(where: { $0.name.asciiLowercased == key.table.asciiLowercased }) else {
            throw reject(
                "refers to \(key.table), which is not tracked: its rows are not on other machines. Track it too, or drop the reference.",
                declaration: "TrackedTable(\"\(key.table)\")")
        }
        guard try isKey(key.to, of: parent.name) else {
            throw reject("refers to \(parent.name) by another column than its primary key, which alone names a row. Refer to that one.")
        }
        if let collation = try collation(ofKeyOf: parent.name), collation.asciiLowercased != "binary" {
            throw reject(
                "refers to \(parent.name) by a key that SQLite compares by \(collation), so a reference may look different from the id, and "
                    + "other machines would not find the row. Drop the COLLATE from the key, and write references as the ids are.")
        }
        if found.contains(where: { $0.column == column }) { throw reject("is declared twice. Drop one.") }
        return Declarations.Reference(
            column: column, parent: parent.name, rule: try rule(key.action, table, column, forms[parent.name] ?? .blob))
    }

    private struct ForeignKey {
        var columns: [String] = []
        var to: [String] = []
        let table: String
        let action: String
    }

    private func foreignKeys(of table: String) throws -> [ForeignKey] {
        let list = try connection.statement(
            "SELECT id, \"table\", \"from\", \"to\", on_delete FROM pragma_foreign_key_list(?) ORDER BY id, seq")
        list.bind(1, .text(table))
        func text(_ column: Int32) -> String { String(decoding: list.blob(column), as: UTF8.self) }
        var keys: [Int: ForeignKey] = [:]
        while try list.step() {
            var key = keys[list.int(0)] ?? ForeignKey(table: text(1), action: text(4))
            key.columns.append(text(2))
            if !list.isNull(3) { key.to.append(text(3)) }
            keys[list.int(0)] = key
        }
        return keys.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Whether `columns`, as a foreign key names them, are the primary key; none named means that it is.
    private func isKey(_ columns: [String], of table: String) throws -> Bool {
        guard let column = columns.first else { return true }
        let select = try connection.statement("SELECT name FROM pragma_table_info(?) WHERE pk > 0")
        select.bind(1, .text(table))
        var keys: [String] = []
        while try select.step() { keys.append(String(decoding: select.blob(0), as: UTF8.self)) }
        return keys.map { $0.asciiLowercased } == [column.asciiLowercased]
    }

    /// How SQLite compares a table's primary key with what refers to it.
    private func collation(ofKeyOf table: String) throws -> String? {
        let select = try connection.statement(
            "SELECT i.coll FROM pragma_index_list(?) l, pragma_index_xinfo(l.name) i WHERE l.origin = 'pk' AND i.\"key\"")
        defer { select.reset() }
        select.bind(1, .text(table))
        return try select.step() ? String(decoding: select.blob(0), as: UTF8.self) : nil
    }

    private func rule(
        _ action: String, _ table: TrackedTable, _ column: String, _ form: KeyForm
    ) throws -> ReferenceRule {
        switch action {
        case "CASCADE": return .cascade
        case "SET NULL", "SET DEFAULT": break
        default: return .restrict
        }
        if table.key?.contains(column) == true {
            throw Rejection(reason: "is part of the row's key, which is final, and yet \(action). Use another action.")
        }
        let (isNullable, fallback) = try nullAndDefault(table.name, column)
        if !isNullable {
            throw Rejection(
                reason: "is \(action), but the column is NOT NULL, so nothing could stand in for a missing row. Drop NOT NULL.",
                edit: .dropNotNull(column))
        }
        guard action == "SET DEFAULT", fallback != .null else { return .substitute(nil) }
        guard let id = form.id(of: fallback) else {
            throw Rejection(reason: "is SET DEFAULT, but the default is no row id: \(form.words).")
        }
        return .substitute(id)
    }

    private func nullAndDefault(_ table: String, _ column: String) throws -> (isNullable: Bool, fallback: ColumnValue) {
        let select = try connection.statement("SELECT \"notnull\", dflt_value FROM pragma_table_xinfo(?) WHERE name = ?")
        select.bind(1, .text(table))
        select.bind(2, .text(column))
        guard try select.step() else { return (true, .null) }
        let isNullable = select.int(0) == 0
        let expression = select.isNull(1) ? "NULL" : String(decoding: select.blob(1), as: UTF8.self)
        select.reset()
        let value = try connection.statement("SELECT \(expression)")
        defer { value.reset() }
        return (isNullable, try value.step() ? value.value(0) : .null)
    }
}
