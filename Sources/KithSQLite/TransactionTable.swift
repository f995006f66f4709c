import GRDBSQLite

/// What follows the transaction that is open on a connection. An error refuses what SQLite is about to do.
package protocol TransactionFollower: AnyObject {
    func savepointWillBegin(_ number: Int32)
    func savepointDidEnd(_ number: Int32)
    /// The savepoint stays.
    func transactionDidRollBack(to number: Int32)
    func transactionWillCommit() throws
    func transactionDidCommit()
    func transactionDidRollBack()
}

/// Lets a follower hear of the transaction that is open: its commit, and its savepoints, those of single statements included.
///
/// SQLite tells these to virtual tables only (sqlite.org/vtab.html, 2.13 to 2.18), so there is one, without content, which
/// joins a transaction when something is written to it.
package enum TransactionTable {
    package static let joinSQL = "INSERT INTO kith_transaction VALUES (NULL)"

    private static let name = "kith_transaction"

    /// A pointer for SQLite's sake: one to a protocol has two words.
    private final class Reference {
        let follower: any TransactionFollower

        init(_ follower: any TransactionFollower) {
            self.follower = follower
        }
    }

    /// Makes the table; it keeps `follower` alive as long as the connection lives.
    package static func install(_ follower: any TransactionFollower, on connection: OpaquePointer) throws {
        let reference = Unmanaged.passRetained(Reference(follower)).toOpaque()
        let code = sqlite3_create_module_v2(connection, name, module, reference) { pointer in
            if let pointer { Unmanaged<Reference>.fromOpaque(pointer).release() }
        }
        if code != SQLITE_OK { throw SQLiteError(connection, code: code) }
    }

    package static func remove(from connection: OpaquePointer) {
        sqlite3_create_module_v2(connection, name, nil, nil, nil)
    }

    private typealias VirtualTable = UnsafeMutablePointer<sqlite3_vtab>

    /// Sound because it is never written again.
    nonisolated(unsafe) private static let module: UnsafePointer<sqlite3_module> = {
        var module = sqlite3_module()
        module.iVersion = 2
        module.xConnect = { connection, reference, _, _, table, _ in connect(connection, reference, table) }
        module.xDisconnect = { table in
            say(nil, to: table)
            sqlite3_free(table)
            return SQLITE_OK
        }
        // There is nothing to read.
        module.xBestIndex = { _, _ in SQLITE_CONSTRAINT }
        module.xOpen = { _, _ in SQLITE_ERROR }
        module.xUpdate = { _, _, _, _ in SQLITE_OK }
        module.xBegin = { _ in SQLITE_OK }
        module.xSync = { table in told(table) { try $0.transactionWillCommit() } }
        module.xCommit = { table in told(table) { $0.transactionDidCommit() } }
        module.xRollback = { table in told(table) { $0.transactionDidRollBack() } }
        module.xSavepoint = { table, number in told(table) { $0.savepointWillBegin(number) } }
        module.xRelease = { table, number in told(table) { $0.savepointDidEnd(number) } }
        module.xRollbackTo = { table, number in told(table) { $0.transactionDidRollBack(to: number) } }
        let pointer = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
        pointer.initialize(to: module)
        return UnsafePointer(pointer)
    }()

    /// Behind SQLite's own part of a virtual table stands a reference to its follower, which the module holds.
    private static let referenceOffset = MemoryLayout<sqlite3_vtab>.stride

    private static func connect(
        _ connection: OpaquePointer?, _ reference: UnsafeMutableRawPointer?, _ result: UnsafeMutablePointer<VirtualTable?>?
    ) -> Int32 {
        let code = sqlite3_declare_vtab(connection, "CREATE TABLE \(name) (content)")
        if code != SQLITE_OK { return code }
        guard let reference, let result,
            let memory = sqlite3_malloc64(UInt64(referenceOffset + MemoryLayout<UnsafeMutableRawPointer>.size))
        else { return SQLITE_NOMEM }
        memory.initializeMemory(as: sqlite3_vtab.self, to: sqlite3_vtab())
        memory.storeBytes(of: reference, toByteOffset: referenceOffset, as: UnsafeMutableRawPointer.self)
        result.pointee = memory.assumingMemoryBound(to: sqlite3_vtab.self)
        return SQLITE_OK
    }

    private static func told(_ table: VirtualTable?, _ body: (any TransactionFollower) throws -> Void) -> Int32 {
        guard let table else { return SQLITE_MISUSE }
        let pointer = UnsafeRawPointer(table).load(fromByteOffset: referenceOffset, as: UnsafeMutableRawPointer.self)
        do {
            try body(Unmanaged<Reference>.fromOpaque(pointer).takeUnretainedValue().follower)
            return SQLITE_OK
        } catch let error as SQLiteError {
            say(error.message, to: table)
            return error.code
        } catch {
            say((error as? StoreError)?.message ?? String(describing: error), to: table)
            return SQLITE_ERROR
        }
    }

    /// Leaves a message for SQLite, which takes it with the code where it asks at all: at a commit, not at a savepoint.
    private static func say(_ message: String?, to table: VirtualTable?) {
        guard let table else { return }
        sqlite3_free(table.pointee.zErrMsg)
        table.pointee.zErrMsg = nil
        guard let message, let memory = sqlite3_malloc64(UInt64(message.utf8.count + 1)) else { return }
        let text = memory.assumingMemoryBound(to: CChar.self)
        message.withCString { text.update(from: $0, count: message.utf8.count + 1) }
        table.pointee.zErrMsg = text
    }
}
