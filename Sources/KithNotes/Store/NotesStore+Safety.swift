import Foundation
import Kith

extension NotesStore {
    /// Which of the trusted devices hold the note as it is now; none if there is no such note.
    /// - Throws: ``NotesError``.
    public func safety(of id: UUID, among devices: [TrustedDevice]) throws(NotesError) -> Safety {
        try NotesError.mapping { try store.safety(ofRow: RowID(id), in: NotesSchema.table, among: devices) }
    }
}
