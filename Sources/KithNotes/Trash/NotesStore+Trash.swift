import Foundation
import GRDB
import Kith

extension NotesStore {
    /// The notes that can be restored, most recently deleted first: those that were deleted in the last
    /// ``SyncedDatabase/trashMilliseconds``.
    public func trash() throws(NotesError) -> [TrashedNote] {
        try NotesError.mapping {
            let authors = try store.authors()
            return try store.trash(table: NotesSchema.table, max: .max).compactMap { TrashedNote($0, authors) }
        }
    }

    /// The notes in the trash that a person means, as in ``find(_:)``.
    ///
    /// - Throws: ``NotesError`` with code `notFound`, or `ambiguous` with the notes that could be meant.
    public func findInTrash(_ references: [String]) throws(NotesError) -> [Note] {
        let notes = try trash().map(\.note)
        var found: [Note] = []
        for reference in references.map(NoteReference.init) {
            let note = try reference.theOnly(of: notes.filter(reference.matches), in: "the trash")
            if !found.contains(where: { $0.id == note.id }) { found.append(note) }
        }
        return found
    }

    /// Brings a note back as it was last shown, here and on all devices.
    ///
    /// - Throws: ``NotesError`` with code `notFound` if it is not in the trash.
    @discardableResult
    public func restore(_ id: UUID) throws(NotesError) -> Note {
        try NotesError.mapping {
            let row = try store.trash(table: NotesSchema.table, max: .max).first { $0.id == RowID(id) }
            try store.restore(table: NotesSchema.table, id: RowID(id))
            if let row { try restoreAttachments(of: id, deletedBy: row.deletions) }
            return try database.read { db in try Self.current(id, db) }
        }
    }

    /// Empties the trash of this machine: what is in it cannot be restored here any more.
    ///
    /// - Returns: how many notes that were.
    @discardableResult
    public func emptyTrash() throws(NotesError) -> Int {
        try NotesError.mapping {
            try store.emptyTrash(table: NotesSchema.attachmentTable)
            return try store.emptyTrash(table: NotesSchema.table)
        }
    }
}
