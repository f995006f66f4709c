import KithCausality
import KithSync

/// A column as the store numbers it. The number is this store's own and never changes.
struct CatalogColumn {
    let number: Int
    let key: ColumnKey
    /// The column in the app's table; `nil` if no schema here knows it yet, so that its cells are kept as they came.
    var sqlName: String?
}

/// A table as the store numbers it.
struct CatalogTable {
    let number: Int
    let name: [UInt8]
    /// By number.
    var columns: [CatalogColumn]
    /// How the app's own table is read and written; `nil` if no schema here knows it yet.
    var tracked: Tracked?

    struct Tracked {
        let sqlName: String
        let key: String
        let deletePolicy: DeletePolicy
        /// Numbers of the columns that the table has, in the order in which statements list them.
        let columns: [Int]
        /// For each of `columns`, its kind.
        let kinds: [ColumnKind]
    }

    func kind(of column: Int) -> ColumnKind? {
        column >= 0 && column < columns.count ? columns[column].key.kind : nil
    }
}

/// What the store knows of tables and columns, its own and other schemas', and the small numbers of replicas.
struct Catalog {
    var tables: [CatalogTable] = []
    var replicas = ReplicaTable()

    /// The table that stands at `number`, counted from 0.
    subscript(number: Int) -> CatalogTable? {
        number >= 0 && number < tables.count ? tables[number] : nil
    }

    func table(named name: [UInt8]) -> CatalogTable? {
        tables.first { $0.name == name }
    }
}

/// `name` as an SQL identifier.
func quoted(_ name: String) -> String {
    "\"" + name.replacing("\"", with: "\"\"") + "\""
}
