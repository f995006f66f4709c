import KithCausality
import KithSQLite

/// Which replica is which device: a store that was restored goes on as another replica, and is the same device.
public struct Authors: Hashable, Sendable {
    package static let sql = """
        -- Which device each replica is, as it has proven, or said as a member; empty: this one, before it took another id.
        CREATE TABLE IF NOT EXISTS kith_author (replica BLOB PRIMARY KEY NOT NULL, device BLOB NOT NULL) WITHOUT ROWID;
        """

    private let own: ReplicaID
    private var deviceOf: [ReplicaID: [UInt8]] = [:]

    /// The keys of all others that have written here.
    package var devices: Set<[UInt8]> { Set(deviceOf.values).subtracting([[]]) }

    package init(ledger: RowLedger) throws {
        own = try VectorRecords(connection: ledger.connection).replica(ledger.catalog)
        // What is noted of a member is newer than nothing: stores made before there were authors have that alone.
        let select = try ledger.connection.statement(
            "\(MemberRecords.replicasSQL) UNION ALL SELECT replica, device FROM kith_author")
        while try select.step() {
            if let replica = ReplicaID(bytes: select.blob(0)) { deviceOf[replica] = select.blob(1) }
        }
    }

    /// Who writes as `replica`.
    public subscript(replica: ReplicaID) -> Author {
        if replica == own { return .own }
        guard let device = deviceOf[replica] else { return .unknown }
        return device.isEmpty ? .own : .device(device)
    }

    /// A member said that it is `replica`, or a device that is or was a member has proven it.
    package static func note(_ device: [UInt8], is replica: ReplicaID, _ connection: DatabaseConnection) throws {
        let insert = try connection.statement(
            """
            INSERT INTO kith_author (replica, device) VALUES (?1, ?2)
            ON CONFLICT (replica) DO UPDATE SET device = excluded.device WHERE device <> excluded.device
            """)
        insert.bind(1, blob: replica.bytes)
        insert.bind(2, blob: device)
        try insert.run()
    }

    /// This store was `replica`, and is not any more.
    package static func noteOwn(_ replica: ReplicaID, _ connection: DatabaseConnection) throws {
        let insert = try connection.statement("INSERT OR IGNORE INTO kith_author (replica, device) VALUES (?, x'')")
        insert.bind(1, blob: replica.bytes)
        try insert.run()
    }
}
