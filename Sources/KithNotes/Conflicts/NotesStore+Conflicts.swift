import Foundation
import GRDB
import Kith

extension NotesStore {
    /// The fields of which several versions are kept, in all notes, last changed first.
    public func conflicts() throws(NotesError) -> [NoteConflict] {
        var conflicts: [NoteConflict] = []
        for note in try list() { conflicts += try self.conflicts(of: note) }
        return conflicts
    }

    /// The fields of `note` of which several versions are kept.
    public func conflicts(of note: Note) throws(NotesError) -> [NoteConflict] {
        try NotesError.mapping {
            let alternatives = try store.alternatives(table: NotesSchema.table, id: RowID(note.id))
            // Bodies and tags merge, and times are not worth a question.
            return [NoteField.title, .color].compactMap { field in
                let kept = alternatives.filter { $0.column == field.rawValue }
                return NoteConflict(note, field, kept)
            }
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
        guard let note = try note(conflict.noteID), try conflicts(of: note).contains(conflict) else {
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

extension NoteConflict {
    /// `nil` if all that is kept says what is shown.
    fileprivate init?(_ note: Note, _ field: NoteField, _ kept: [Alternative]) {
        let shown: Value
        switch field {
        case .title: shown = .text(note.title)
        default: shown = .integer(note.color.rawValue)
        }
        var versions = [Version(text: field.text(of: shown), value: shown)]
        for alternative in kept where !versions.contains(where: { $0.value == alternative.value }) {
            versions.append(Version(text: field.text(of: alternative.value), value: alternative.value))
        }
        guard versions.count > 1 else { return nil }
        self.init(noteID: note.id, title: note.title, field: field, versions: versions)
    }
}

extension NoteField {
    fileprivate func text(of value: Value) -> String {
        switch value {
        case .text(let bytes): String(decoding: bytes, as: UTF8.self)
        case .integer(let number): self == .color ? NoteColor(rawValue: number).name : String(number)
        case .real(let pattern): String(Double(bitPattern: pattern))
        case .blob(let bytes): "\(bytes.count) bytes"
        case .null: ""
        }
    }
}
