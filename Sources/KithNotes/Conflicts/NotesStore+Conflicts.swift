import Foundation
import GRDB
import Kith

extension NotesStore {
    /// The fields of which several versions are kept, in all notes, last written first. Takes time in proportion to them.
    public func conflicts() throws(NotesError) -> [NoteConflict] {
        let conflicts = try NotesError.mapping { try store.conflicts() }
        var found: [NoteConflict] = []
        for conflict in conflicts {
            guard conflict.table == NotesSchema.table, let note = try note(UUID(conflict.row)),
                let conflict = NoteConflict(conflict, of: note)
            else { continue }
            found.append(conflict)
        }
        return found
    }

    /// The fields of `note` of which several versions are kept.
    public func conflicts(of note: Note) throws(NotesError) -> [NoteConflict] {
        try NotesError.mapping {
            try store.conflicts(table: NotesSchema.table, id: RowID(note.id)).compactMap { NoteConflict($0, of: note) }
        }
    }

    /// Ends `conflict` in favour of one of its versions, by its place in them. The others are given up everywhere.
    ///
    /// - Throws: ``NotesError`` with code `changedMeanwhile` if the versions are no longer these, `notFound` if the note is
    ///   gone or has no such version.
    @discardableResult
    public func keep(_ version: Int, of conflict: NoteConflict) throws(NotesError) -> Note {
        guard conflict.versions.indices.contains(version) else {
            throw NotesError(.notFound, "There is no such version; this field has \(conflict.versions.count).")
        }
        guard let note = try note(conflict.noteID), try conflicts(of: note).contains(where: conflict.isSame) else {
            throw NotesError(.changedMeanwhile, "The versions changed in the meantime. Look at them again before you choose.")
        }
        return try NotesError.mapping {
            try database.write { db in
                try store.resolve(
                    db, table: NotesSchema.table, id: RowID(note.id), column: conflict.field.rawValue,
                    keeping: conflict.versions[version].value)
                return try Self.current(note.id, db)
            }
        }
    }
}
