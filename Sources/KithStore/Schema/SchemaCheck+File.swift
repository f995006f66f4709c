import Foundation
import GRDB
import KithLedger
import KithSQLite

extension SyncedDatabase {
    /// Looks whether the tables in a database file can be tracked, as `check(_:tables:)` does, without changing the file.
    ///
    /// - Parameter declare: makes the declarations of the app's own tables, whose names it gets with their columns.
    /// - Throws: ``StoreError`` with code `notFound` if there is no such file, or `notAStore` if it is no database.
    public static func check(
        databaseAt path: String, declare: (_ tables: [String: [String]]) throws -> [TrackedTable]
    ) throws -> SchemaCheck {
        let queue = try existing(path, readonly: true)
        return try StoreError.mapping {
            try queue.read { db in try check(db, tables: try declare(try columns(db))) }
        }
    }

    /// Gives the rows in a database file new ids, as ``KeyMigration/run(on:)`` does.
    ///
    /// - Parameter migration: makes the migration for the app's own tables, whose names it gets with their columns.
    @discardableResult
    public static func migrateKeys(
        databaseAt path: String, _ migration: (_ tables: [String: [String]]) throws -> KeyMigration
    ) throws -> KeyMigration.Plan {
        let queue = try existing(path, readonly: false)
        return try StoreError.mapping { try migration(try queue.read(columns)).run(on: queue) }
    }

    private static func columns(_ db: Database) throws -> [String: [String]] {
        Dictionary(uniqueKeysWithValues: try ownTables(db).map { ($0, try db.columnNames(of: $0)) })
    }

    private static func existing(_ path: String, readonly: Bool) throws(StoreError) -> DatabaseQueue {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw StoreError(.notFound, "There is no file \(path).")
        }
        if isFolder.boolValue { throw StoreError(.notAStore, "\(path) is a folder, and not a database file.") }
        var configuration = Configuration()
        configuration.readonly = readonly
        configuration.foreignKeysEnabled = false
        let settings = configuration
        return try StoreError.typed { try DatabaseQueue(path: path, configuration: settings) }
    }
}

extension Database {
    /// The names of a table's columns, whatever is in the table's name; generated ones included.
    func columnNames(of table: String) throws -> [String] {
        try String.fetchAll(self, sql: "SELECT name FROM pragma_table_xinfo(?, 'main') WHERE hidden <> 1", arguments: [table])
    }
}
