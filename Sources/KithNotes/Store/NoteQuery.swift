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
    }

    /// Notes that contain each of these words somewhere in title, body or tags, whatever the case and the accents. A title that another
    /// machine wrote at the same time, and that is kept, counts as well.
    public var words: [String] = []
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

    /// All notes in which every word of `text` occurs.
    public init(searching text: String) {
        words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    }

    /// - Parameter kept: notes in which the words occur otherwise, in a version that is not shown.
    func fetch(_ db: Database, besides kept: [RowID] = []) throws -> [Note] {
        let (condition, arguments) = condition(besides: kept)
        let sql = """
            SELECT \(readsBodies ? Note.columns : Note.columnsWithoutBody) FROM note \(condition) ORDER BY \(order.sql) LIMIT ?
            """
        let all = arguments + [limit.map { max(0, $0) } ?? -1]
        return try Array(Row.fetchCursor(db, sql: sql, arguments: StatementArguments(all)).compactMap(Note.init(row:)))
    }

    /// The WHERE of the notes that are asked for, empty for all of them, and what stands for its question marks.
    func condition(besides kept: [RowID]) -> (sql: String, arguments: [any DatabaseValueConvertible]) {
        var conditions: [String] = []
        var arguments: [any DatabaseValueConvertible] = []
        if let tag {
            conditions.append("json_valid(tags) AND EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)")
            arguments.append(tag)
        }
        if let color {
            conditions.append("color = ?")
            arguments.append(color.rawValue)
        }
        if !words.isEmpty {
            let each = words.map { _ in "instr(\(TextFolding.sqlName)(title || char(10) || body || char(10) || tags), ?) > 0" }
            let ids = kept.map { id in "x'\(id.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())'" }
            conditions.append("(\(each.joined(separator: " AND ")) OR id IN (\(ids.joined(separator: ", "))))")
            arguments += words.map { TextFolding.fold($0) }
        }
        return (conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND "), arguments)
    }
}

extension NoteQuery.Order {
    var sql: String {
        switch self {
        case .updated: "updated DESC, id DESC"
        case .created: "created DESC, id DESC"
        case .title: "\(TextFolding.sqlName)(title), id"
        }
    }
}
