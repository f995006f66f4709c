import KithCausality
import KithSQLite
import KithSync

/// What the sidecar keeps of references that the app's tables do not show as they were written. The only owner of `kith_waiting`,
/// `kith_held` and `kith_unsettled`, of which each alone says nothing.
package struct ReferenceRecords {
    package let connection: DatabaseConnection

    package init(connection: DatabaseConnection) {
        self.connection = connection
    }

    package static let sql = """
        -- References to rows that may not be shown: all of a row that is hidden for the sake of one, or deleted and not to be
        -- shown for anybody's sake for want of one, and of a visible row those in whose place its column shows something else.
        -- `parent` is the value that was written.
        CREATE TABLE IF NOT EXISTS kith_waiting (
            child_tbl INTEGER NOT NULL, child BLOB NOT NULL, col INTEGER NOT NULL, parent_tbl INTEGER NOT NULL, parent,
            PRIMARY KEY (child_tbl, child, col)) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS kith_waiting_parent ON kith_waiting (parent_tbl, parent);
        -- Rows that are shown because others refer to them.
        CREATE TABLE IF NOT EXISTS kith_held (tbl INTEGER NOT NULL, id BLOB NOT NULL, PRIMARY KEY (tbl, id)) WITHOUT ROWID;
        -- Rows whose references are looked at next.
        CREATE TABLE IF NOT EXISTS kith_unsettled (tbl INTEGER NOT NULL, id);
        """

    // MARK: Parts of triggers

    /// Notes a row, given as two values, if `condition` is true.
    package static func noteSQL(_ row: String, if condition: String) -> String {
        "INSERT INTO kith_unsettled (tbl, id) SELECT \(row) WHERE \(condition)"
    }

    /// Whether a row waits for this one.
    package static func isAwaitedSQL(table: Int, id: String) -> String {
        "EXISTS (SELECT 1 FROM kith_waiting WHERE parent_tbl = \(table) AND parent = \(id))"
    }

    /// Whether a row waits because of this reference.
    package static func hasWaitingSQL(_ reference: Reference) -> String {
        "EXISTS (SELECT 1 FROM kith_waiting WHERE child_tbl = \(reference.child) AND col = \(reference.column))"
    }

    /// Whether a row is shown because others refer to it.
    package static func isHeldSQL(table: Int, id: String) -> String {
        "EXISTS (SELECT 1 FROM kith_held WHERE tbl = \(table) AND id = \(id))"
    }

    // MARK: Rows to look at

    package func note(_ row: RowKey) throws {
        try run("INSERT INTO kith_unsettled (tbl, id) VALUES (?, ?)", row)
    }

    package func hasUnsettled() throws -> Bool { try hasRow("kith_unsettled") }
    package func hasWaiting() throws -> Bool { try hasRow("kith_waiting") }
    package func hasHeld() throws -> Bool { try hasRow("kith_held") }

    /// The rows to look at, sorted, which are forgotten.
    package func takeUnsettled() throws -> [RowKey] {
        let rows = try rows(try connection.statement("SELECT DISTINCT tbl, id FROM kith_unsettled ORDER BY tbl, id"))
        try connection.statement("DELETE FROM kith_unsettled").run()
        return rows
    }

    /// Notes the rows of a table for which others wait.
    ///
    /// - Parameter found: what stands behind FROM, with the rows of the app's table as `n`, and ends with a condition.
    package func noteAwaited(in table: Int, _ tracked: CatalogTable.Tracked, from found: String) throws {
        let key = "n." + quoted(tracked.key)
        try connection.statement(
            """
            INSERT INTO kith_unsettled (tbl, id) SELECT \(table), \(tracked.form.idSQL(key)) FROM \(found)
                AND \(Self.isAwaitedSQL(table: table, id: key))
            """
        ).run()
    }

    /// Notes the rows that refer to what is not shown.
    package func noteDangling(_ reference: Reference, _ catalog: Catalog) throws {
        guard let child = catalog[reference.child]?.tracked, let parent = catalog[reference.parent]?.tracked else { return }
        try connection.execute(
            """
            INSERT INTO kith_unsettled (tbl, id) SELECT \(reference.child), \(child.form.idSQL("c." + quoted(child.key))) FROM \(child.mainName) c
            WHERE c.\(reference.name) NOT NULL
              AND NOT EXISTS (SELECT 1 FROM \(parent.mainName) p WHERE p.\(quoted(parent.key)) = c.\(reference.name))
            """)
    }

    /// Notes the rows of a table that are hidden for the sake of others, and all that are shown for the sake of others.
    package func noteDependent(in table: Int) throws {
        let insert = try connection.statement(
            """
            INSERT INTO kith_unsettled (tbl, id)
            \(HiddenRows.referringSQL) UNION ALL SELECT tbl, id FROM kith_held
            """)
        insert.bind(1, table)
        try insert.run()
    }

    // MARK: References that are not shown

    /// What columns of a row refer to, by number of the column.
    package func waiting(_ child: RowKey) throws -> [(column: Int, parent: ColumnValue)] {
        let select = try connection.statement("SELECT col, parent FROM kith_waiting WHERE child_tbl = ? AND child = ?")
        select.bind(1, child.table)
        select.bind(2, child.id)
        var found: [(Int, ColumnValue)] = []
        while try select.step() { found.append((select.int(0), select.value(1))) }
        return found
    }

    package func wait(_ child: RowKey, _ reference: Reference, for parent: ColumnValue) throws {
        let insert = try connection.statement(
            """
            INSERT OR REPLACE INTO kith_waiting (child_tbl, child, col, parent_tbl, parent) VALUES (?, ?, ?, ?, ?)
            """)
        insert.bind(1, child.table)
        insert.bind(2, child.id)
        insert.bind(3, reference.column)
        insert.bind(4, reference.parent)
        insert.bind(5, parent)
        try insert.run()
    }

    package func stopWaiting(_ child: RowKey) throws {
        try run("DELETE FROM kith_waiting WHERE child_tbl = ? AND child = ?", child)
    }

    package func stopWaiting(_ child: RowKey, column: Int) throws {
        let delete = try connection.statement("DELETE FROM kith_waiting WHERE child_tbl = ? AND child = ? AND col = ?")
        delete.bind(1, child.table)
        delete.bind(2, child.id)
        delete.bind(3, column)
        try delete.run()
    }

    /// Forgets the references of rows that are known no more.
    package func stopWaitingForLost(in table: Int) throws {
        try connection.execute("DELETE FROM kith_waiting WHERE child_tbl = \(table) AND child NOT IN (\(ClockTable.rowsSQL(table)))")
    }

    /// Rows of a table whose references are not shown as they were written.
    package func waiting(in table: Int) throws -> [RowKey] {
        let select = try connection.statement("SELECT DISTINCT child_tbl, child FROM kith_waiting WHERE child_tbl = ? ORDER BY 2")
        select.bind(1, table)
        return try rows(select)
    }

    /// Rows that refer to `parent`, of a table with keys of this form, without showing it.
    package func waiting(for parent: RowKey, _ form: KeyForm) throws -> [RowKey] {
        let select = try connection.statement(
            "SELECT DISTINCT child_tbl, child FROM kith_waiting WHERE parent_tbl = ? AND parent = ? ORDER BY 1, 2")
        select.bind(1, parent.table)
        select.bind(2, parent.id, as: form)
        return try rows(select)
    }

    /// Visible rows whose column shows something in place of what it refers to.
    package func substituted(_ reference: Reference) throws -> [RowKey] {
        let select = try connection.statement("SELECT child_tbl, child FROM kith_waiting WHERE child_tbl = ? AND col = ? ORDER BY 2")
        select.bind(1, reference.child)
        select.bind(2, reference.column)
        return try rows(select)
    }

    /// Rows whose contents are needed, for a row that somebody has and nobody deleted refers to them, directly or through such rows.
    package func needed(_ facts: RowFactsReader) throws -> Set<RowKey> {
        var stack = try rows(
            try connection.statement(
                """
                SELECT DISTINCT parent_tbl, parent FROM kith_waiting WHERE NOT \(HiddenRows.isDeletedSQL(table: "child_tbl", id: "child"))
                """))
        var needed: Set<RowKey> = []
        while let row = stack.popLast() {
            guard needed.insert(row).inserted, try facts[row].life == .dead else { continue }
            stack += try facts[row].parents(\.isHard).compactMap(\.self)
        }
        return needed
    }

    // MARK: Rows shown for the sake of others

    package func isHeld(_ row: RowKey) throws -> Bool {
        let select = try connection.statement("SELECT 1 FROM kith_held WHERE tbl = ? AND id = ?")
        select.bind(1, row.table)
        select.bind(2, row.id)
        defer { select.reset() }
        return try select.step()
    }

    package func hold(_ row: RowKey, _ isHeld: Bool) throws {
        try run(
            isHeld ? "INSERT OR IGNORE INTO kith_held (tbl, id) VALUES (?, ?)" : "DELETE FROM kith_held WHERE tbl = ? AND id = ?", row)
    }

    // MARK: Parts

    private func hasRow(_ table: String) throws -> Bool {
        let select = try connection.statement("SELECT 1 FROM \(table) LIMIT 1")
        defer { select.reset() }
        return try select.step()
    }

    private func run(_ sql: String, _ row: RowKey) throws {
        let statement = try connection.statement(sql)
        statement.bind(1, row.table)
        statement.bind(2, row.id)
        try statement.run()
    }

    /// Rows of table and id; a value that is no id names none.
    package func rows(_ select: PreparedStatement) throws -> [RowKey] {
        var rows: [RowKey] = []
        while let row = try nextRow(select) { rows.append(row) }
        return rows
    }

    /// The next row of table and id; a value that is no id is passed over.
    package func nextRow(_ select: PreparedStatement) throws -> RowKey? {
        while try select.step() {
            if let id = KeyForm.anyID(of: select.value(1)) { return RowKey(table: select.int(0), id: id) }
        }
        return nil
    }
}
