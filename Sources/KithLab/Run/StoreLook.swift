import Foundation
import GRDB
import KithCausality

/// A look at a node's file from outside, at one moment; nothing is changed.
struct StoreLook: Sendable {
    /// Who the store is; `nil` before its first commit.
    var replica: ReplicaID?
    var vector: VersionVector
    /// The note that was asked for, if it is there.
    var note: Row?

    struct Row: Sendable {
        var title: String
        var color: Int64
    }

    /// An attachment that a node shows, by its name in the row and that of its content.
    struct Attachment: Sendable {
        let note: String
        let name: String
        let content: String
    }

    /// The attachments of the notes that a node shows; `nil` if they cannot be read right now.
    static func attachments(_ file: URL) -> [Attachment]? {
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(2)
        return try? DatabaseQueue(path: file.path, configuration: configuration).read { db in
            let sql = "SELECT lower(hex(note)), name, file FROM attachment WHERE note IN (SELECT id FROM note) ORDER BY note, id"
            return try GRDB.Row.fetchAll(db, sql: sql).map { Attachment(note: $0[0], name: $0[1], content: $0[2] ?? "") }
        }
    }

    /// - Returns: `nil` if there is no store yet, or it cannot be read right now.
    static func take(_ file: URL, note: String? = nil) -> StoreLook? {
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(2)
        return try? DatabaseQueue(path: file.path, configuration: configuration).read { db in
            var look = StoreLook(replica: nil, vector: VersionVector())
            let sql = "SELECT id, sequence, number IS (SELECT value FROM kith_meta WHERE name = 'self') FROM kith_replica"
            for row in try GRDB.Row.fetchAll(db, sql: sql) {
                guard let bytes: Data = row[0], let replica = ReplicaID(bytes: Array(bytes)) else { continue }
                if row[2] { look.replica = replica }
                let sequence: Int64 = row[1]
                if sequence > 0 { look.vector.insert(Dot(replica: replica, sequence: UInt64(sequence))) }
            }
            if let note {
                let id = note.filter { $0 != "-" }.uppercased()
                if let row = try GRDB.Row.fetchOne(db, sql: "SELECT title, color FROM note WHERE hex(id) = ?", arguments: [id]) {
                    look.note = Row(title: row[0], color: row[1])
                }
            }
            return look
        }
    }
}
