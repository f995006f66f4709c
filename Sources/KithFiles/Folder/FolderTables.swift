import Foundation
import GRDB
import Kith
import KithNotes

/// The tables of folders: of this machine alone, and not synchronised.
struct FolderTables {
    let folder: Int64

    /// Makes the tables if they are not there yet.
    static func prepare(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS local_folder (
                    number  INTEGER PRIMARY KEY,
                    path    TEXT NOT NULL UNIQUE,
                    mark    TEXT NOT NULL,
                    tag     TEXT,
                    replica TEXT NOT NULL
                );
                CREATE TABLE IF NOT EXISTS local_folder_file (
                    folder    INTEGER NOT NULL,
                    note      BLOB NOT NULL,
                    path      TEXT NOT NULL,
                    hash      BLOB NOT NULL,
                    title     TEXT NOT NULL,
                    body      TEXT NOT NULL,
                    color     INTEGER NOT NULL,
                    tags      TEXT NOT NULL,
                    links     TEXT NOT NULL,
                    pending   BLOB,
                    temporary TEXT,
                    PRIMARY KEY (folder, note)
                );
                CREATE TABLE IF NOT EXISTS local_folder_attachment (
                    folder  INTEGER NOT NULL,
                    path    TEXT NOT NULL,
                    content TEXT NOT NULL,
                    name    TEXT NOT NULL,
                    PRIMARY KEY (folder, path)
                );
                """)
    }

    func records(_ db: Database) throws -> [FolderRecord] {
        let sql = "SELECT note, path, hash, title, body, color, tags, links, pending, temporary FROM local_folder_file WHERE folder = ?"
        return try Row.fetchAll(db, sql: sql, arguments: [folder]).compactMap { row in
            guard let note = UUID.fromDatabaseValue(row[0]) else { return nil }
            let intent = (row[9] as String?).map { FolderRecord.Intent(bytes: Array((row[8] as Data?) ?? Data()), temporary: $0) }
            return FolderRecord(
                path: row[1], note: note, hash: Array(row[2] as Data), title: row[3], body: row[4], color: row[5],
                tags: (row[6] as String).split(separator: " ").map(String.init),
                links: (row[7] as String).split(separator: "\n").map(String.init), intent: intent)
        }
    }

    func save(_ record: FolderRecord, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO local_folder_file (folder, note, path, hash, title, body, color, tags, links, pending, temporary)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                folder, record.note.data, record.path, Data(record.hash), record.title, record.body, record.color,
                record.tags.joined(separator: " "), record.links.joined(separator: "\n"), record.intent.map { Data($0.bytes) },
                record.intent?.temporary,
            ])
    }

    /// Where attachments are, by ``AttachmentFiles/key(_:)``.
    func attachments(_ db: Database) throws -> [String: String] {
        let sql = "SELECT content || ' ' || name, path FROM local_folder_attachment WHERE folder = ?"
        return Dictionary(try Row.fetchAll(db, sql: sql, arguments: [folder]).map { ($0[0], $0[1]) }) { first, _ in first }
    }

    func save(_ attachment: WholeNote.Attachment, _ path: String, _ db: Database) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO local_folder_attachment (folder, path, content, name) VALUES (?, ?, ?, ?)",
            arguments: [folder, path, attachment.content.description, attachment.name])
    }

    func remove(_ note: UUID, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM local_folder_file WHERE folder = ? AND note = ?", arguments: [folder, note.data])
    }
}

extension UUID {
    /// The 16 bytes, as the notes' tables have them.
    var data: Data { withUnsafeBytes(of: uuid) { Data($0) } }
}
