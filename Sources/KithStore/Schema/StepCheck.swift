import KithCapture
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

/// Looks at a migration step when it has ended. Refuses one that changes a text or a counter: every device runs it, and what each of them
/// types or counts adds up. Notes the columns that it has dropped: one of the same name that a later step adds is another.
struct StepCheck {
    let connection: DatabaseConnection
    let tables: [TrackedTable]
    /// How many foreign keys may refer to nothing; `nil` if GRDB looks at that.
    let danglingMax: Int?

    static let danglingSQL = "SELECT count(*) FROM pragma_foreign_key_check"

    /// - Throws: ``StoreError`` with code `valueRejected`; ``SQLiteError`` if too many foreign keys refer to nothing.
    func check(step: String) throws {
        try checkKeys()
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
            let declared = tables.first { $0.name == table.name }
            let dropped = try MigrationSteps.dropped(from: table.number, connection)
            for (number, name) in table.columns where copied.names.contains("c\(number)") && !dropped.contains(number) {
                guard let (bytes, kind) = try CatalogStore(connection: connection).column(number, of: table.number) else { continue }
                let first = String(decoding: bytes, as: UTF8.self)
                let renamed = declared?.renamed.first { $0.value == first }?.key
                guard let now = [renamed, name, first].compactMap({ $0 }).first(where: present.names.contains) else {
                    // A later step may give a renamed column the name that is declared.
                    if renamed == nil { try MigrationSteps.noteDropped(number, from: table.number, connection) }
                    continue
                }
                let merging = [kind, declared?.kinds[now]].compactMap { $0 }.first { $0 == .text || $0 == .counter }
                guard let merging, let key = present.key,
                    try isChanged("c\(number)", now, merging, table.number, quoted(table.name), quoted(key))
                else { continue }
                throw StoreError(.valueRejected, Self.message(step, "\(table.name).\(now)", merging))
            }
        }
    }

    private func checkKeys() throws {
        guard let danglingMax else { return }
        let dangling = try connection.statement(Self.danglingSQL)
        defer { dangling.reset() }
        if try dangling.step(), dangling.int(0) > danglingMax { throw SQLiteError.foreignKey }
    }

    private static func message(_ step: String, _ column: String, _ kind: ColumnKind) -> String {
        let what = kind == .text ? "is a text, which merges character by character" : "is a counter, whose changes add up"
        return "Migration step \"\(step)\" changes \(column), which \(what). Every device runs the step, so the change would be made "
            + "several times. Make it once, as an ordinary write on one device, or put the result into a new column."
    }

    /// A counter that is NULL counts as 0, and to make a text that is NULL an empty one adds nothing that several devices could add.
    private func isChanged(
        _ copy: String, _ name: String, _ kind: ColumnKind, _ table: Int, _ sqlName: String, _ key: String
    ) throws -> Bool {
        let nothing = kind == .counter ? "0" : "''"
        let (before, now) = ("coalesce(b.\(copy), \(nothing))", "coalesce(n.\(quoted(name)), \(nothing))")
        let select = try connection.statement(
            """
            SELECT 1 FROM \(MigrationSteps.before(table)) b JOIN \(sqlName) n ON n.\(key) = b.id
            WHERE \(StepChanges.differ(before, now)) LIMIT 1
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
