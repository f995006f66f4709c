import Foundation
import GRDB
import Kith

/// A part of a list of notes, for a screen that shows no more than that.
public struct NotePage: Hashable, Sendable {
    /// A note in a list.
    public struct Entry: Identifiable, Hashable, Sendable {
        /// The note, of which the body is only the beginning.
        public let note: Note
        /// Where in the body it was found; `nil` where nothing was searched for.
        public let snippet: Snippet?

        public var id: UUID { note.id }
    }

    /// How many notes the whole list has.
    public let total: Int
    /// The place of the first entry in it, from 0.
    public let offset: Int
    /// The entries.
    public let entries: [Entry]
}

extension NotesStore {
    /// How much of a body an entry of a list has, in characters (Unicode scalars).
    public static let excerptScalars = 160

    /// A part of the list that `query` asks for, in its order, the pinned notes before the others.
    ///
    /// - Throws: ``NotesError`` if the notes cannot be read.
    public func page(_ query: NoteQuery, offset: Int, count rows: Int) throws(NotesError) -> NotePage {
        let kept = query.words.isEmpty ? [] : try notes(keeping: query.words)
        return try NotesError.mapping {
            try database.read { db in
                let (condition, arguments) = query.condition(besides: kept)
                // A list is as long as it is; of a search, so much is counted as anybody looks at.
                let bound = query.text?.isEmpty ?? true ? "" : "LIMIT \(Self.resultsMax)"
                let count = "SELECT count(*) FROM (SELECT 1 FROM note \(condition) \(bound))"
                let total = try Int.fetchOne(db, sql: count, arguments: StatementArguments(arguments)) ?? 0
                let columns = Note.selection(body: "substr(note.body, 1, \(Self.excerptScalars))")
                let sql = """
                    SELECT \(columns) FROM note \(condition)
                    ORDER BY pinned DESC, \(query.order.sql) LIMIT ? OFFSET ?
                    """
                let all = arguments + [max(0, rows), max(0, offset)]
                let rows = try Row.fetchAll(db, sql: sql, arguments: StatementArguments(all))
                return NotePage(
                    total: total, offset: offset, entries: rows.compactMap(Note.init(row:)).map { NotePage.Entry(note: $0, snippet: nil) })
            }
        }
    }
}
