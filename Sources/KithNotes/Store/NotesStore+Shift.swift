import Foundation
import GRDB
import Kith

/// Where a hand puts notes in a list that it looks at.
public enum NoteShift: Hashable, Sendable {
    /// To a place. A pinned note stays among the pinned ones: beside a note that is not, it goes to their end; and the others likewise.
    case to(NotePlace)
    /// Before the note that stands before the first of them.
    case up
    /// After the note that stands after the last of them.
    case down
}

/// Where notes stand that were moved.
public struct ShiftedNotes: Hashable, Sendable {
    /// How many of them are there.
    public let count: Int
    /// The place of the first one, from 0.
    public let place: Int
    /// How many notes there are.
    public let total: Int
}

extension NotesStore {
    /// Moves notes in the order that ``NoteQuery/Order/hand`` shows as ``move(_:to:)`` does, but for their order among themselves: it stays,
    /// however they are named. Where there is nothing before the first one, or nothing after the last one, they are moved together.
    ///
    /// - Returns: where they stand then, as ``page(_:offset:count:)`` counts.
    /// - Throws: ``NotesError`` with code `notFound` if all of them, or the note of the place, are gone; `valueRejected` if some of them are
    ///   pinned and some are not; `busy`, `diskFull`, `readOnly`.
    public func shift(_ ids: [UUID], _ shift: NoteShift) throws(NotesError) -> ShiftedNotes {
        try NotesError.mapping {
            try database.write { db in
                let notes = try Handed.fetch(ids, db)
                guard let first = notes.first, let last = notes.last else {
                    throw NotesError(.notFound, ids.count == 1 ? "This note was deleted." : "These notes were deleted.")
                }
                if first.pinned != last.pinned {
                    throw NotesError(.valueRejected, "Pinned notes stay before the others: move them by themselves.")
                }
                let place: NotePlace =
                    switch shift {
                    case .to(let place): try self.place(place, for: first, db)
                    case .up: try first.neighbour(isAbove: true, besides: notes, db).map { .before($0) } ?? .first
                    case .down: try last.neighbour(isAbove: false, besides: notes, db).map { .after($0) } ?? .last
                    }
                try move(notes.map(\.id), to: place, db)
                let (above, total) = try Handed.fetch([first.id], db).first?.counts(db) ?? (0, 0)
                return ShiftedNotes(count: notes.count, place: above, total: total)
            }
        }
    }

    /// The place among the notes that are pinned like this one.
    private func place(_ place: NotePlace, for note: Handed, _ db: Database) throws -> NotePlace {
        let beside: UUID
        switch place {
        case .first, .last: return place
        case .before(let other), .after(let other): beside = other
        }
        guard let other = try Handed.fetch([beside], db).first else {
            throw NotesError(.notFound, "The note beside which this was to stand was deleted. Choose another place.")
        }
        return other.pinned == note.pinned ? place : note.pinned > other.pinned ? .last : .first
    }
}

/// A note and where it stands in the order by hand.
private struct Handed {
    let id: UUID
    let pinned: Int64
    let order: DatabaseValue

    var isPinned: Bool { pinned != 0 }
    private static let orderSQL = Position.orderSQL("position")

    /// Those of the notes that are there, as a list shows them.
    static func fetch(_ ids: [UUID], _ db: Database) throws -> [Handed] {
        let sql = "SELECT id, pinned, \(orderSQL) FROM note WHERE id IN (\(list(ids))) ORDER BY pinned DESC, 3 DESC, id DESC"
        return try Row.fetchAll(db, sql: sql).compactMap { row in
            UUID.fromDatabaseValue(row[0]).map { Handed(id: $0, pinned: Int64.fromDatabaseValue(row[1]) ?? 0, order: row[2]) }
        }
    }

    /// The next note above or below this one, as a list shows them, that is pinned like it and none of `others`.
    func neighbour(isAbove: Bool, besides others: [Handed], _ db: Database) throws -> UUID? {
        let (sign, direction) = isAbove ? (">", "ASC") : ("<", "DESC")
        let sql = """
            SELECT id FROM note
            WHERE pinned = ?1 AND \(Self.orderSQL) \(sign)= ?2 AND (\(Self.orderSQL) \(sign) ?2 OR id \(sign) ?3) AND id NOT IN (\(Self.list(others.map(\.id))))
            ORDER BY \(Self.orderSQL) \(direction), id \(direction) LIMIT 1
            """
        return try UUID.fetchOne(db, sql: sql, arguments: [pinned, order, Data(id.bytes)])
    }

    /// How many notes stand above this one, and how many there are.
    func counts(_ db: Database) throws -> (above: Int, total: Int) {
        let pinnedMore = try Int.fetchOne(db, sql: "SELECT count(*) FROM note WHERE pinned > ?", arguments: [pinned]) ?? 0
        let sql = "SELECT count(*) FROM note WHERE pinned = ?1 AND \(Self.orderSQL) >= ?2 AND (\(Self.orderSQL) > ?2 OR id > ?3)"
        let above = try Int.fetchOne(db, sql: sql, arguments: [pinned, order, Data(id.bytes)]) ?? 0
        return (pinnedMore + above, try Int.fetchOne(db, sql: "SELECT count(*) FROM note") ?? 0)
    }

    /// Ids for SQL, of which more may be in a list than values in a statement.
    private static func list(_ ids: [UUID]) -> String {
        Set(ids).map { "x'\($0.uuidString.replacing("-", with: ""))'" }.joined(separator: ",")
    }
}
