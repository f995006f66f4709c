import Foundation
import Kith
import KithSync

/// What became of notes between two moments.
public struct NoteChanges: Sendable {
    /// Notes that were added or changed, as they are now.
    public let changed: [Note]
    /// Notes that are there no more.
    public let deleted: [UUID]
    /// Whether some of it was written on other machines.
    public let isFromOthers: Bool
    /// Whether there is more than one call tells.
    public let hasMore: Bool
    /// What the store knew when this was read: where the next look begins.
    public let vector: VersionVector
}

extension NotesStore {
    /// What has changed since the store knew `vector`, in time proportional to that: some hundreds of notes at most, and ``NoteChanges/hasMore``
    /// if there are others. What was added and deleted in between is among the deleted ones; attachments do not count.
    ///
    /// - Throws: ``NotesError`` if the notes cannot be read.
    public func changes(since vector: VersionVector) throws(NotesError) -> NoteChanges {
        try NotesError.mapping {
            let authors = try store.authors()
            let slice = try store.slice(SliceRequest(since: vector))
            var changed: [Note] = []
            var deleted: [UUID] = []
            for row in slice.rows where slice.tables[row.table].name == Array(NotesSchema.table.utf8) && !row.isPrelude {
                let id = UUID(row.id)
                if let note = try note(id) { changed.append(note) } else { deleted.append(id) }
            }
            let isFromOthers = slice.vector.entries.contains { authors[$0.replica] != .own && !vector.covers($0) }
            return NoteChanges(
                changed: changed, deleted: deleted, isFromOthers: isFromOthers, hasMore: !slice.isLast, vector: slice.vector)
        }
    }
}
