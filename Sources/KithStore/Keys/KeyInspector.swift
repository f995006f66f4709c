import KithCapture
import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithTexts

/// Whether a declared key can name the rows of its table.
struct KeyInspector {
    let connection: DatabaseConnection

    /// - Parameter columns: the tracked columns of the table.
    ///   - primary: its primary key.
    func check(
        _ key: [String], _ columns: [(name: String, kind: ColumnKind)], primary: [String], _ report: SchemaProblems
    ) throws {
        guard (1...TrackedTable.keyColumnsMax).contains(key.count), Set(key).count == key.count else {
            return report(
                "its key names \(key.count) columns; it must name from 1 to \(TrackedTable.keyColumnsMax) different ones.", .declaration)
        }
        let named = key.filter(primary.contains)
        if !named.isEmpty {
            let list = named.joined(separator: ", ")
            report(
                "\(list) is part of its key, and of its primary key, which is the id itself. Give the table a column id for that, and let "
                    + "\(list) be NOT NULL and UNIQUE: KeyMigration does that.", .key, column: named[0],
                sql: "id BLOB PRIMARY KEY NOT NULL")
        }
        for name in key where !primary.contains(name) {
            guard let column = columns.first(where: { $0.name == name }) else {
                report(
                    "\(name) is part of its key, but is no column that synchronises: it does not exist, or is generated, local or the id itself.",
                    .declaration, column: name)
                continue
            }
            if column.kind != .register {
                report("\(name) is part of its key, which is never edited, so it cannot be a \(column.kind).", .declaration, column: name)
            }
        }
    }

    /// Whether a unique index can never refuse a row that a merge brings: equal keys are equal ids.
    func isImplied(_ index: String, by key: [String]?) throws -> Bool {
        guard let key else { return false }
        return try columns(of: index, "coll = 'BINARY'").isSuperset(of: key)
    }

    /// Whether that would be so if the index compared bytes.
    func isImpliedButForCollation(_ index: String, by key: [String]?) throws -> Bool {
        guard let key else { return false }
        return try columns(of: index, "true").isSuperset(of: key)
    }

    /// Why a row's id cannot follow from `columns`, of which an index of `table` says that they are unique; `nil` if nothing is known.
    ///
    /// - Parameter columns: `nil` if the index names expressions, or has a condition.
    func obstacle(_ columns: [String]?, by index: String, of table: String) throws -> String? {
        guard let columns else { return "An id cannot follow from an expression, or for some rows only." }
        if try !self.columns(of: index, "coll = 'BINARY'").isSuperset(of: columns) {
            return "An id cannot follow from what is compared by another collation than BINARY."
        }
        let isNull = columns.map { "\(quoted($0)) IS NULL" }.joined(separator: " OR ")
        let select = try connection.passingStatement("SELECT count(*) FROM main.\(quoted(table)) WHERE \(isNull)")
        let nulls = try select.step() ? select.int(0) : 0
        select.reset()
        return nulls == 0 ? nil : "An id cannot follow from NULL, which \(nulls == 1 ? "1 row has" : "\(nulls) rows have") there."
    }

    private func columns(of index: String, _ condition: String) throws -> Set<String> {
        let select = try connection.statement("SELECT name FROM pragma_index_xinfo(?) WHERE \"key\" AND name NOT NULL AND \(condition)")
        select.bind(1, .text(index))
        var columns: Set<String> = []
        while try select.step() { columns.insert(String(decoding: select.blob(0), as: UTF8.self)) }
        return columns
    }

    /// Rows that are there already have the ids that the key gives them.
    func checkRows(_ key: NaturalKey, of tracked: CatalogTable.Tracked) throws {
        let values = key.names.map(quoted).joined(separator: ", ")
        let select = try connection.statement("SELECT \(quoted(tracked.key)), \(values) FROM \(tracked.mainName)")
        var wrong = 0
        while try select.step() {
            let id = tracked.form.id(of: select.value(0))
            let values = key.names.indices.map { select.value(Int32($0 + 1)) }
            if id == nil || RowID(table: Array(key.table.utf8), key: values) != id { wrong += 1 }
        }
        if wrong > 0 {
            throw StoreError(
                .tableRejected,
                "Table \(key.table) cannot be tracked with this key: \(wrong) of its rows have an id that does not follow from "
                    + "\(key.names.joined(separator: ", ")). Give them the one of RowID(table:key:) first.")
        }
    }
}
