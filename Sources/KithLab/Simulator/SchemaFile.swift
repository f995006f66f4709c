import Foundation
import GRDB
import KithStore
import KithSync
import KithTesting

/// The tables of an SQL file.
struct SchemaFile {
    let sql: String
    let options: SimulatorOptions

    /// Every table whose primary key is one BLOB column synchronises.
    func schema() throws -> SimulatedSchema {
        let queue = try DatabaseQueue()
        let names = try queue.write { db in
            try db.execute(sql: sql)
            return try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM pragma_table_list AS t WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'
                        AND (SELECT group_concat(upper(type)) FROM pragma_table_info(t.name) WHERE pk > 0) = 'BLOB'
                    ORDER BY name
                    """)
        }
        return SimulatedSchema(sql: sql, tables: names.map(table))
    }

    private func table(_ name: String) -> TrackedTable {
        func columns(_ list: [String]) -> [String] {
            list.filter { $0.hasPrefix(name + ".") }.map { String($0.dropFirst(name.count + 1)) }
        }
        return TrackedTable(
            name, sets: columns(options.sets), counters: columns(options.counters), texts: columns(options.texts),
            deletePolicy: options.deleteWins.contains(name) ? .deleteWins : .updateWins)
    }
}
