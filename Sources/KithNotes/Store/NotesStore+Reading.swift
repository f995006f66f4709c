import Foundation
import GRDB
import Kith

extension NotesStore {
    /// The notes that `query` asks for.
    ///
    /// - Throws: ``NotesError`` if the notes cannot be read.
    public func list(_ query: NoteQuery = NoteQuery()) throws(NotesError) -> [Note] {
        guard let text = query.text, text.usesIndex else { return try fetch(query, besides: []) }
        let words = text.terms.map(\.text)
        let kept = text.filters.isEmpty && !words.isEmpty ? try notes(keeping: words) : []
        if readOnlyReason == nil {
            try updateSearchIndex()
            let found = try fetch(query, besides: kept)
            if !found.isEmpty || !text.isAboutBeginnings { return found }
            // What begins no word may be a part of one.
            if !text.hasSigns {
                guard let wider = try widened(text) else { return found }
                var query = query
                query.text = wider
                return try fetch(query, besides: kept)
            }
        }
        var parts = query
        parts.words = words
        parts.isAmongLatest = readOnlyReason == nil
        parts.text?.terms = []
        return try fetch(parts, besides: kept)
    }

    private func fetch(_ query: NoteQuery, besides kept: [RowID]) throws(NotesError) -> [Note] {
        try NotesError.mapping { try database.read { db in try query.fetch(db, besides: kept) } }
    }

    /// Notes in which all of the words occur if the versions count that are kept and not shown.
    func notes(keeping words: [String]) throws(NotesError) -> [RowID] {
        let conflicts = Dictionary(grouping: try conflicts(), by: \.noteID)
        let words = words.map(TextFolding.fold)
        var found: [RowID] = []
        for (id, conflicts) in conflicts {
            guard let note = try note(id) else { continue }
            let texts = [note.title, note.body] + Array(note.tags) + conflicts.flatMap { $0.versions.map(\.text) }
            let text = TextFolding.fold(texts.joined(separator: "\n"))
            if words.allSatisfy(text.contains) { found.append(RowID(id)) }
        }
        return found
    }

    /// The note with this id, or `nil`.
    public func note(_ id: UUID) throws(NotesError) -> Note? {
        try NotesError.mapping { try database.read { db in try Self.fetch(id, db) } }
    }

    /// The note that a person means: by its id, by the beginning or end of its id, or by its title. If none has this very title, one
    /// that differs only in case and accents will do, and then one that another machine wrote at the same time and that is kept.
    ///
    /// - Throws: ``NotesError`` with code `notFound`, which names titles that are nearly the same or says that the note is in the trash, or
    ///   `ambiguous` with the notes that could be meant.
    public func find(_ reference: String) throws(NotesError) -> Note {
        let reference = NoteReference(reference)
        var found = try NotesError.mapping { try database.read { db in try Self.fetch(matching: reference, db) } }
        if found.isEmpty { found = try titled(like: reference) }
        if found.isEmpty { found = try notes(keeping: reference) }
        if found.isEmpty {
            // Only now, since the trash may be large.
            if try trash().contains(where: { reference.matches($0.note) }) { throw reference.isInTrash }
            throw reference.notFound(suggesting: try similarTitles(to: reference))
        }
        return try reference.theOnly(of: found)
    }

    /// A few notes whose titles differ from the reference only in case and accents.
    private func titled(like reference: NoteReference) throws(NotesError) -> [Note] {
        let folded = TextFolding.fold(reference.text)
        if folded.isEmpty { return [] }
        return try NotesError.mapping {
            try database.read { db in
                let sql = """
                    SELECT \(Note.selection) FROM note WHERE \(TextFolding.sqlName)(title) = ? ORDER BY updated DESC, id DESC LIMIT ?
                    """
                return try Row.fetchAll(db, sql: sql, arguments: [folded, Self.candidatesMax]).compactMap(Note.init(row:))
            }
        }
    }

    /// Notes of which a title is kept that is not shown.
    private func notes(keeping reference: NoteReference) throws(NotesError) -> [Note] {
        let folded = TextFolding.fold(reference.text)
        let kept = try conflicts().filter { conflict in
            conflict.field == .title && conflict.versions.contains { TextFolding.fold($0.text) == folded }
        }
        var notes: [Note] = []
        for conflict in kept.prefix(Self.candidatesMax) {
            if let note = try note(conflict.noteID) { notes.append(note) }
        }
        return notes
    }

    /// Titles that a slip of the hand may have made of the reference.
    private func similarTitles(to reference: NoteReference) throws(NotesError) -> [String] {
        let typed = TextFolding.fold(reference.text)
        guard (Self.similarLengthMin...Self.similarLengthMax).contains(typed.unicodeScalars.count) else { return [] }
        let titles = try NotesError.mapping {
            try database.read { db in
                try String.fetchAll(
                    db,
                    sql: "SELECT title FROM note WHERE abs(length(title) - ?) <= ? OR instr(\(TextFolding.sqlName)(title), ?) > 0 LIMIT ?",
                    arguments: [typed.unicodeScalars.count, EditDistance.max, typed, Self.similarTitlesMax])
            }
        }
        return titles.filter { title in
            let folded = TextFolding.fold(title)
            return folded.contains(typed) || EditDistance.isSmall(Array(folded.unicodeScalars), Array(typed.unicodeScalars))
        }
    }

    /// Notes that are named when several could be meant.
    private static let candidatesMax = 5
    /// What is looked at for a title that was mistyped: texts of this length, and so many of them.
    private static let similarLengthMin = 3
    private static let similarLengthMax = 100
    private static let similarTitlesMax = 10_000

    /// The same within a transaction.
    package static func fetch(_ id: UUID, _ db: Database) throws -> Note? {
        let select = try db.cachedStatement(sql: "SELECT \(Note.selection) FROM note WHERE id = ?")
        return try Row.fetchOne(select, arguments: [Data(id.bytes)]).flatMap(Note.init(row:))
    }

    /// A few notes that `reference` could mean; one, if it is a whole id.
    private static func fetch(matching reference: NoteReference, _ db: Database) throws -> [Note] {
        let digits = reference.idDigits ?? ""
        if digits.utf8.count == 32, let note = try fetch(hexadecimal: digits, db) { return [note] }
        return try Row.fetchAll(
            db,
            sql: """
                SELECT \(Note.selection) FROM note
                WHERE title = :title OR :isPart AND (substr(hex(id), 1, :length) = :digits OR substr(hex(id), -:length) = :digits)
                ORDER BY updated DESC, id DESC LIMIT :limit
                """,
            arguments: [
                "title": reference.text, "isPart": reference.idDigits != nil, "digits": digits, "length": digits.utf8.count,
                "limit": candidatesMax,
            ]
        ).compactMap(Note.init(row:))
    }

    private static func fetch(hexadecimal digits: String, _ db: Database) throws -> Note? {
        try Row.fetchOne(db, sql: "SELECT \(Note.selection) FROM note WHERE hex(id) = ?", arguments: [digits]).flatMap(Note.init(row:))
    }
}

extension Note {
    /// The last eight digits of the id, which are random: for lists, and enough for ``NotesStore/find(_:)``.
    public var shortID: String {
        let digits = String(id.bytes.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
