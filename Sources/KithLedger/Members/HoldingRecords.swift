import KithSQLite
import KithSync

/// What members said of the attachments that they have whole, as `kith_holding` lists it, whose only owner this is.
package struct HoldingRecords {
    package static let sql = """
        -- Attachments that members said they have whole.
        CREATE TABLE IF NOT EXISTS kith_holding (
            device BLOB NOT NULL, attachment BLOB NOT NULL, PRIMARY KEY (device, attachment)) WITHOUT ROWID;
        """

    package let connection: DatabaseConnection

    package init(connection: DatabaseConnection) {
        self.connection = connection
    }

    /// The members that hold an attachment, by device id.
    package func holders(of id: AttachmentID) throws -> [[UInt8]] {
        let select = try connection.statement(
            """
            SELECT device FROM (\(MemberRecords.devicesSQL)) AS member
            WHERE EXISTS (SELECT 1 FROM kith_holding WHERE device = member.device AND attachment = ?) ORDER BY device
            """)
        select.bind(1, blob: id.bytes)
        var devices: [[UInt8]] = []
        while try select.step() { devices.append(select.blob(0)) }
        return devices
    }

    // What these do is counted with the member, so that it takes time in proportion to what is given alone. Of a device that is no member
    // nothing is noted.

    /// A member has these, too. Of more than it may have, some are not noted.
    package func add(_ ids: some Sequence<AttachmentID>, of device: [UInt8]) throws {
        guard let count = try MemberRecords.holdingCount(of: device, connection) else { return }
        let insert = try connection.statement("INSERT OR IGNORE INTO kith_holding (attachment, device) VALUES (?, ?)")
        var added = 0
        for id in ids where count + added < AttachmentLimits.holdingsMax {
            added += try run(insert, id, device)
        }
        try MemberRecords.count(holdings: added, of: device, connection)
    }

    /// A member has these no longer.
    package func remove(_ ids: some Sequence<AttachmentID>, of device: [UInt8]) throws {
        let delete = try connection.statement("DELETE FROM kith_holding WHERE attachment = ? AND device = ?")
        var removed = 0
        for id in ids { removed += try run(delete, id, device) }
        try MemberRecords.count(holdings: -removed, of: device, connection)
    }

    /// A member has none but these. Looks at no more than `max` of what it had, in the order of ids.
    ///
    /// - Returns: how far it has come, to go on after that; `nil` if that is all.
    package func removeOthers(
        than ids: Set<AttachmentID>, of device: [UInt8], after last: AttachmentID?, max limit: Int
    ) throws -> AttachmentID? {
        let select = try connection.statement(
            "SELECT attachment FROM kith_holding WHERE device = ?1 AND attachment > ?2 ORDER BY attachment LIMIT ?3")
        select.bind(1, blob: device)
        select.bind(2, blob: last?.bytes ?? [])
        select.bind(3, limit)
        var known: [AttachmentID] = []
        while try select.step() {
            if let id = AttachmentID(bytes: select.blob(0)) { known.append(id) }
        }
        try remove(known.filter { !ids.contains($0) }, of: device)
        return known.count < limit ? nil : known.last
    }

    /// A device is no member any more.
    package func forget(_ device: [UInt8]) throws {
        let delete = try connection.statement("DELETE FROM kith_holding WHERE device = ?")
        delete.bind(1, blob: device)
        try delete.run()
    }

    /// - Returns: how many rows that has changed.
    private func run(_ statement: PreparedStatement, _ id: AttachmentID, _ device: [UInt8]) throws -> Int {
        statement.bind(1, blob: id.bytes)
        statement.bind(2, blob: device)
        try statement.run()
        return connection.changedRowCount
    }
}
