import Foundation
import GRDB
import Kith

extension NotesStore {
    /// The title of the note that a mended row belongs to, as itself or as its attachment; `nil` if there is no such note.
    /// - Throws: ``NotesError``.
    package func title(ofMended mending: Mending) throws(NotesError) -> String? {
        try NotesError.mapping {
            try database.read { db in
                let id = Data(mending.row.bytes)
                let sql =
                    mending.table == NotesSchema.attachmentTable
                    ? "SELECT title FROM note WHERE id = (SELECT note FROM attachment WHERE id = ?)" : "SELECT title FROM note WHERE id = ?"
                return try Row.fetchOne(db, sql: sql, arguments: [id]).flatMap { String.fromDatabaseValue($0[0]) }
            }
        }
    }
}
