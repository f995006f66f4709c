import Foundation
import GRDB
import Kith

/// Where notes go in the order that people make by hand, as a list shows it.
public enum NotePlace: Hashable, Sendable {
    /// Before all others that are pinned, or not, as they are.
    case first
    /// After these.
    case last
    /// Right before a note.
    case before(UUID)
    /// Right after a note.
    case after(UUID)
}

extension NotesStore {
    /// Moves notes to a place in the order that ``NoteQuery/Order/hand`` shows: together, in the order in which they are named, in one
    /// transaction. It is no edit: the time of the last change stays. Notes that are gone are left out; pinned notes stay before all others,
    /// wherever they are put.
    ///
    /// - Returns: how many there were.
    /// - Throws: ``NotesError`` with code `notFound` if the note of the place is gone, `busy`, `diskFull`, `readOnly`.
    @discardableResult
    public func move(_ ids: [UUID], to place: NotePlace) throws(NotesError) -> Int {
        try NotesError.mapping { try database.write { db in try move(ids, to: place, db) } }
    }

    /// The same within a transaction.
    @discardableResult
    func move(_ ids: [UUID], to place: NotePlace, _ db: Database) throws -> Int {
        try step("Move", try titles(ids, db), db)
        let (anchor, place): (UUID?, Position.Place) =
            // The list shows the last in the order first.
            switch place {
            case .first: (ids.first, .last)
            case .last: (ids.first, .first)
            case .before(let note): (note, .after(note))
            case .after(let note): (note, .before(note))
            }
        let pinned = try Int.fetchOne(db, sql: "SELECT pinned FROM note WHERE id = ?", arguments: [anchor.map { Data($0.bytes) }])
        return try store.move(db, ids.reversed(), to: place, in: NotesSchema.table, among: "pinned = \(pinned ?? 0)")
    }
}
