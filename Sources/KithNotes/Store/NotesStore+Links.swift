import Foundation
import GRDB
import Kith

extension NotesStore {
    /// The note with this very title; of several, the one that changed last. `nil` if there is none.
    ///
    /// - Throws: ``NotesError`` if the notes cannot be read.
    public func id(titled title: String) throws(NotesError) -> UUID? {
        try NotesError.mapping {
            try database.read { db in
                let sql = "SELECT id FROM note WHERE title = ? ORDER BY updated DESC, id DESC LIMIT 1"
                return try Row.fetchOne(db, sql: sql, arguments: [title]).flatMap { UUID.fromDatabaseValue($0[0]) }
            }
        }
    }

    /// The ids and titles of all notes that have a title, those that changed last first.
    package func titles() throws(NotesError) -> [(id: UUID, title: String)] {
        try NotesError.mapping {
            try database.read { db in
                let sql = "SELECT id, title FROM note WHERE title <> '' ORDER BY updated DESC, id DESC"
                return try Row.fetchAll(db, sql: sql).compactMap { row in UUID.fromDatabaseValue(row[0]).map { ($0, row[1]) } }
            }
        }
    }

    /// What titles have in common that differ in case and accents alone, as ``find(_:)`` sees them.
    package static func folded(_ title: String) -> String { TextFolding.fold(title) }

    /// Notes whose text has a link to a note by its title, as `[[Title]]` or `[[Title|words]]`; without their bodies.
    ///
    /// - Throws: ``NotesError`` if the notes cannot be read.
    public func notes(linkingTo note: Note) throws(NotesError) -> [Note] {
        if note.title.isEmpty || readOnlyReason != nil { return [] }
        try updateSearchIndex()
        let match = "body : " + SearchText.Term(text: note.title, isExact: true).match
        return try NotesError.mapping {
            try database.read { db in
                let sql = """
                    SELECT \(Note.selectionWithoutBody) FROM note WHERE id IN (\(SearchIndex.idsSQL)) AND id <> ?
                    AND (instr(body, '[[' || ? || ']]') > 0 OR instr(body, '[[' || ? || '|') > 0)
                    ORDER BY title, id LIMIT \(Self.linksMax)
                    """
                return try Row.fetchAll(db, sql: sql, arguments: [match, Data(note.id.bytes), note.title, note.title])
                    .compactMap(Note.init(row:))
            }
        }
    }

    /// More links than these to one note are not listed.
    private static let linksMax = 100

    /// The note of a day, which is the same on all machines, also if several make it before they meet: then both texts are in it. It is made
    /// if it is not there, and comes back if it was deleted.
    ///
    /// - Parameter day: as `2026-11-24`, which becomes the title.
    /// - Throws: as ``add(title:body:color:tags:)``, and `valueRejected` if the calendar has no such day.
    public func note(ofDay day: String) throws(NotesError) -> Note {
        if let note = try noteThere(ofDay: day) { return note }
        let note = try newNote(ofDay: day)
        _ = try insert([WholeNote(note)], isStep: true)
        guard let made = try self.note(note.id) else {
            throw NotesError(.notFound, "The note of \(day) was deleted as soon as it was made.")
        }
        return made
    }

    /// As ``note(ofDay:)``, but `nil` if the note was never made.
    public func noteThere(ofDay day: String) throws(NotesError) -> Note? {
        let id = try Self.id(ofDay: day)
        if let note = try note(id) { return note }
        return try trash().contains(where: { $0.id == id }) ? try restore(id) : nil
    }

    /// What ``note(ofDay:)`` makes, for an editor: it is in no store.
    public func newNote(ofDay day: String) throws(NotesError) -> Note {
        let now = options.nowMilliseconds()
        return Note(id: try Self.id(ofDay: day), title: day, createdMilliseconds: now, updatedMilliseconds: now)
    }

    private static func id(ofDay day: String) throws(NotesError) -> UUID {
        guard day.utf8.count == "2026-11-24".utf8.count, SearchText.day(day, Calendar(identifier: .gregorian)) != nil else {
            throw NotesError(.valueRejected, "\u{201C}\(day.prefix(80))\u{201D} is no day. Write it like 2026-11-24.")
        }
        return try NotesError.mapping { UUID(try RowID(table: "day", key: .text(day))) }
    }

    /// The attachment with this id; `nil` if there is none.
    ///
    /// - Throws: ``NotesError`` if the notes cannot be read.
    public func attachment(_ id: UUID) throws(NotesError) -> NoteAttachment? {
        try NotesError.mapping {
            try database.read { db in
                let sql = "SELECT \(NoteAttachment.selection) FROM attachment WHERE id = ?"
                return try Row.fetchOne(db, sql: sql, arguments: [Data(id.bytes)]).flatMap { NoteAttachment(row: $0, in: store) }
            }
        }
    }
}
