import GRDBSQLite
import KithLedger
import KithSQLite
import KithSync

/// What a trigger says of its table: its number, and in which file that is.
///
/// Triggers of a file that was attached call the functions of the connection, which are about another file.
package struct TriggeredTable {
    package let number: Int
    /// A number of the database file, made once at random, and never 0. A copy of the file has the same.
    package let file: Int64

    private static let tableBits = 16

    package init(number: Int, file: Int64) {
        self.number = number
        self.file = file
    }

    init(rawValue: Int64) {
        number = Int(rawValue & (1 << Self.tableBits - 1))
        file = rawValue >> Self.tableBits
    }

    var rawValue: Int64 { file << Self.tableBits | Int64(number) }

    /// The number of the open file; makes one if it has none.
    package static func file(_ records: VectorRecords) throws -> Int64 {
        if case .integer(let known)? = try records.meta(meta) { return known }
        let new = Int64.random(in: 1..<1 << 40)
        try records.setMeta(meta, .integer(new))
        return new
    }

    private static let meta = "file"

    /// The first attached database that can be written and has this number, if there is one.
    ///
    /// - Parameter others: files that are known not to have it; those that are found are added.
    static func copy(of file: Int64, attachedTo connection: OpaquePointer, besides others: inout Set<String>) throws -> String? {
        var index: Int32 = 2
        while let pointer = sqlite3_db_name(connection, index) {
            index += 1
            let name = String(cString: pointer)
            // A database in memory has no name, and is looked at each time.
            let path = sqlite3_db_filename(connection, name).map { String(cString: $0) } ?? ""
            if others.contains(path) || sqlite3_db_readonly(connection, name) == 1 { continue }
            // Not kept, since that would be in the way of DETACH.
            var statement: OpaquePointer?
            let sql = MetaRecords.holdsSQL(file, as: meta, in: name)
            defer { sqlite3_finalize(statement) }
            let isKith = sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK
            switch isKith ? sqlite3_step(statement) : SQLITE_DONE {
            case SQLITE_ROW: return name
            case SQLITE_DONE: if !path.isEmpty { others.insert(path) }
            case let code: throw SQLiteError(connection, code: code)
            }
        }
        return nil
    }
}

extension Capture {
    /// - Throws: `StoreError` of the code `valueRejected` if the trigger may be one of another file.
    func checkFile(of table: TriggeredTable) throws {
        guard table.file == file else {
            throw StoreError(
                .valueRejected,
                "The table is one of another database of Kith that is attached. Open that as a SyncedDatabase of its own, and write it there."
            )
        }
        if sqlite3_db_name(connection.handle, 2) == nil {
            // What is attached later may have the name of another file that was.
            if !others.isEmpty { others.removeAll() }
            return
        }
        guard let name = try TriggeredTable.copy(of: file, attachedTo: connection.handle, besides: &others) else { return }
        throw StoreError(
            .valueRejected,
            "The database that is attached as \(name) is a copy of this one, and Kith cannot tell in which of them a row is written. "
                + "Attach it read-only, or detach it first.")
    }
}
