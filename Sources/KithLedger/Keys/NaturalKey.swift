import KithSQLite
import KithSync

/// The columns that a tracked table's ids are made of.
package struct NaturalKey: Sendable {
    package let table: String
    /// In the order of the key.
    package let names: [String]
    /// Where they stand among the table's tracked columns.
    package let positions: [Int]

    /// A bit for each of the key's columns, as the update trigger numbers them.
    var mask: UInt64 { positions.reduce(0) { $0 | 1 << UInt64($1) } }

    /// The SQL that gives the id of a row.
    package func sql(of row: String = "") -> String {
        let columns = names.map { row + quoted($0) }.joined(separator: ", ")
        return "kith_key('\(table.replacing("'", with: "''"))', \(columns))"
    }

    /// Whether `id` is the one that a row with these shown values has.
    package func names(_ id: RowID, showing values: [ColumnValue?]) -> Bool {
        RowID(table: Array(table.utf8), key: positions.map { values[$0] ?? .null }) == id
    }

    /// The id of the row with this key.
    package func id(of key: [ColumnValue]) throws -> RowID {
        guard key.count == names.count else {
            throw StoreError(.valueRejected, "The key of \(table) has \(names.count) columns (\(list)); \(key.count) values were given.")
        }
        guard let id = RowID(table: Array(table.utf8), key: key) else {
            let wrong = key.firstIndex { if case .null = $0 { true } else if case .real = $0 { true } else { false } } ?? 0
            throw StoreError(
                .valueRejected,
                "\(table).\(names[wrong]) is \(key[wrong] == .null ? "NULL" : "a real"), but the id of the row is made of it. "
                    + "Give it an integer, text or a blob.")
        }
        return id
    }

    /// Refuses an insertion under an id that is not the key's.
    package func check(_ id: RowID, of key: [ColumnValue]) throws {
        if try self.id(of: key) == id { return }
        throw StoreError(
            .valueRejected,
            "The id of a row of \(table) follows from its key (\(list)), and this is another one. Insert it with id = \(sql()).")
    }

    /// Refuses to change the key of a row.
    package func checkUpdate(_ changed: UInt64) throws {
        guard let index = positions.firstIndex(where: { changed >> UInt64($0) & 1 == 1 }) else { return }
        throw StoreError(
            .valueRejected,
            "\(table).\(names[index]) is part of the key that the row's id is made of, and is final. Insert a new row and delete this one.")
    }

    private var list: String { names.joined(separator: ", ") }
}

extension CatalogTable.Tracked {
    /// Whether the column with this number is part of the natural key.
    package func isKey(_ column: Int) -> Bool {
        naturalKey?.positions.contains { columns[$0] == column } ?? false
    }
}
