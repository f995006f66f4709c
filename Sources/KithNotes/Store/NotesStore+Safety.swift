import Foundation
import Kith

extension NotesStore {
    /// Which of the trusted devices hold the note as it is now, its attachments and their bytes included; none if there is no such note.
    /// - Throws: ``NotesError``.
    public func safety(of id: UUID, among devices: [TrustedDevice]) throws(NotesError) -> Safety {
        let attachments = try attachments(of: id)
        return try NotesError.mapping {
            let rows = [(table: NotesSchema.table, id: RowID(id))]
            return try store.safety(
                ofRows: rows + attachments.map { (table: NotesSchema.attachmentTable, id: RowID($0.id)) }, among: devices)
        }
    }
}
