import KithSQLite
import KithSync

/// Single values that the store keeps by name. The only owner of `kith_meta`.
package struct MetaRecords {
    package static let table = "kith_meta"

    package static let sql = """
        CREATE TABLE IF NOT EXISTS kith_meta (name TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID;
        """

    /// Grows with every change of the catalog.
    private static let catalog = "catalog"

    private let connection: DatabaseConnection

    init(_ connection: DatabaseConnection) {
        self.connection = connection
    }

    /// Selects the value of a name.
    static func valueSQL(_ name: String) -> String { "(SELECT value FROM kith_meta WHERE name = '\(name)')" }

    /// Selects how often the catalog has changed.
    static let catalogVersionSQL = valueSQL(catalog)

    /// Selects whether an attached database has this value under this name.
    package static func holdsSQL(_ value: Int64, as name: String, in database: String) -> String {
        "SELECT 1 FROM \(quoted(database)).kith_meta WHERE name = '\(name)' AND value = \(value)"
    }

    func value(_ name: String) throws -> ColumnValue? {
        let select = try connection.statement("SELECT value FROM kith_meta WHERE name = ?")
        select.bind(1, .text(name))
        guard try select.step() else { return nil }
        defer { select.reset() }
        return select.value(0)
    }

    func set(_ name: String, _ value: ColumnValue) throws {
        let insert = try connection.statement(
            "INSERT INTO kith_meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2")
        insert.bind(1, .text(name))
        insert.bind(2, value)
        try insert.run()
    }

    /// Returns whether there was a value.
    @discardableResult
    func remove(_ name: String) throws -> Bool {
        let delete = try connection.statement("DELETE FROM kith_meta WHERE name = ?")
        delete.bind(1, .text(name))
        try delete.run()
        return connection.changedRowCount > 0
    }

    /// The catalog has changed.
    func noteCatalogChange() throws {
        try connection.statement(Self.noteCatalogChangeSQL).run()
    }

    private static let noteCatalogChangeSQL =
        "INSERT INTO kith_meta (name, value) VALUES ('\(catalog)', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1"

    // MARK: Silent changes

    private static let silent = "silent"

    /// What the last of ``SilentMarks`` is; `nil` before the first.
    func silentMark() throws -> ColumnValue? { try value(Self.silent) }

    func drawSilentMark() throws {
        try connection.statement(Self.drawSilentMarkSQL).run()
    }

    private static let drawSilentMarkSQL = "INSERT OR REPLACE INTO kith_meta (name, value) VALUES ('\(silent)', randomblob(8))"

    /// How often the catalog has changed.
    func catalogVersion() throws -> ColumnValue? { try value(Self.catalog) }

    // MARK: Tables

    /// Marks every table of the catalog as one of which rows may have lost their clocks.
    func noteLostRows() throws {
        try connection.statement(Self.noteLostRowsSQL).run()
    }

    private static let noteLostRowsSQL =
        "INSERT OR REPLACE INTO kith_meta (name, value) SELECT 'lost:' || number, 1 FROM \(CatalogStore.tablesTable)"

    /// Whether a table is marked so; it is not afterwards.
    func takeLostRows(of table: Int) throws -> Bool {
        try remove("lost:\(table)")
    }

    /// Joins `c`, the numbers of the columns of the table `t` of the catalog that were tracked last, and `n`, their names.
    package static let joinTrackedColumnsSQL =
        "JOIN kith_meta c ON c.name = 'columns:' || t.number JOIN kith_meta n ON n.name = 'names:' || t.number"
}
