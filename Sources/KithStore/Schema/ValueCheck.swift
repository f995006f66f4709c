import KithCapture
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

/// Whether rows hold what columns of their kind do, before anything is tracked.
struct ValueCheck {
    let connection: DatabaseConnection

    /// - Parameter looksAtIDs: whether ids that a natural key gives are compared with it.
    func problems(_ found: Registration.Found, looksAtIDs: Bool) throws -> [SchemaProblem] {
        let report = SchemaProblems(found.table)
        let table = quoted(found.table.name)
        for (column, kind) in found.columns.tracked {
            let name = quoted(column)
            let (count, form): (Int, String)
            switch kind {
            case .register: continue
            case .set:
                (count, form) = (try number("SELECT count(*) FROM \(table) WHERE \(Self.isNoSet(name))"), "a set and holds a JSON array")
            case .counter:
                (count, form) = (
                    try number("SELECT count(*) FROM \(table) WHERE \(Self.isNoCounter(name))"), "a counter and holds an INTEGER"
                )
            case .text: (count, form) = (try notText(table, name), "a text and holds valid UTF-8")
            }
            if count == 0 { continue }
            report(
                "column \(column) is \(form), but \(count) rows have something else there. Mend them first.", .values, column: column,
                sql: Self.mend(table, name, kind))
        }
        let below = try number("SELECT count(*) FROM \(table) WHERE \(Self.hasNoPositiveRowid)")
        if below > 0 {
            report(
                Self.rowidRefusal(below), .values,
                sql: "UPDATE \(table) SET rowid = \(Self.positiveRowid(of: table, in: table)) WHERE \(Self.hasNoPositiveRowid)")
        }
        if looksAtIDs, let key = found.table.key, Set(found.columns.tracked.map(\.name)).isSuperset(of: key) {
            let wrong = try wrongIDs(found, key)
            if wrong > 0 {
                report(
                    "\(wrong) of its rows have an id that does not follow from \(key.joined(separator: ", ")). "
                        + "Give them the one of RowID(table:key:) first: KeyMigration does.", .key, column: found.columns.key)
            }
        }
        return report.all
    }

    static let hasNoPositiveRowid = "rowid < 1"

    static func rowidRefusal(_ count: Int) -> String {
        "\(count) of its rows have a rowid below 1, and tracked rows have positive ones. Give them others first."
    }

    /// The rowid of a row, or another one if it is not positive.
    static func positiveRowid(of row: String, in table: String) -> String {
        "CASE WHEN \(row).rowid > 0 THEN \(row).rowid ELSE (SELECT max(max(m.rowid), 0) FROM \(table) m) + 1 - \(row).rowid END"
    }

    static func isNoSet(_ name: String) -> String {
        "\(name) IS NOT NULL AND (typeof(\(name)) <> 'text' OR NOT json_valid(\(name)) OR json_type(\(name)) <> 'array')"
    }

    static func isNoCounter(_ name: String) -> String {
        "\(name) IS NOT NULL AND typeof(\(name)) <> 'integer'"
    }

    private static func mend(_ table: String, _ name: String, _ kind: ColumnKind) -> String? {
        switch kind {
        case .set: "UPDATE \(table) SET \(name) = '[]' WHERE \(isNoSet(name))"
        case .counter: "UPDATE \(table) SET \(name) = CAST(\(name) AS INTEGER) WHERE \(isNoCounter(name))"
        case .register, .text: nil
        }
    }

    /// How many rows have an id that is not that of their natural key.
    private func wrongIDs(_ found: Registration.Found, _ key: [String]) throws -> Int {
        let names = ([found.columns.key] + key).map(quoted).joined(separator: ", ")
        let select = try connection.passingStatement("SELECT \(names) FROM \(quoted(found.table.name))")
        var wrong = 0
        while try select.step() {
            let values = key.indices.map { select.value(Int32($0 + 1)) }
            let id = found.columns.form.id(of: select.value(0))
            if id == nil || RowID(table: Array(found.table.name.utf8), key: values) != id { wrong += 1 }
        }
        return wrong
    }

    private func number(_ sql: String) throws -> Int {
        let select = try connection.passingStatement(sql)
        defer { select.reset() }
        return try select.step() ? select.int(0) : 0
    }

    private func notText(_ table: String, _ name: String) throws -> Int {
        let select = try connection.passingStatement("SELECT \(name) FROM \(table) WHERE \(name) NOT NULL")
        var count = 0
        while try select.step() {
            guard case .text(let bytes) = select.value(0), String(validating: bytes, as: UTF8.self) != nil else {
                count += 1
                continue
            }
        }
        return count
    }
}
