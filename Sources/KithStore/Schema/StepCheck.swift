import KithCapture
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

/// Refuses a migration step that changes a text or a counter: every device runs it, and what each of them types or counts adds up.
struct StepCheck {
    let connection: DatabaseConnection
    let tables: [TrackedTable]

    /// - Throws: ``StoreError`` with code `valueRejected`.
    func check(step: String) throws {
        let known = try connection.statement(
            """
            SELECT t.number, t.name, c.value, n.value FROM \(CatalogStore.tablesTable) t
            JOIN sqlite_master b ON b.name = '\(MigrationSteps.beforePrefix)' || t.number
            JOIN sqlite_master m ON m.type = 'table' AND m.name = CAST(t.name AS TEXT)
            \(MetaRecords.joinTrackedColumnsSQL) ORDER BY t.number
            """)
        var found: [(number: Int, name: String, columns: [(Int, String)])] = []
        while try known.step() {
            func text(_ column: Int32) -> String { String(decoding: known.blob(column), as: UTF8.self) }
            let numbers = text(2).prefix { $0 != ";" }.split(separator: ",").compactMap { Int($0) }
            let names = text(3).split(separator: MigrationSteps.nameSeparator).map(String.init)
            found.append((known.int(0), text(1), zip(numbers, names).map { ($0, $1) }))
        }
        for table in found {
            let copied = try names(of: MigrationSteps.before(table.number))
            let present = try names(of: table.name)
            for (number, name) in table.columns where copied.names.contains("c\(number)") {
                guard let (now, kind) = try merging(number, name, table.number, table.name, present.names), let key = present.key,
                    try isChanged("c\(number)", now, table.number, quoted(table.name), quoted(key))
                else { continue }
                throw StoreError(.valueRejected, Self.message(step, "\(table.name).\(now)", kind))
            }
        }
    }

    private static func message(_ step: String, _ column: String, _ kind: ColumnKind) -> String {
        let what = kind == .text ? "is a text, which merges character by character" : "is a counter, whose changes add up"
        return "Migration step \"\(step)\" changes \(column), which \(what). Every device runs the step, so the change would be made "
            + "several times. Make it once, as an ordinary write on one device, or put the result into a new column."
    }

    /// The name that a text or counter has by now, if the table still has it.
    private func merging(
        _ number: Int, _ name: String, _ table: Int, _ tableName: String, _ present: [String]
    ) throws -> (name: String, kind: ColumnKind)? {
        guard let (bytes, kind) = try CatalogStore(connection: connection).column(number, of: table) else { return nil }
        let first = String(decoding: bytes, as: UTF8.self)
        let declared = tables.first { $0.name == tableName }
        let renamed = declared?.renamed.first { $0.value == first }?.key
        guard let now = [renamed, name, first].compactMap({ $0 }).first(where: present.contains) else { return nil }
        let kinds = [kind, declared?.kinds[now]].compactMap { $0 }
        return kinds.first { $0 == .text || $0 == .counter }.map { (now, $0) }
    }

    private func isChanged(_ copy: String, _ name: String, _ table: Int, _ sqlName: String, _ key: String) throws -> Bool {
        let select = try connection.statement(
            """
            SELECT 1 FROM \(MigrationSteps.before(table)) b JOIN \(sqlName) n ON n.\(key) = b.id
            WHERE \(StepChanges.differ("b.\(copy)", "n.\(quoted(name))")) LIMIT 1
            """)
        defer { select.reset() }
        return try select.step()
    }

    private func names(of table: String) throws -> (names: [String], key: String?) {
        let select = try connection.statement("SELECT name, pk FROM pragma_table_info(?)")
        select.bind(1, .text(table))
        var names: [String] = []
        var key: String?
        while try select.step() {
            names.append(String(decoding: select.blob(0), as: UTF8.self))
            if select.int(1) == 1 { key = names.last }
        }
        return (names, key)
    }
}
