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
                    replica TEXT NOT NULL,
                    held    INTEGER NOT NULL DEFAULT 0,
                    deleted INTEGER NOT NULL DEFAULT 0,
                    deletedSince INTEGER NOT NULL DEFAULT 0
                );
                CREATE TABLE IF NOT EXISTS local_folder_file (
                    folder    INTEGER NOT NULL,
                    note      BLOB NOT NULL,
                    path      TEXT NOT NULL,
                    key       TEXT NOT NULL,
                    hash      BLOB NOT NULL,
                    stamp     TEXT,
                    gone      INTEGER,
                    title     TEXT NOT NULL,
                    body      TEXT NOT NULL,
                    color     INTEGER NOT NULL,
                    tags      TEXT NOT NULL,
                    links     TEXT NOT NULL,
                    hasID     INTEGER NOT NULL,
                    intent    INTEGER,
                    pending   BLOB,
                    PRIMARY KEY (folder, note)
                );
                CREATE INDEX IF NOT EXISTS local_folder_file_path ON local_folder_file (folder, path);
                CREATE INDEX IF NOT EXISTS local_folder_file_key ON local_folder_file (folder, key);
                CREATE INDEX IF NOT EXISTS local_folder_file_gone ON local_folder_file (folder, gone) WHERE gone IS NOT NULL;
                CREATE INDEX IF NOT EXISTS local_folder_file_intent ON local_folder_file (folder) WHERE intent IS NOT NULL;
                CREATE TABLE IF NOT EXISTS local_folder_former (
                    folder    INTEGER NOT NULL,
                    note      BLOB NOT NULL,
                    path      TEXT NOT NULL,
                    since     INTEGER NOT NULL,
                    title     TEXT NOT NULL,
                    body      TEXT NOT NULL,
                    color     INTEGER NOT NULL,
                    tags      TEXT NOT NULL,
                    links     TEXT NOT NULL,
                    PRIMARY KEY (folder, note, path)
                );
                CREATE TABLE IF NOT EXISTS local_folder_left (
                    folder INTEGER NOT NULL,
                    path   TEXT NOT NULL,
                    words  TEXT NOT NULL,
                    PRIMARY KEY (folder, path)
                );
                CREATE TABLE IF NOT EXISTS local_folder_attachment (
                    folder  INTEGER NOT NULL,
                    path    TEXT NOT NULL,
                    content TEXT NOT NULL,
                    name    TEXT NOT NULL,
                    stamp   TEXT,
                    PRIMARY KEY (folder, path)
                );
                """)
        // Version 0.1.0 had no such columns. `store` is the place of the database file.
        let columns = Set(try db.columns(in: "local_folder").map(\.name))
        for (name, type) in [("tagsFolders", "INTEGER NOT NULL DEFAULT 0"), ("store", "TEXT")] where !columns.contains(name) {
            try db.execute(sql: "ALTER TABLE local_folder ADD COLUMN \(name) \(type)")
        }
    }

    /// Forgets all files, so that they are looked at as if they were new.
    func removeAll(_ db: Database) throws {
        for table in ["local_folder_file", "local_folder_former", "local_folder_left", "local_folder_attachment"] {
            try db.execute(sql: "DELETE FROM \(table) WHERE folder = ?", arguments: [folder])
        }
    }

    // MARK: Files

    private static let columns = "note, path, hash, stamp, gone, title, body, color, tags, links, hasID, intent, pending"

    private func record(_ row: Row) -> FolderRecord? {
        guard let note = UUID.fromDatabaseValue(row[0]) else { return nil }
        return FolderRecord(
            path: row[1], note: note, hash: Array(row[2] as Data), stamp: (row[3] as String?).flatMap { FileStamp($0) },
            goneMilliseconds: row[4], title: row[5], body: row[6], color: row[7], tags: NoteTags(json: row[8]),
            links: (row[9] as String).split(separator: "\n").map(String.init), hasID: row[10],
            intent: (row[11] as Int64?).flatMap { FolderRecord.Intent(rawValue: $0) }, pending: Array((row[12] as Data?) ?? Data()))
    }

    func record(of note: UUID, _ db: Database) throws -> FolderRecord? {
        let select = try db.cachedStatement(sql: "SELECT \(Self.columns) FROM local_folder_file WHERE folder = ? AND note = ?")
        return try Row.fetchOne(select, arguments: [folder, note.data]).flatMap(record)
    }

    /// Those with which something was begun and not completed.
    func begun(_ db: Database) throws -> [FolderRecord] {
        let sql = "SELECT \(Self.columns) FROM local_folder_file WHERE folder = ? AND intent IS NOT NULL ORDER BY path, note"
        return try Row.fetchAll(db, sql: sql, arguments: [folder]).compactMap(record)
    }

    func save(_ record: FolderRecord, _ db: Database) throws {
        let values = Array(repeating: "?", count: 15).joined(separator: ", ")
        let statement = try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO local_folder_file (folder, key, \(Self.columns)) VALUES (\(values))")
        try statement.execute(arguments: [
            folder, FileName.key(record.path), record.note.data, record.path, Data(record.hash), record.stamp?.text,
            record.goneMilliseconds, record.title, record.body, record.color, try record.tags.json(),
            record.links.joined(separator: "\n"), record.hasID, record.intent?.rawValue,
            record.pending.isEmpty ? nil : Data(record.pending),
        ])
    }

    func remove(_ note: UUID, _ db: Database) throws {
        for table in ["local_folder_file", "local_folder_former"] {
            try db.execute(sql: "DELETE FROM \(table) WHERE folder = ? AND note = ?", arguments: [folder, note.data])
        }
    }

    func count(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT count(*) FROM local_folder_file WHERE folder = ?", arguments: [folder]) ?? 0
    }

    func hasKey(_ key: String, _ db: Database) throws -> Bool {
        let statement = try db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM local_folder_file WHERE folder = ? AND key = ?)")
        return try Bool.fetchOne(statement, arguments: [folder, key]) ?? false
    }

    // MARK: What is looked at

    private static let rowColumns = "note, path, hash, stamp, gone, intent IS NOT NULL"

    private func known(_ row: Row) -> KnownFile? {
        guard let note = UUID.fromDatabaseValue(row[0]) else { return nil }
        return KnownFile(
            note: note, path: row[1], hash: Array(row[2] as Data), stamp: (row[3] as String?).flatMap { FileStamp($0) },
            goneMilliseconds: row[4], isBegun: row[5])
    }

    /// All files, in the order of their paths.
    func forEachKnown(_ db: Database, _ body: (KnownFile) throws -> Void) throws {
        let sql = "SELECT \(Self.rowColumns) FROM local_folder_file WHERE folder = ? ORDER BY path, gone IS NOT NULL, note"
        let rows = try Row.fetchCursor(db, sql: sql, arguments: [folder])
        while let row = try rows.next() { if let known = known(row) { try body(known) } }
    }

    func known(at path: String, _ db: Database) throws -> [KnownFile] {
        let sql = "SELECT \(Self.rowColumns) FROM local_folder_file WHERE folder = ? AND path = ? ORDER BY gone IS NOT NULL, note"
        return try Row.fetchAll(db, sql: sql, arguments: [folder, path]).compactMap(known)
    }

    /// The same, and those in the folder of this path.
    func known(atOrBelow path: String, _ db: Database) throws -> [KnownFile] {
        // The character after the slash is the zero.
        let sql = "SELECT \(Self.rowColumns) FROM local_folder_file WHERE folder = ? AND (path = ? OR path > ? AND path < ?)"
        return try Row.fetchAll(db, sql: sql, arguments: [folder, path, "\(path)/", "\(path)0"]).compactMap(known)
    }

    func path(of note: UUID, _ db: Database) throws -> String? {
        let sql = "SELECT path FROM local_folder_file WHERE folder = ? AND note = ?"
        return try String.fetchOne(db, sql: sql, arguments: [folder, note.data])
    }

    /// Where files are missing.
    func pathsGone(_ db: Database) throws -> [String] {
        let sql = "SELECT path FROM local_folder_file WHERE folder = ? AND gone IS NOT NULL"
        return try String.fetchAll(db, sql: sql, arguments: [folder])
    }

    func setGone(_ note: UUID, _ milliseconds: Int64?, _ db: Database) throws {
        try db.cachedStatement(sql: "UPDATE local_folder_file SET gone = ? WHERE folder = ? AND note = ?")
            .execute(arguments: [milliseconds, folder, note.data])
    }

    func setStamp(_ note: UUID, _ stamp: FileStamp?, _ db: Database) throws {
        try db.cachedStatement(sql: "UPDATE local_folder_file SET stamp = ?, gone = NULL WHERE folder = ? AND note = ?")
            .execute(arguments: [stamp?.text, folder, note.data])
    }
}

extension FolderTables {
    // MARK: What is to be written

    /// The notes that may say something else than their files, or have none; and those with files that are gone, or are not in the folder
    /// any more.
    func unequal(tag: String?, _ db: Database) throws -> [UUID] {
        let isInFolder = Self.isInFolder(tag)
        let sql = """
            SELECT n.id FROM note n LEFT JOIN local_folder_file f ON f.folder = :folder AND f.note = n.id
            WHERE \(isInFolder) AND (f.note IS NULL OR NOT f.hasID OR f.title IS NOT n.title OR f.color IS NOT n.color
                OR f.tags IS NOT n.tags OR f.body IS NOT n.body OR f.links <> '' OR n.id IN (SELECT note FROM attachment))
            UNION
            SELECT f.note FROM local_folder_file f LEFT JOIN note n ON n.id = f.note
            WHERE f.folder = :folder AND (n.id IS NULL OR NOT \(isInFolder))
            ORDER BY 1
            """
        let arguments: StatementArguments = tag.map { ["folder": folder, "tag": $0] } ?? ["folder": folder]
        return try Row.fetchAll(db, sql: sql, arguments: arguments).compactMap { UUID.fromDatabaseValue($0[0]) }
    }

    /// How many notes say something else than their files, or have none. Notes with attachments count if they have no file, since what
    /// their files say follows from more than the note.
    func behind(tag: String?, _ db: Database) throws -> Int {
        let sql = """
            SELECT count(*) FROM note n LEFT JOIN local_folder_file f ON f.folder = :folder AND f.note = n.id
            WHERE \(Self.isInFolder(tag)) AND (f.note IS NULL OR f.title IS NOT n.title OR f.color IS NOT n.color OR f.tags IS NOT n.tags
                OR f.links = '' AND f.body IS NOT n.body AND NOT EXISTS (SELECT 1 FROM attachment WHERE note = n.id))
                AND instr(CAST(n.title || n.body AS BLOB), x'00') = 0
            """
        return try Int.fetchOne(db, sql: sql, arguments: tag.map { ["folder": folder, "tag": $0] } ?? ["folder": folder]) ?? 0
    }

    private static func isInFolder(_ tag: String?) -> String {
        tag == nil ? "TRUE" : "(json_valid(n.tags) AND EXISTS (SELECT 1 FROM json_each(n.tags) WHERE value = :tag))"
    }

    // MARK: Files that are left

    func left(_ db: Database) throws -> [FolderReport.LeftFile] {
        let sql = "SELECT path, words FROM local_folder_left WHERE folder = ? ORDER BY path"
        return try Row.fetchAll(db, sql: sql, arguments: [folder]).map { FolderReport.LeftFile(path: $0[0], words: $0[1]) }
    }

    /// - Parameter paths: what was looked at; `nil` for everything.
    func setLeft(_ files: [FolderReport.LeftFile], of paths: Set<FolderPath>?, _ db: Database) throws {
        if let paths {
            for path in paths {
                try db.execute(sql: "DELETE FROM local_folder_left WHERE folder = ? AND path = ?", arguments: [folder, path.text])
            }
        } else {
            try db.execute(sql: "DELETE FROM local_folder_left WHERE folder = ?", arguments: [folder])
        }
        for file in files {
            try db.execute(
                sql: "INSERT OR REPLACE INTO local_folder_left (folder, path, words) VALUES (?, ?, ?)",
                arguments: [folder, file.path, file.words])
        }
    }

    // MARK: The brake

    func held(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT held FROM local_folder WHERE number = ?", arguments: [folder]) ?? 0
    }

    func setHeld(_ count: Int, _ db: Database) throws {
        try db.execute(sql: "UPDATE local_folder SET held = ? WHERE number = ? AND held <> ?", arguments: [count, folder, count])
    }

    /// How many notes were deleted since a moment ago.
    func deletedLately(since milliseconds: Int64, _ db: Database) throws -> Int {
        let sql = "SELECT deleted FROM local_folder WHERE number = ? AND deletedSince >= ?"
        return try Int.fetchOne(db, sql: sql, arguments: [folder, milliseconds]) ?? 0
    }

    func addDeleted(_ count: Int, lately: Int, _ now: Int64, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE local_folder SET deleted = ?, deletedSince = CASE WHEN ? = 0 THEN ? ELSE deletedSince END WHERE number = ?",
            arguments: [lately + count, lately, now, folder])
    }

    // MARK: Attachments

    /// Where an attachment is.
    func path(of attachment: WholeNote.Attachment, _ db: Database) throws -> String? {
        let sql = "SELECT path FROM local_folder_attachment WHERE folder = ? AND content = ? AND name = ? ORDER BY path"
        return try String.fetchOne(db, sql: sql, arguments: [folder, attachment.content.description, attachment.name])
    }

    /// What lies at a path.
    func attachment(at path: String, _ db: Database) throws -> KnownAttachment? {
        let sql = "SELECT content, name, stamp FROM local_folder_attachment WHERE folder = ? AND path = ?"
        return try Row.fetchOne(db, sql: sql, arguments: [folder, path]).map { row in
            KnownAttachment(content: row[0], name: row[1], stamp: (row[2] as String?).flatMap { FileStamp($0) })
        }
    }

    /// All of them by path, in one reading.
    func attachments(_ db: Database) throws -> [FolderPath: KnownAttachment] {
        let sql = "SELECT path, content, name, stamp FROM local_folder_attachment WHERE folder = ?"
        var known: [FolderPath: KnownAttachment] = [:]
        let rows = try Row.fetchCursor(db, sql: sql, arguments: [folder])
        while let row = try rows.next() {
            known[FolderPath(row[0])] = KnownAttachment(content: row[1], name: row[2], stamp: (row[3] as String?).flatMap { FileStamp($0) })
        }
        return known
    }

    func save(_ content: AttachmentID, _ name: String, _ stamp: FileStamp?, _ path: String, _ db: Database) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO local_folder_attachment (folder, path, content, name, stamp) VALUES (?, ?, ?, ?, ?)",
            arguments: [folder, path, content.description, name, stamp?.text])
    }

    /// All notes that have a file.
    func notes(_ db: Database) throws -> [UUID] {
        let sql = "SELECT note FROM local_folder_file WHERE folder = ? ORDER BY note"
        return try Row.fetchAll(db, sql: sql, arguments: [folder]).compactMap { UUID.fromDatabaseValue($0[0]) }
    }

    /// Notes of which the file contains one of these words.
    func notes(containing words: [String], _ db: Database) throws -> [UUID] {
        let condition = words.map { _ in "instr(body, ?) > 0 OR instr(links, ?) > 0" }.joined(separator: " OR ")
        let sql = "SELECT note FROM local_folder_file WHERE folder = ? AND (\(condition)) ORDER BY note"
        let arguments = StatementArguments([folder.databaseValue] + words.flatMap { [$0.databaseValue, $0.databaseValue] })
        return try Row.fetchAll(db, sql: sql, arguments: arguments).compactMap { UUID.fromDatabaseValue($0[0]) }
    }
}

extension UUID {
    /// The 16 bytes, as the notes' tables have them.
    var data: Data { withUnsafeBytes(of: uuid) { Data($0) } }
}
