import Foundation
import GRDB
import KithNotes

// MARK: Names that Kith took away

/// When Kith renames a file, because its note has another title or lacks the tag of its folder, a program may have it open and save it under
/// the old name afterwards. What such a program has read is kept, so that this is a change of the note and no note of its own.
extension FolderTables {
    /// How long a program may have a file open.
    private static let formerMilliseconds: Int64 = 7 * 86_400_000
    /// Names of one note.
    private static let formerMax = 10

    /// Notes that a file gets another name.
    ///
    /// - Parameter basis: what a program may have read last in it.
    func saveFormer(_ path: String, of basis: FolderRecord, _ now: Int64, _ db: Database) throws {
        try db.execute(
            sql: """
                DELETE FROM local_folder_former WHERE folder = ? AND since NOT BETWEEN ? AND ?;
                INSERT OR REPLACE INTO local_folder_former (folder, note, path, since, title, body, color, tags, links)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);
                DELETE FROM local_folder_former WHERE folder = ? AND note = ? AND path NOT IN (
                    SELECT path FROM local_folder_former WHERE folder = ? AND note = ? ORDER BY since DESC, path LIMIT ?);
                """,
            arguments: [
                folder, now - Self.formerMilliseconds, now, folder, basis.note.data, path, now, basis.title, basis.body, basis.color,
                try basis.tags.json(), basis.links.joined(separator: "\n"), folder, basis.note.data, folder, basis.note.data,
                Self.formerMax,
            ])
    }

    /// What the file of a note was at `path`, if Kith took that name away: another file is there by now.
    func former(of record: FolderRecord, at path: String, _ now: Int64, _ db: Database) throws -> FolderRecord? {
        let sql = """
            SELECT title, body, color, tags, links FROM local_folder_former
            WHERE folder = ? AND note = ? AND path = ? AND since BETWEEN ? AND ?
            """
        let arguments: StatementArguments = [folder, record.note.data, path, now - Self.formerMilliseconds, now]
        return try Row.fetchOne(db, sql: sql, arguments: arguments).map { row in
            FolderRecord(
                path: path, note: record.note, hash: [], title: row[0], body: row[1], color: row[2], tags: NoteTags(json: row[3]),
                links: (row[4] as String).split(separator: "\n").map(String.init), hasID: record.hasID)
        }
    }
}
