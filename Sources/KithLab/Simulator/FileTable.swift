import GRDB
import KithTesting

/// A table that an SQL file makes.
struct FileTable {
    let name: String
    /// Without the key.
    let columns: [String]
    /// Each column of the primary key, and its declared type.
    let keys: [(name: String, type: String)]
    let hasRows: Bool

    /// Whether it is meant to synchronise: rows are named by one BLOB, or by one text that is called an id, which a word or a day is not.
    var takesPart: Bool {
        guard keys.count == 1 else { return false }
        let (name, type) = (keys[0].name.lowercased(), keys[0].type.uppercased())
        return type == "BLOB" || ["TEXT", "CHAR"].contains { type.contains($0) } && ["id", "uuid"].contains { name.hasSuffix($0) }
    }

    /// For a table that takes no part.
    var whyLeftOut: String {
        switch keys.count {
        case 0: "\(name) has no primary key"
        case 1:
            "the key \(keys[0].name) of \(name) is \(keys[0].type.isEmpty ? "of no type" : keys[0].type), not BLOB, nor TEXT with a name that ends in id"
        default: "the key of \(name) has \(keys.count) columns"
        }
    }

    /// The tables that `scripts` make in an empty database, one after the other, in the order of their names.
    static func all(of scripts: String...) throws -> [FileTable] {
        let queue = try DatabaseQueue()
        for sql in scripts { try SimulatedSchema.execute(sql, in: queue) }
        return try queue.read { db in
            let names = try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                        ORDER BY name
                    """)
            return try names.map { try FileTable($0, db) }
        }
    }

    private init(_ name: String, _ db: Database) throws {
        self.name = name
        let rows = try Row.fetchAll(db, sql: "SELECT name, type, pk FROM pragma_table_xinfo(?)", arguments: [name])
        columns = rows.filter { $0["pk"] == 0 }.map { $0["name"] }
        keys = rows.filter { $0["pk"] != 0 }.map { ($0["name"], $0["type"]) }
        hasRows = try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT * FROM \"\(name.replacing("\"", with: "\"\""))\")") ?? false
    }
}
