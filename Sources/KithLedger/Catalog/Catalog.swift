import KithCausality
import KithSync

/// A column as the store numbers it. The number is this store's own and never changes.
package struct CatalogColumn {
    package let number: Int
    package let key: ColumnKey
    /// The column in the app's table; `nil` if no schema here knows it yet, so that its cells are kept as they came.
    package var sqlName: String?
}

/// A table as the store numbers it.
package struct CatalogTable {
    package let number: Int
    package let name: [UInt8]
    /// By number.
    package var columns: [CatalogColumn]
    /// How the app's own table is read and written; `nil` if no schema here knows it yet.
    package var tracked: Tracked?

    /// Never changes. A class, because rows ask for it one by one.
    package final class Tracked: Sendable {
        package let sqlName: String
        package let key: String
        /// How the ids of its rows stand in ``key``.
        package let form: KeyForm
        package let deletePolicy: DeletePolicy
        /// Numbers of the columns that the table has, in the order in which statements list them.
        package let columns: [Int]
        /// For each of `columns`, its kind.
        package let kinds: [ColumnKind]
        /// For each of `columns`, its name as an SQL identifier.
        package let names: [String]
        /// The names of the columns that do not synchronise, but for generated ones and foreign keys.
        package let localColumns: [String]
        /// The columns that ids are made of; `nil` if they are drawn.
        package let naturalKey: NaturalKey?
        /// Its foreign keys, and those of tracked tables that refer to it.
        package let references: [Reference]
        package let referrers: [Reference]
        /// Whether a row that is deleted, or hidden with what it refers to, may be shown all the same, because another one needs it.
        package let mayBeBrought: Bool
        /// The columns that hold less than any value.
        package let checked: [CheckedColumn]
        /// Reads the tracked columns of the row with a rowid.
        package let valuesSQL: String
        /// Reads the key and the tracked columns of the row with a rowid.
        package let rowSQL: String
        /// The table's name in SQL outside of triggers: a temporary table may have the same.
        package let mainName: String
        /// Finds rowid and tracked columns by the key.
        let findSQL: String

        package init(
            sqlName: String, key: String, form: KeyForm, deletePolicy: DeletePolicy, columns: [Int], kinds: [ColumnKind], names: [String],
            localColumns: [String] = [], naturalKey: NaturalKey?, references: [Reference] = [], referrers: [Reference] = [],
            mayBeBrought: Bool = false
        ) {
            self.sqlName = sqlName
            self.key = key
            self.form = form
            self.deletePolicy = deletePolicy
            self.columns = columns
            self.kinds = kinds
            self.names = names
            self.localColumns = localColumns
            self.naturalKey = naturalKey
            self.references = references
            self.referrers = referrers
            self.mayBeBrought = mayBeBrought
            checked = kinds.indices.filter { kinds[$0] != .register }.map {
                CheckedColumn(place: $0, kind: kinds[$0], name: sqlName + "." + names[$0])
            }
            let mainName = "main." + quoted(sqlName)
            self.mainName = mainName
            valuesSQL = "SELECT \((names + ["1"]).joined(separator: ", ")) FROM \(mainName) WHERE rowid = ?"
            rowSQL = "SELECT \(([quoted(key)] + names).joined(separator: ", ")) FROM \(mainName) WHERE rowid = ?"
            findSQL = "SELECT \((["rowid"] + names).joined(separator: ", ")) FROM \(mainName) WHERE \(quoted(key)) = ?"
        }

        /// The table as it is without these columns, for reading and writing rows; its natural key, and the places of its foreign
        /// keys, are not those of the whole one.
        package func without(_ hidden: [Int]) -> Tracked {
            let kept = columns.indices.filter { !hidden.contains(columns[$0]) }
            return Tracked(
                sqlName: sqlName, key: key, form: form, deletePolicy: deletePolicy, columns: kept.map { columns[$0] },
                kinds: kept.map { kinds[$0] },
                names: kept.map { names[$0] }, localColumns: localColumns, naturalKey: nil, references: references, referrers: referrers,
                mayBeBrought: mayBeBrought)
        }

        /// The table with its foreign keys.
        package func related(_ references: [Reference], _ referrers: [Reference], mayBeBrought: Bool) -> Tracked {
            Tracked(
                sqlName: sqlName, key: key, form: form, deletePolicy: deletePolicy, columns: columns, kinds: kinds, names: names,
                localColumns: localColumns, naturalKey: naturalKey, references: references, referrers: referrers, mayBeBrought: mayBeBrought
            )
        }
    }

    package func kind(of column: Int) -> ColumnKind? {
        column >= 0 && column < columns.count ? columns[column].key.kind : nil
    }
}

/// What the store knows of tables and columns, its own and other schemas', and the small numbers of replicas.
package struct Catalog {
    package var tables: [CatalogTable] = []
    package var replicas = ReplicaTable()

    /// Replicas, tables and columns. Grows with each addition.
    var entryCount: Int { tables.reduce(replicas.ids.count) { $0 + 1 + $1.columns.count } }

    /// The table that stands at `number`, counted from 0.
    package subscript(number: Int) -> CatalogTable? {
        number >= 0 && number < tables.count ? tables[number] : nil
    }

    /// How the app's own table of this number is read and written.
    package func tracked(_ number: Int) -> CatalogTable.Tracked? {
        number >= 0 && number < tables.count ? tables[number].tracked : nil
    }

    package func table(named name: [UInt8]) -> CatalogTable? {
        tables.first { $0.name == name }
    }
}

/// `name` as an SQL identifier.
package func quoted(_ name: String) -> String {
    // Nearly no name has a quotation mark, and names are quoted for every row that comes alone.
    let hasMark = name.utf8.contains(UInt8(ascii: "\""))
    return "\"" + (hasMark ? name.replacing("\"", with: "\"\"") : name) + "\""
}
