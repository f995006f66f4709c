import Foundation
import GRDB
import Kith

/// What was done on this machine, step by step, and how it is taken back.
extension NotesStore {
    /// What ``undo()`` takes back: what people do to notes on this machine, by a command or on the page. The page saves titles and texts while
    /// they are typed: such a save is no step. Nor is what a folder or an import writes: it says so by `isStep`.
    public var steps: UndoList { store.undo(scope: "kith") }

    /// Makes the open transaction a step, named by what is done and to which notes.
    func step(_ verb: String, _ titles: [String], _ db: Database) throws {
        let first = titles.first.map { $0.isEmpty ? "a note" : "\u{201C}\($0.prefix(80))\u{201D}" }
        let name = [first, titles.count > 1 ? "and \(titles.count - 1) more" : nil].compactMap(\.self).joined(separator: " ")
        try steps.mark(db, name.isEmpty ? verb : "\(verb) \(name)")
    }

    func titles(_ ids: [UUID], _ db: Database) throws -> [String] {
        try ids.prefix(1).compactMap { try Self.fetch($0, db)?.title } + Array(repeating: "", count: max(0, ids.count - 1))
    }

    static func title(_ row: TrashedRow) -> String? {
        guard case .text(let bytes)? = row.values["title"] else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Takes the last step back, where that is still what is shown; `nil` if there is none. What adds, edits, moves, pins, deletes, restores,
    /// attaches, detaches or chooses is a step, but for ``insert(_:isDryRun:)`` and ``saveVersioned(_:of:base:key:)``.
    ///
    /// - Throws: ``NotesError`` with code `busy`, `diskFull`, `readOnly`.
    public func undo() throws(NotesError) -> UndoReport? {
        try NotesError.mapping { try steps.undo() }
    }

    /// Does again what was taken back last; `nil` if there is nothing.
    ///
    /// - Throws: ``NotesError`` with code `busy`, `diskFull`, `readOnly`.
    public func redo() throws(NotesError) -> UndoReport? {
        try NotesError.mapping { try steps.redo() }
    }

    /// Takes back what one device has changed since a moment, where that is still what is shown.
    ///
    /// - Parameter devices: the device under all keys that it had.
    /// - Throws: ``NotesError`` with code `busy`, `diskFull`, `readOnly`.
    public func revert(devices: Set<Author>, since date: Date) throws(NotesError) -> UndoReport {
        try NotesError.mapping { try store.revert(devices: devices, sinceMilliseconds: Int64(date.timeIntervalSince1970 * 1_000)) }
    }

    /// Why a field of a note says what it says.
    ///
    /// - Throws: ``NotesError`` with code `notFound` if the note is gone.
    public func explain(_ id: UUID, _ field: NoteField) throws(NotesError) -> Explanation {
        try NotesError.mapping { try store.explain(table: NotesSchema.table, id: RowID(id), column: field.rawValue) }
    }
}
