import Foundation
import GRDB
import Kith
import KithNotes

/// Notes as a folder reads and writes them, within a transaction that notes the file as well.
enum FolderNote {
    static func note(_ content: FolderContent, _ id: UUID, _ now: Int64) -> Note {
        // What Kith has not written may say itself when it was changed.
        let said = content.id == nil ? content.updatedMilliseconds : nil
        let updated = min(now, said ?? now)
        return Note(
            id: id, title: content.title, body: content.body, color: content.color, tags: NoteTags(content.tags),
            createdMilliseconds: content.createdMilliseconds ?? updated, updatedMilliseconds: updated)
    }

    static func insert(_ id: UUID, _ content: FolderContent, _ now: Int64, _ db: Database) throws {
        let note = note(content, id, now)
        try db.execute(
            sql: "INSERT INTO note (id, title, body, color, tags, created, updated) VALUES (?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                id.data, note.title, note.body, note.color.rawValue, try note.tags.json(), note.createdMilliseconds,
                note.updatedMilliseconds,
            ])
    }

    static func insert(tag: String, into id: UUID, _ now: Int64, _ db: Database) throws {
        guard let note = try NotesStore.fetch(id, db), !note.tags.contains(tag), note.tags.count < NoteLimits.tagsMax else { return }
        var tags = note.tags
        tags.insert(tag)
        try db.execute(
            sql: "UPDATE note SET tags = ?, updated = ? WHERE id = ?",
            arguments: [try tags.json(), max(now, note.updatedMilliseconds), id.data])
    }

    static func delete(_ id: UUID, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM note WHERE id = ?", arguments: [id.data])
        try db.execute(sql: "DELETE FROM attachment WHERE note = ?", arguments: [id.data])
    }

    /// Whether a note says what its file said.
    static func says(_ note: Note, _ record: FolderRecord) -> Bool {
        note.title.utf8.elementsEqual(record.title.utf8) && note.body.utf8.elementsEqual(record.body.utf8)
            && note.color.rawValue == record.color && note.tags == record.tags
    }

    /// Brings into `current` what differs in `content` from what the file said before. A title or a color that the note has got meanwhile
    /// stays beside that of the file, to choose from.
    static func merge(
        _ content: FolderContent, at path: String, since record: FolderRecord, into current: Note, _ now: Int64, _ store: SyncedDatabase,
        _ db: Database
    ) throws {
        var isChanged = false
        func save(_ column: String, _ value: ColumnValue, since base: ColumnValue, insteadOf shown: ColumnValue) throws {
            if value == base || value == shown { return }
            try store.saveValue(db, table: NotesSchema.table, id: current.id, column: column, value, base: base)
            isChanged = true
        }
        let title = self.title(content, at: path, since: record, current)
        // A name that the note's own title has made, such as one with a number, is that title.
        let titled = isName(record.path, of: current.title) ? current.title : record.title
        try save("title", .text(title), since: .text(titled), insteadOf: .text(current.title))
        // A file that lost its front matter says nothing of what stood there.
        let isBare = record.hasID && content.id == nil
        if !isBare || content.color != .none {
            let (color, before) = (content.color.rawValue, record.color)
            try save("color", .integer(color), since: .integer(before), insteadOf: .integer(current.color.rawValue))
        }
        var changes: [(sql: String, values: [any DatabaseValueConvertible])] = []
        var tags = current.tags
        let said = NoteTags(content.tags)
        if !isBare { for tag in record.tags where !said.contains(tag) { tags.remove(tag) } }
        for tag in said where !record.tags.contains(tag) { tags.insert(tag) }
        // The file has no more of them than a note may have; what machines add at the same time may come to more.
        if tags != current.tags, tags.count <= max(NoteLimits.mergedTagsMax, current.tags.count) {
            changes.append(("tags = ?", [try tags.json()]))
        }
        if !content.body.utf8.elementsEqual(record.body.utf8), !content.body.utf8.elementsEqual(current.body.utf8) {
            changes.append(("body = kith_text(?, ?, body)", [content.body, record.body]))
        }
        if changes.isEmpty, !isChanged { return }
        let sql = "UPDATE note SET \(changes.map { $0.sql + ", " }.joined())updated = ? WHERE id = ?"
        let values =
            changes.flatMap(\.values).map { $0.databaseValue } + [
                max(now, current.updatedMilliseconds).databaseValue, current.id.data.databaseValue,
            ]
        try db.execute(sql: sql, arguments: StatementArguments(values))
    }

    /// The title that a file gives its note: that of its front matter if it was changed there, else that of its name if it was renamed.
    private static func title(_ content: FolderContent, at path: String, since record: FolderRecord, _ current: Note) -> String {
        let (stem, before) = (FileName.parts(RelativePath.name(of: path)).stem, FileName.parts(RelativePath.name(of: record.path)).stem)
        // The name that the note's own title has made says nothing new, but for capital letters that a person has changed in it.
        let renamed = isName(path, of: current.title) ? respelled(current.title, from: before, to: stem) : stem
        if !content.title.utf8.elementsEqual(record.title.utf8) {
            if content.hasTitle { return content.title }
            return renamed == stem ? content.title : renamed ?? current.title
        }
        guard content.hasTitle, stem != before, let renamed else { return current.title }
        return ForeignNote.line(renamed)
    }

    /// A title that is the name of its file but for a number, with the capital letters that the file has got by another name; `nil` if
    /// it has no others. A title of which the name is only a part stays.
    private static func respelled(_ title: String, from before: String, to after: String) -> String? {
        guard FileName.stem(for: title) == title, let old = base(of: before, named: title), let new = base(of: after, named: title),
            old != new
        else { return nil }
        return new
    }

    /// Whether a file of this title may be called so, with a number perhaps.
    static func isName(_ path: String, of title: String) -> Bool {
        base(of: FileName.parts(RelativePath.name(of: path)).stem, named: FileName.stem(for: title)) != nil
    }

    /// A name without the number behind it, if that is `title`, for which capital letters do not count.
    private static func base(of stem: String, named title: String) -> String? {
        if FileName.key(stem) == FileName.key(title) { return stem }
        guard stem.hasSuffix(")"), let open = stem.range(of: " (", options: .backwards) else { return nil }
        let base = String(stem[..<open.lowerBound])
        return stem[open.upperBound...].dropLast().allSatisfy(\.isNumber) && FileName.key(base) == FileName.key(title) ? base : nil
    }
}
