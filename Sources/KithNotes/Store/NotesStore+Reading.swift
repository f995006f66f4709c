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

    // MARK: References

    /// Fewest hexadecimal digits that are taken for a part of an id.
    public static let idDigitsMin = 4

    /// The note that a person means: by its id, by the beginning or end of its id, or by its exact title.
    ///
    /// - Throws: ``NotesError`` with code `notFound`, or `ambiguous` with the notes that could be meant.
    public func find(_ reference: String) throws(NotesError) -> Note {
        let found = try NotesError.mapping { try database.read { db in try Self.fetch(matching: reference, db) } }
        if let note = found.first, found.count == 1 { return note }
        if found.isEmpty {
            throw NotesError(.notFound, "There is no note \u{201C}\(reference.prefix(80))\u{201D}. Name one by its title or its id.")
        }
        let candidates = found.map { "\($0.shortID) (\($0.title.prefix(40)))" }.joined(separator: ", ")
        throw NotesError(
            .ambiguous, "\u{201C}\(reference.prefix(80))\u{201D} could be any of \(candidates). Name one by its id.")
    }

    static func fetch(_ id: UUID, _ db: Database) throws -> Note? {
        try Row.fetchOne(db, sql: "SELECT \(Note.columns) FROM note WHERE id = ?", arguments: [Data(id.bytes)]).flatMap(Note.init(row:))
    }

    /// A few notes that `reference` could mean; one, if it is a whole id.
    private static func fetch(matching reference: String, _ db: Database) throws -> [Note] {
        let candidatesMax = 5
        let digits = reference.uppercased().filter { $0 != "-" }
        let isPart = (idDigitsMin...32).contains(digits.utf8.count) && digits.utf8.allSatisfy(isHexDigit)
        if isPart, digits.utf8.count == 32, let note = try fetch(hexadecimal: digits, db) { return [note] }
        return try Row.fetchAll(
            db,
            sql: """
                SELECT \(Note.columns) FROM note
                WHERE title = :title OR :isPart AND (substr(hex(id), 1, :length) = :digits OR substr(hex(id), -:length) = :digits)
                ORDER BY updated DESC, id DESC LIMIT :limit
                """,
            arguments: ["title": reference, "isPart": isPart, "digits": digits, "length": digits.utf8.count, "limit": candidatesMax]
        ).compactMap(Note.init(row:))
    }

    private static func fetch(hexadecimal digits: String, _ db: Database) throws -> Note? {
        try Row.fetchOne(db, sql: "SELECT \(Note.columns) FROM note WHERE hex(id) = ?", arguments: [digits]).flatMap(Note.init(row:))
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte)
    }
}

extension Note {
    /// The last eight digits of the id, which are random: for lists, and enough for ``NotesStore/find(_:)``.
    public var shortID: String { String(id.uuidString.suffix(8)).lowercased() }
}
