import GRDBSQLite
import KithCausality

/// Reads the vector of a store through a connection of its own. Not for use by two threads at once.
final class VectorReader {
    private let connection: Connection
    private var dataVersion: Int?

    init(path: String) throws {
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let handle else {
            let error = SQLiteError(handle, code: code)
            sqlite3_close_v2(handle)
            throw error
        }
        connection = Connection(handle)
    }

    deinit {
        connection.finalizeStatements()
        sqlite3_close_v2(connection.handle)
    }

    /// The vector, if anybody has committed since the last call.
    func vectorIfChanged() throws -> VersionVector? {
        let pragma = try connection.statement("PRAGMA data_version")
        let version = try pragma.step() ? pragma.int(0) : 0
        pragma.reset()
        if version == dataVersion { return nil }
        let select = try connection.statement("SELECT id, sequence FROM kith_replica WHERE sequence > 0")
        defer { select.reset() }
        var vector = VersionVector()
        while try select.step() {
            guard let replica = ReplicaID(bytes: select.blob(0)) else { continue }
            vector.insert(Dot(replica: replica, sequence: UInt64(bitPattern: select.integer(1))))
        }
        dataVersion = version
        return vector
    }
}
