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
        let (note, current) = try current(conflict)
        if current.lines != nil { return try keep(lines: conflict.versions[version].text, of: current) }
        return try NotesError.mapping {
            try database.write { db in
                try step("Choose", [note.title], db)
                try store.resolve(
                    db, table: NotesSchema.table, id: RowID(note.id), column: conflict.field.rawValue,
                    keeping: conflict.versions[version].value)
                return try Self.current(note.id, db)
            }
        }
    }

    /// Ends `conflict`, which is of lines of the body, with the merge as it stands there.
    ///
    /// - Throws: as ``keep(_:of:)``.
    @discardableResult
    public func keepMerged(_ conflict: NoteConflict) throws(NotesError) -> Note {
        let (_, current) = try current(conflict)
        guard let lines = current.lines else {
            throw NotesError(.notFound, "The \(conflict.field.rawValue) is not merged. Choose a version.")
        }
        return try keep(lines: lines.shown, of: current)
    }

    private func keep(lines text: String, of current: NoteConflict) throws(NotesError) -> Note {
        try NotesError.mapping {
            try database.write { db in
                try step("Choose", try titles([current.noteID], db), db)
                try store.resolveTextConflict(db, current.conflict, keeping: text)
                return try Self.current(current.noteID, db)
            }
        }
    }

    /// The same conflict as it is now.
    private func current(_ conflict: NoteConflict) throws(NotesError) -> (Note, NoteConflict) {
        guard let note = try note(conflict.noteID), let current = try conflicts(of: note).first(where: conflict.isSame) else {
            throw NotesError(.changedMeanwhile, "The versions changed in the meantime. Look at them again before you choose.")
        }
        return (note, current)
    }
}
