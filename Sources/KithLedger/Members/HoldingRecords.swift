import KithSQLite
import KithSync

/// What members said of the attachments that they have whole, as `kith_holding` lists it, whose only owner this is.
package struct HoldingRecords {
    package static let sql = """
        -- Attachments that members said they have whole.
        CREATE TABLE IF NOT EXISTS kith_holding (
            attachment BLOB NOT NULL, device BLOB NOT NULL, PRIMARY KEY (attachment, device)) WITHOUT ROWID;
        """

    package let connection: DatabaseConnection

    package init(connection: DatabaseConnection) {
        self.connection = connection
    }

    /// The members that hold an attachment, by device id.
    package func holders(of id: AttachmentID) throws -> [[UInt8]] {
        let select = try connection.statement("SELECT device FROM kith_holding WHERE attachment = ? ORDER BY device")
        select.bind(1, blob: id.bytes)
        var devices: [[UInt8]] = []
        while try select.step() { devices.append(select.blob(0)) }
        return devices
    }

    /// Takes in what a member said. Of a device that is no member nothing is noted.
    package func note(_ news: HoldingNews, of device: [UInt8]) throws {
        guard try MemberRecords.isMember(device, connection) else { return }
        var known = try known(to: device)
        if news.replacesAll {
            for id in known.subtracting(news.added) { try remove(id, device) }
            known.formIntersection(news.added)
        }
        for id in news.removed where known.remove(id) != nil { try remove(id, device) }
        let insert = try connection.statement("INSERT INTO kith_holding (attachment, device) VALUES (?, ?)")
        for id in news.added.sorted() where known.count < AttachmentLimits.holdingsMax && known.insert(id).inserted {
            insert.bind(1, blob: id.bytes)
            insert.bind(2, blob: device)
            try insert.run()
        }
    }

    /// A device is no member any more.
    package func forget(_ device: [UInt8]) throws {
        let delete = try connection.statement("DELETE FROM kith_holding WHERE device = ?")
        delete.bind(1, blob: device)
        try delete.run()
    }

    private func known(to device: [UInt8]) throws -> Set<AttachmentID> {
        let select = try connection.statement("SELECT attachment FROM kith_holding WHERE device = ?")
        select.bind(1, blob: device)
        var ids: Set<AttachmentID> = []
        while try select.step() {
            if let id = AttachmentID(bytes: select.blob(0)) { ids.insert(id) }
        }
        return ids
    }

    private func remove(_ id: AttachmentID, _ device: [UInt8]) throws {
        let delete = try connection.statement("DELETE FROM kith_holding WHERE attachment = ? AND device = ?")
        delete.bind(1, blob: id.bytes)
        delete.bind(2, blob: device)
        try delete.run()
    }
}
