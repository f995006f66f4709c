import Foundation
import GRDB
import Kith

/// A note that was deleted and can still be restored.
public struct TrashedNote: Identifiable, Hashable, Sendable {
    /// The note as it was last shown.
    public let note: Note
    /// When this machine learned of the deletion, in milliseconds since 1970 by its own clock.
    public let deletedMilliseconds: Int64
    /// Whether it was deleted on this machine, as far as its store knows.
    public let isDeletedHere: Bool
    /// Who deleted it, as far as this machine knows; of several that did so at the same time, one that is known.
    public let deletedBy: Author
    /// Whether nothing but the word of that device says so: it brought no deletion of the note, but said that the note is gone.
    public let isOnlySaid: Bool
    /// Whether it stays in the trash until somebody has looked at a ``MassDeletion``.
    public let isHeld: Bool

    public var id: UUID { note.id }

    /// When it leaves the trash, likewise; `nil` if it stays until somebody has looked.
    public var endMilliseconds: Int64? {
        if isHeld { return nil }
        let (end, overflow) = deletedMilliseconds.addingReportingOverflow(SyncedDatabase.trashMilliseconds)
        return overflow ? .max : end
    }
}

extension TrashedNote {
    /// - Parameter heldSince: what went from then on stays.
    init?(_ row: TrashedRow, _ authors: Authors, heldSince: Int64?) {
        guard let note = Note(row.id, row.values) else { return nil }
        let known = row.deletedBy.map { authors[$0] } + (row.removedBy.map { [$0.isEmpty ? .unknown : .device($0)] } ?? [])
        self.init(
            note: note, deletedMilliseconds: row.deletedMilliseconds, isDeletedHere: known.contains(.own),
            deletedBy: known.first { $0 == .own } ?? known.first { $0 != .unknown } ?? .unknown, isOnlySaid: row.removedBy != nil,
            isHeld: heldSince.map { row.deletedMilliseconds >= $0 } ?? false)
    }
}

extension Note {
    /// A note of which the store has these values, by column.
    init?(_ id: RowID, _ values: [String: ColumnValue]) {
        self.init { column in
            column == 0 ? Data(id.bytes).databaseValue : values[Note.columnNames[column]].map(DatabaseValue.init) ?? .null
        }
    }
}

extension DatabaseValue {
    init(_ value: ColumnValue) {
        self =
            switch value {
            case .null: .null
            case .integer(let number): number.databaseValue
            case .real(let bitPattern): Double(bitPattern: bitPattern).databaseValue
            case .text(let bytes): String(decoding: bytes, as: UTF8.self).databaseValue
            case .blob(let bytes): Data(bytes).databaseValue
            }
    }
}
