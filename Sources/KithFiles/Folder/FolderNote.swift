import Foundation
import GRDB
import Kith
import KithNotes

/// Notes as a folder reads and writes them, within a transaction that notes the file as well.
enum FolderNote {
    static func fetch(_ id: UUID, _ db: Database) throws -> Note? {
        guard
            let row = try Row.fetchOne(
                db, sql: "SELECT title, body, color, tags, created, updated FROM note WHERE id = ?", arguments: [id.data])
        else { return nil }
        return Note(
            id: id, title: String.fromDatabaseValue(row[0]) ?? "", body: String.fromDatabaseValue(row[1]) ?? "",
            color: NoteColor(rawValue: Int64.fromDatabaseValue(row[2]) ?? 0), tags: tags(String.fromDatabaseValue(row[3]) ?? ""),
            createdMilliseconds: Int64.fromDatabaseValue(row[4]) ?? 0, updatedMilliseconds: Int64.fromDatabaseValue(row[5]) ?? 0)
    }

    static func note(_ content: FolderContent, _ id: UUID, _ now: Int64) -> Note {
        Note(
            id: id, title: content.title, body: content.body, color: content.color, tags: NoteTags(content.tags),
            createdMilliseconds: content.createdMilliseconds ?? now, updatedMilliseconds: now)
    }

    static func insert(_ id: UUID, _ content: FolderContent, _ now: Int64, _ db: Database) throws {
        let note = note(content, id, now)
        try db.execute(
            sql: "INSERT INTO note (id, title, body, color, tags, created, updated) VALUES (?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                id.data, note.title, note.body, note.color.rawValue, try json(note.tags), note.createdMilliseconds,
                note.updatedMilliseconds,
            ])
    }

    static func delete(_ id: UUID, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM note WHERE id = ?", arguments: [id.data])
        try db.execute(sql: "DELETE FROM attachment WHERE note = ?", arguments: [id.data])
    }

    /// Whether a note says what its file said.
    static func says(_ note: Note, _ record: FolderRecord) -> Bool {
        note.title.utf8.elementsEqual(record.title.utf8) && note.body.utf8.elementsEqual(record.body.utf8)
            && note.color.rawValue == record.color && note.tags == NoteTags(record.tags)
    }

    /// Brings into `current` what differs in `content` from what the file said before.
    static func merge(
        _ content: FolderContent, at path: String, since record: FolderRecord, into current: Note, _ now: Int64, _ db: Database
    ) throws {
        var changes: [(sql: String, values: [any DatabaseValueConvertible])] = []
        let title = self.title(content, at: path, since: record, current)
        if !title.utf8.elementsEqual(current.title.utf8) { changes.append(("title = ?", [title])) }
        if content.color.rawValue != record.color, content.color != current.color {
            changes.append(("color = ?", [content.color.rawValue]))
        }
        var tags = current.tags
        for tag in record.tags where !content.tags.contains(tag) { tags.remove(tag) }
        for tag in content.tags where !record.tags.contains(tag) { tags.insert(tag) }
        if tags != current.tags, tags.count <= NoteLimits.tagsMax { changes.append(("tags = ?", [try json(tags)])) }
        if !content.body.utf8.elementsEqual(record.body.utf8), !content.body.utf8.elementsEqual(current.body.utf8) {
            changes.append(("body = kith_text(?, ?, body)", [content.body, record.body]))
        }
        if changes.isEmpty { return }
        let sql = "UPDATE note SET \(changes.map(\.sql).joined(separator: ", ")), updated = ? WHERE id = ?"
        let values =
            changes.flatMap(\.values).map { $0.databaseValue } + [
                max(now, current.updatedMilliseconds).databaseValue, current.id.data.databaseValue,
            ]
        try db.execute(sql: sql, arguments: StatementArguments(values))
    }

    /// The title that a file gives its note: that of its front matter if it was changed there, else that of its name if it was renamed.
    private static func title(_ content: FolderContent, at path: String, since record: FolderRecord, _ current: Note) -> String {
        if !content.title.utf8.elementsEqual(record.title.utf8) {
            // The name that the note's own title has made says nothing new.
            return content.hasTitle || !isName(path, of: current.title) ? content.title : current.title
        }
        let (stem, before) = (FileName.parts(RelativePath.name(of: path)).stem, FileName.parts(RelativePath.name(of: record.path)).stem)
        guard content.hasTitle, stem != before, !isName(path, of: current.title) else { return current.title }
        return ForeignNote.line(stem)
    }

    /// Whether a file of this title may be called so, with a number perhaps.
    static func isName(_ path: String, of title: String) -> Bool {
        let (stem, base) = (FileName.parts(RelativePath.name(of: path)).stem, FileName.stem(for: title))
        if FileName.key(stem) == FileName.key(base) { return true }
        guard stem.hasPrefix(base + " ("), stem.hasSuffix(")") else { return false }
        return stem.dropFirst(base.count + 2).dropLast().allSatisfy(\.isNumber)
    }

    private static func tags(_ json: String) -> NoteTags {
        NoteTags((try? JSONDecoder().decode([String].self, from: Data(json.utf8))) ?? [])
    }

    private static func json(_ tags: NoteTags) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return String(decoding: try encoder.encode(Array(tags)), as: UTF8.self)
    }
}
