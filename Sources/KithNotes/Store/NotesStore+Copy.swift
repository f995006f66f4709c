import GRDB
import Kith

extension NotesStore {
    /// Writes what the store holds, attachments aside, into a new file at `path`, even if its own file was deleted while it is open.
    package func copy(to path: String) throws(NotesError) {
        try NotesError.mapping { try database.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) } }
    }
}
