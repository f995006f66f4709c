import GRDB
import Kith
import KithNotes

/// What a note was when a file was made of it that is not known any more: it was made before the folder was added, or elsewhere.
struct FolderPast {
    private var title: String
    private var body: [UInt8]
    private var color: Int64
    private var tags: NoteTags
    private var updatedMilliseconds: Int64

    /// Finds it in the journal, by the time of the note's last change that the file says.
    ///
    /// - Returns: what the file is to be compared with; `nil` if the journal does not know it, or merges have changed the note and left that
    ///   time, so that it cannot be told of which state the file was made.
    static func record(of content: FolderContent, at path: String, _ note: Note, _ store: SyncedDatabase, _ db: Database) throws
        -> FolderRecord?
    {
        guard let written = content.updatedMilliseconds else { return nil }
        var past = FolderPast(note)
        var found = past.updatedMilliseconds == written ? past : nil
        for transaction in try store.history(db, table: NotesSchema.table, id: RowID(note.id)) {
            guard let change = transaction.changes.first, change.kind != .delete else { return nil }
            // There was nothing before it, and all that had this time is known.
            if change.kind == .insert { return found?.record(at: path, of: note, links: content.attachments.map(\.link)) }
            guard past.takeBack(change) else { return nil }
            if past.updatedMilliseconds == written {
                if let found, !found.says(past) { return nil }
                found = past
            } else if let found {
                return found.record(at: path, of: note, links: content.attachments.map(\.link))
            }
        }
        return nil
    }

    private func says(_ other: FolderPast) -> Bool {
        title.utf8.elementsEqual(other.title.utf8) && body == other.body && color == other.color && tags == other.tags
    }

    private init(_ note: Note) {
        (title, body, color, tags) = (note.title, Array(note.body.utf8), note.color.rawValue, note.tags)
        updatedMilliseconds = note.updatedMilliseconds
    }

    private func record(at path: String, of note: Note, links: [String]) -> FolderRecord {
        var record = FolderRecord(path: path, note: note.id)
        (record.title, record.body, record.color, record.tags) = (title, String(decoding: body, as: UTF8.self), color, tags)
        (record.links, record.hasID) = (links, true)
        return record
    }

    /// Returns `false` if the change does not lead to what is known.
    private mutating func takeBack(_ change: HistoryChange) -> Bool {
        for (name, column) in change.columns {
            switch (name, column) {
            case ("title", .value(.text(let old), .text(let new))) where title.utf8.elementsEqual(new):
                title = String(decoding: old, as: UTF8.self)
            case ("color", .value(.integer(let old), .integer(color))): color = old
            case ("tags", .value(.text(let old), .text(let new))) where NoteTags(json: String(decoding: new, as: UTF8.self)) == tags:
                tags = NoteTags(json: String(decoding: old, as: UTF8.self))
            case ("updated", .value(.integer(let old), .integer(updatedMilliseconds))): updatedMilliseconds = old
            case ("body", .text(let offset, let removed, let inserted)):
                let end = offset + inserted.utf8.count
                guard end <= body.count, body[offset..<end].elementsEqual(inserted.utf8) else { return false }
                body.replaceSubrange(offset..<end, with: Array(removed.utf8))
            case ("title", _), ("color", _), ("tags", _), ("updated", _), ("body", _): return false
            default: break
            }
        }
        return true
    }
}
