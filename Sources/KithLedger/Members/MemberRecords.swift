import KithCausality
import KithSQLite
import KithSync

/// The members that `kith_member` lists, whose only owner this is.
package struct MemberRecords {
    package static let sql = """
        -- The other devices of the group: what each said last that it cannot lose, and when; how many attachments it is known to have.
        CREATE TABLE IF NOT EXISTS kith_member (
            device BLOB PRIMARY KEY NOT NULL, replica BLOB, durable BLOB, added INTEGER NOT NULL, seen INTEGER NOT NULL,
            holdings INTEGER NOT NULL DEFAULT 0)
            WITHOUT ROWID;
        """

    /// Selects the replicas of members, and their devices.
    static let replicasSQL = "SELECT replica, device FROM kith_member WHERE replica NOT NULL"

    /// Selects the devices.
    static let devicesSQL = "SELECT device FROM kith_member"

    /// How many attachments a member is known to have; `nil` if the device is none.
    static func holdingCount(of device: [UInt8], _ connection: DatabaseConnection) throws -> Int? {
        let select = try connection.statement("SELECT holdings FROM kith_member WHERE device = ?")
        select.bind(1, blob: device)
        defer { select.reset() }
        return try select.step() ? select.int(0) : nil
    }

    /// A member is known to have so many attachments more.
    static func count(holdings change: Int, of device: [UInt8], _ connection: DatabaseConnection) throws {
        if change == 0 { return }
        let update = try connection.statement("UPDATE kith_member SET holdings = holdings + ?2 WHERE device = ?1")
        update.bind(1, blob: device)
        update.bind(2, change)
        try update.run()
    }

    package let ledger: RowLedger

    package init(ledger: RowLedger) {
        self.ledger = ledger
    }

    private var connection: DatabaseConnection { ledger.connection }

    package func all() throws -> [Member] {
        var members: [Member] = []
        let select = try connection.statement("SELECT device, replica, durable, added, seen FROM kith_member ORDER BY device")
        while try select.step() {
            var durable = ByteReader(select.blob(2))
            members.append(
                Member(
                    device: select.blob(0), replica: ReplicaID(bytes: select.blob(1)),
                    durable: durable.isAtEnd ? VersionVector() : try durable.vector(ledger.catalog.replicas),
                    addedMilliseconds: select.integer(3), seenMilliseconds: select.integer(4)))
        }
        return members
    }

    /// Makes `devices` the list. Who is new counts from now on, though nothing was heard of it.
    package func set(_ devices: [[UInt8]], nowMilliseconds now: Int64) throws {
        let known = try all().map(\.device)
        let delete = try connection.statement("DELETE FROM kith_member WHERE device = ?")
        for device in known where !devices.contains(device) {
            delete.bind(1, blob: device)
            try delete.run()
            try HoldingRecords(connection: connection).forget(device)
        }
        let insert = try connection.statement("INSERT OR IGNORE INTO kith_member (device, added, seen) VALUES (?1, ?2, ?2)")
        for device in devices where !known.contains(device) {
            insert.bind(1, blob: device)
            insert.bind(2, now)
            try insert.run()
        }
    }

    /// A member said who it is and what it cannot lose. The last word counts: a store that was restored holds less than it did.
    package func note(_ device: [UInt8], _ replica: ReplicaID, durable: VersionVector, nowMilliseconds now: Int64) throws {
        for dot in durable.entries { _ = try ledger.number(of: dot.replica) }
        var writer = ByteWriter()
        writer.vector(durable, &ledger.catalog.replicas)
        let update = try connection.statement("UPDATE kith_member SET replica = ?2, durable = ?3, seen = ?4 WHERE device = ?1")
        update.bind(1, blob: device)
        update.bind(2, blob: replica.bytes)
        update.bind(3, blob: writer.bytes)
        update.bind(4, now)
        try update.run()
        try Authors.note(device, is: replica, connection)
    }

    /// Nothing is known any more of what a member holds, though it was heard of: its ``Member/seenMilliseconds`` stays, and tells of that.
    package func doubt(_ member: Member) throws {
        let update = try connection.statement("UPDATE kith_member SET replica = NULL, durable = NULL, seen = ?2 WHERE device = ?1")
        update.bind(1, blob: member.device)
        update.bind(2, max(member.seenMilliseconds, member.addedMilliseconds + 1))
        try update.run()
    }
}
