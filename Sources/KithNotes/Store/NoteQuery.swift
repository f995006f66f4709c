import GRDB
import Kith

/// Which notes to read, and in which order.
public struct NoteQuery: Hashable, Sendable {
    /// Orders of notes; where they leave a tie, ids decide.
    public enum Order: String, CaseIterable, Codable, Hashable, Sendable {
        /// Last changed first.
        case updated
        /// Last added first.
        case created
        /// By title, without case and accents.
        case title
        /// As people have put them: ``NotesStore/move(_:to:)``. Notes that were never moved stand by the time of their creation, the last first.
        case hand
        /// What fits the words of a search best first; without words, last changed first.
        case relevance
    }

    /// What the notes contain.
    public var text: SearchText?
    /// Notes in which each of these occurs somewhere in title, body or tags, whatever the case and the accents.
    var words: [String] = []
    /// Whether notes are meant that are pinned, or that changed last, alone.
    var isAmongLatest = false
    /// Notes whose body holds this, letter by letter.
    var bodyPart: String?
    /// What the index is asked for all notes that can be meant, where these are few.
    var candidates: String?
    /// Notes with this tag.
    public var tag: String?
    /// Notes of this color.
    public var color: NoteColor?
    /// In which order notes are listed.
    public var order = Order.updated
    /// How many at most, of the first in order; `nil` for all.
    public var limit: Int?
    /// Whether the bodies are read; without, every note has an empty one.
    public var readsBodies = true

    public init() {}

    /// All notes that `text` describes, as ``SearchText`` does; a title that another machine wrote at the same time, and that is kept, counts
    /// as well.
    public init(searching text: String) {
        self.text = SearchText(text)
    }

    /// How many notes are looked through for what the index cannot find.
    static let latestMax = 2_000

    /// Notes in which the words of a search occur anywhere, also as parts of others.
    init(lookingFor text: SearchText, amongLatest: Bool = false) {
        words = text.terms.map(\.text)
        isAmongLatest = amongLatest
        self.text = text
        self.text?.terms = []
    }

    /// - Parameter kept: notes in which the words occur otherwise, in a version that is not shown.
    func fetch(_ db: Database, besides kept: [RowID] = []) throws -> [Note] {
        let (condition, arguments) = condition(besides: kept)
        let (hits, match) = order == .relevance ? hits : ("", [])
        let columns = readsBodies ? Note.selection : Note.selectionWithoutBody
        let rank = order == .hand ? "note.pinned DESC, " : match.isEmpty ? "" : "hit.rank, "
        let sql = "SELECT \(columns) FROM note \(hits) \(condition) ORDER BY \(rank)\(order.sql) LIMIT ?"
        let all = match + arguments + [limit.map { max(0, $0) } ?? -1]
        return try Array(Row.fetchCursor(db, sql: sql, arguments: StatementArguments(all)).compactMap(Note.init(row:)))
    }

    /// How well each note that the index knows fits; nothing, if no words are looked for.
    private var hits: (sql: String, arguments: [any DatabaseValueConvertible]) {
        guard let match = text?.match else { return ("", []) }
        let sql = """
            LEFT JOIN (
                SELECT key.id, bm25(note_search, 10, 1, 5) AS rank FROM note_search
                JOIN note_search_key AS key ON key.key = note_search.rowid WHERE note_search MATCH ?
            ) AS hit ON hit.id = note.id
            """
        return (sql, [match])
    }

    /// The WHERE of the notes that are asked for, empty for all of them, and what stands for its question marks.
    func condition(besides kept: [RowID]) -> (sql: String, arguments: [any DatabaseValueConvertible]) {
        var conditions: [String] = []
        var arguments: [any DatabaseValueConvertible] = []
        if let tag {
            let filter = SearchText.hasTag(tag)
            conditions.append("(\(filter.sql))")
            arguments += filter.arguments
        }
        if let color {
            conditions.append("note.color = ?")
            arguments.append(color.rawValue)
        }
        if let bodyPart {
            conditions.append("instr(note.body, ?) > 0")
            arguments.append(bodyPart)
        }
        for filter in text?.filters ?? [] {
            conditions.append("(\(filter.sql))")
            arguments += filter.arguments
        }
        if let candidates {
            conditions.append("note.id IN (\(SearchIndex.idsSQL))")
            arguments.append(candidates)
        }
        if isAmongLatest {
            conditions.append("note.id IN (SELECT id FROM note ORDER BY pinned DESC, updated DESC, id DESC LIMIT \(Self.latestMax))")
        }
        let ids = Self.list(of: kept)
        if let match = text?.match {
            conditions.append("(note.id IN (\(SearchIndex.idsSQL)) OR note.id IN (\(ids)))")
            arguments.append(match)
        }
        if !words.isEmpty {
            let all = "\(TextFolding.sqlName)(note.title || char(10) || note.body || char(10) || note.tags)"
            let each = words.map { _ in "instr(\(all), ?) > 0" }
            conditions.append("(\(each.joined(separator: " AND ")) OR note.id IN (\(ids)))")
            arguments += words.map { TextFolding.fold($0) }
        }
        return (conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND "), arguments)
    }
}

extension NoteQuery {
    /// Ids for SQL.
    private static func list(of ids: [RowID]) -> String {
        ids.map { id in "x'\(id.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())'" }.joined(separator: ", ")
    }
}

extension NoteQuery.Order {
    var sql: String {
        switch self {
        case .updated, .relevance: "note.updated DESC, note.id DESC"
        case .created: "note.created DESC, note.id DESC"
        case .hand: "\(Position.orderSQL("note.position", id: "note.id")) DESC, note.id DESC"
        case .title: "\(TextFolding.sqlName)(note.title), note.id"
        }
    }
}
