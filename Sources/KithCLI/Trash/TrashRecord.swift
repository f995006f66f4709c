import Foundation
import KithNotes

/// A note in the trash, in the JSON that commands print.
struct TrashRecord: Encodable {
    let note: NoteRecord
    /// When this machine learned of the deletion.
    let deleted: String?
    let isDeletedHere: Bool
    /// Whether only another machine's word says that it was deleted.
    let isOnlySaid: Bool
    /// When it leaves the trash.
    let end: String?

    init(_ trashed: TrashedNote) {
        note = NoteRecord(trashed.note)
        deleted = TimeText(milliseconds: trashed.deletedMilliseconds)?.iso8601
        isDeletedHere = trashed.isDeletedHere
        isOnlySaid = trashed.isOnlySaid
        end = trashed.endMilliseconds.flatMap { TimeText(milliseconds: $0)?.iso8601 }
    }
}
