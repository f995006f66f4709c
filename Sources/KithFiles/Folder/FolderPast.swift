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
    /// Merges may have changed the note and left that time: then it is what says the same as the file, else the oldest of them, so that
    /// what others wrote is not taken for what the file has lost.
    /// - Returns: what the file is to be compared with; `nil` if the journal does not know it.
    static func record(of content: FolderContent, at path: String, _ note: Note, _ store: SyncedDatabase, _ db: Database) throws
        -> FolderRecord?
    {
        guard let written = content.updatedMilliseconds else { return nil }
        var past = FolderPast(note)
        var found: FolderRecord?
        func look() -> Bool {
            if past.updatedMilliseconds != written { return false }
            let record = past.record(at: path, of: note, links: content.attachments.map(\.link))
            found = record
            return record.says(content)
        }
        if look() { return found }
        for transaction in try store.history(db, table: NotesSchema.table, id: RowID(note.id)) {
            guard let change = transaction.changes.first, change.kind == .update, past.takeBack(change) else { break }
            if look() { break }
        }
        return found
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
            case ("title", .value(.text(let old), _)): title = String(decoding: old, as: UTF8.self)
            case ("color", .value(.integer(let old), _)): color = old
            case ("tags", .value(.text(let old), _)): tags = NoteTags(json: String(decoding: old, as: UTF8.self))
            case ("updated", .value(.integer(let old), _)): updatedMilliseconds = old
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
