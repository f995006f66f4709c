import Foundation
import GRDB
import Kith

/// The words of all notes, to be found without reading the notes: an FTS5 table beside them.
///
/// It remembers what the store knew when it was made, and is brought up to date from there, at the latest when somebody searches. Writing
/// and merging notes costs nothing more for it.
enum SearchIndex {
    /// The ids of the notes in which the words occur.
    static let idsSQL =
        "SELECT key.id FROM note_search JOIN note_search_key AS key ON key.key = note_search.rowid WHERE note_search MATCH ?"

    static func create(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE note_search_key (key INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE);
                CREATE TABLE note_search_state (vector TEXT NOT NULL);
                CREATE VIRTUAL TABLE note_search USING fts5(
                    title, body, tags, tokenize = 'unicode61 remove_diacritics 2', prefix = '2');
                """)
    }

    /// Makes the index anew, empty, with the words by their first letter as well: the first key of who types.
    static func createForLetters(_ db: Database) throws {
        try db.execute(
            sql: """
                DROP TABLE note_search;
                DELETE FROM note_search_key;
                DELETE FROM note_search_state;
                CREATE VIRTUAL TABLE note_search USING fts5(
                    title, body, tags, tokenize = 'unicode61 remove_diacritics 2', prefix = '1 2');
                """)
    }

    /// Makes the index anew, empty, with a list of the words in it: for a search of parts of words.
    static func createWithWords(_ db: Database) throws {
        try createForLetters(db)
        try db.execute(
            sql: "CREATE TABLE note_search_word (folded TEXT NOT NULL, word TEXT NOT NULL, PRIMARY KEY (folded, word)) WITHOUT ROWID")
    }

    /// What the index is made of.
    struct State: Hashable {
        /// What the store knew.
        let vector: VersionVector
        /// Names the rows that were mended: they change, and the store knows no more than before. Empty if none were.
        let mended: String

        init(_ vector: VersionVector, _ mending: Mending?) {
            self.vector = vector
            mended = mending.map { "\($0.rowCount).\($0.milliseconds)" } ?? ""
        }

        init?(_ text: String) {
            let parts = text.split(separator: " ", omittingEmptySubsequences: false)
            guard parts.count <= 2, let version = parts.first.flatMap({ TextVersion(String($0)) }) else { return nil }
            vector = VersionVector(version.dots)
            mended = parts.count == 2 ? String(parts[1]) : ""
        }

        var text: String { TextVersion(vector.entries).description + (mended.isEmpty ? "" : " " + mended) }
    }

    /// What the index was made of when it was last whole; `nil` if it never was.
    static func state(_ db: Database) throws -> State? {
        try String.fetchOne(db, sql: "SELECT vector FROM note_search_state").flatMap(State.init)
    }

    static func setState(_ state: State, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM note_search_state")
        try db.execute(sql: "INSERT INTO note_search_state VALUES (?)", arguments: [state.text])
    }

    /// Brings in these notes as they are now, at least the first; what is right is left as it is.
    ///
    /// - Parameter isOver: says whether to leave the rest for another transaction. A note of many words takes as long as a hundred short ones.
    /// - Returns: the rest.
    static func bringIn(
        _ ids: ArraySlice<Data>, _ db: Database, isOver: () -> Bool
    ) throws -> ArraySlice<Data> {
        let new = ["title", "body", "tags"].map { Note.wholeText("note.\($0)") }.joined(separator: ", ")
        let find = try db.cachedStatement(
            sql: """
                SELECT key.key, old.title, old.body, old.tags, \(new), note.id FROM (SELECT ?1 AS id)
                LEFT JOIN note_search_key AS key USING (id) LEFT JOIN note_search AS old ON old.rowid = key.key LEFT JOIN note USING (id)
                """)
        let forget = try db.cachedStatement(sql: "DELETE FROM note_search WHERE rowid = ?")
        let drop = try db.cachedStatement(sql: "DELETE FROM note_search_key WHERE key = ?")
        let name = try db.cachedStatement(sql: "INSERT INTO note_search_key (id) VALUES (?)")
        let learn = try db.cachedStatement(sql: "INSERT INTO note_search (rowid, title, body, tags) VALUES (?, ?, ?, ?)")
        var rest = ids
        // Words that this transaction has entered.
        var listed = Set<String>()
        repeat {
            guard let id = rest.popFirst(), let row = try Row.fetchOne(find, arguments: [id]) else { continue }
            var key: DatabaseValue = row[0]
            let isThere = !row.hasNull(atIndex: 7)
            let old = (1...3).map { row[$0] as DatabaseValue }
            let new = (4...6).map { row.hasNull(atIndex: $0) ? .null : Note.shownText(row[$0]).databaseValue }
            var (gone, there) = (Set<String>(), Set<String>())
            if !key.isNull {
                if isThere, old == new { continue }
                for text in old { IndexWord.insert(of: text, into: &gone) }
                try forget.execute(arguments: [key])
                if !isThere { try drop.execute(arguments: [key]) }
            }
            if isThere {
                for text in new { IndexWord.insert(of: text, into: &there) }
                if key.isNull {
                    try name.execute(arguments: [id])
                    key = db.lastInsertedRowID.databaseValue
                }
                try learn.execute(arguments: [key, new[0], new[1], new[2]])
            }
            try IndexWord.enter(there, listed: &listed, db)
            try IndexWord.leave(gone.subtracting(there), listed: &listed, db)
        } while !rest.isEmpty && !isOver()
        return rest
    }

    /// Of the next notes after `id` those that the index has not, or otherwise; and where to look next, `nil` at the end.
    static func suspects(after id: Data, _ db: Database) throws -> (ids: [Data], next: Data?) {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT note.id, old.rowid IS NOT NULL AND old.title IS note.title AND old.body IS note.body AND old.tags IS note.tags FROM note
                LEFT JOIN note_search_key AS key USING (id) LEFT JOIN note_search AS old ON old.rowid = key.key
                WHERE note.id > ? ORDER BY note.id LIMIT ?
                """, arguments: [id, Self.lookRows])
        let ids = rows.filter { $0[1] == false }.map { $0[0] as Data }
        return (ids, rows.count < Self.lookRows ? nil : rows.last.map { $0[0] as Data })
    }

    /// Notes that are compared by one look.
    private static let lookRows = 1_000

    /// Forgets words of which it is not known whose they are, as only damage leaves them: they would be in the way of others.
    static func dropStrays(_ db: Database) throws {
        try db.execute(sql: "DELETE FROM note_search WHERE rowid NOT IN (SELECT key FROM note_search_key)")
    }

    /// The ids of notes that are no more.
    static func leftovers(_ db: Database) throws -> [Data] {
        try Data.fetchAll(db, sql: "SELECT id FROM note_search_key WHERE id NOT IN (SELECT id FROM note)")
    }
}
