import Foundation
import GRDB
import Kith

extension NotesStore {
    /// The notes that `query` asks for.
    public func list(_ query: NoteQuery = NoteQuery()) throws(NotesError) -> [Note] {
        try NotesError.mapping { try database.read(query.fetch) }
    }

    /// The note with this id, or `nil`.
    public func note(_ id: UUID) throws(NotesError) -> Note? {
        try NotesError.mapping { try database.read { db in try Self.fetch(id, db) } }
    }

    /// The note that a person means: by its id, by the beginning or end of its id, or by its exact title.
    ///
    /// - Throws: ``NotesError`` with code `notFound`, or `ambiguous` with the notes that could be meant.
    public func find(_ reference: String) throws(NotesError) -> Note {
        let reference = NoteReference(reference)
        return try reference.theOnly(of: NotesError.mapping { try database.read { db in try Self.fetch(matching: reference, db) } })
    }

    static func fetch(_ id: UUID, _ db: Database) throws -> Note? {
        try Row.fetchOne(db, sql: "SELECT \(Note.columns) FROM note WHERE id = ?", arguments: [Data(id.bytes)]).flatMap(Note.init(row:))
    }

    /// A few notes that `reference` could mean; one, if it is a whole id.
    private static func fetch(matching reference: NoteReference, _ db: Database) throws -> [Note] {
        let candidatesMax = 5
        let digits = reference.idDigits ?? ""
        if digits.utf8.count == 32, let note = try fetch(hexadecimal: digits, db) { return [note] }
        return try Row.fetchAll(
            db,
            sql: """
                SELECT \(Note.columns) FROM note
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
        try Row.fetchOne(db, sql: "SELECT \(Note.columns) FROM note WHERE hex(id) = ?", arguments: [digits]).flatMap(Note.init(row:))
    }
}

extension Note {
    /// The last eight digits of the id, which are random: for lists, and enough for ``NotesStore/find(_:)``.
    public var shortID: String {
        let digits = String(id.bytes.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
