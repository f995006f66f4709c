import Foundation
import GRDB
import Kith

extension NotesStore {
    /// Puts notes into the store as they are, with their ids and times, in one transaction; those of the trash with a second one.
    ///
    /// A note of which the id is known is never changed: see ``InsertOutcome``.
    /// - Parameter isDryRun: whether to say only what would become of them.
    /// - Returns: for each note what became of it.
    /// - Throws: ``NotesError`` with code `busy`, `diskFull` or `readOnly`; nothing is added then, or what was is in the trash not yet.
    public func insert(_ notes: [WholeNote], isDryRun: Bool = false) throws(NotesError) -> [InsertOutcome] {
        try insert(notes, isDryRun: isDryRun, isStep: false)
    }

    func insert(_ notes: [WholeNote], isDryRun: Bool = false, isStep: Bool) throws(NotesError) -> [InsertOutcome] {
        let trashed = try NotesError.mapping { Set(try store.trash(table: NotesSchema.table, max: .max).map { UUID($0.id) }) }
        let outcomes: [InsertOutcome] = try NotesError.mapping {
            if isDryRun { return try database.read { db in try Self.outcomes(of: notes, trashed, db) } }
            return try database.write { db in
                if isStep { try step("Add", notes.map(\.note.title), db) }
                return try notes.map { note in
                    let outcome = try Self.outcome(of: note, trashed, db)
                    if outcome == .added { try add(note, db, isStep) }
                    return outcome
                }
            }
        }
        let deleted = zip(notes, outcomes).filter { $0.isTrashed && $1 == .added }.map(\.0.id)
        if !isDryRun, !deleted.isEmpty { try delete(deleted, isStep: false) }
        return outcomes
    }

    /// Which of the ids belong to a note, shown or in the trash.
    package func known(_ ids: [UUID]) throws(NotesError) -> Set<UUID> {
        let trashed = try NotesError.mapping { Set(try store.trash(table: NotesSchema.table, max: .max).map { UUID($0.id) }) }
        return try NotesError.mapping {
            try database.read { db in
                let select = try db.cachedStatement(sql: "SELECT 1 FROM note WHERE id = ?")
                return Set(try ids.filter { id in try trashed.contains(id) || Row.fetchOne(select, arguments: [Data(id.bytes)]) != nil })
            }
        }
    }

    /// Calls `body` with every note as of one moment, in the order of their ids, then with those of the trash. What it throws ends the walk.
    public func forEachNote(includingTrash: Bool = true, _ body: (WholeNote) throws -> Void) throws {
        do {
            try database.read { db in
                func visit(_ note: WholeNote) throws {
                    do { try body(note) } catch { throw EndedWalk(error: error) }
                }
                let attachments = try allAttachments(db)
                let notes = try Row.fetchCursor(db, sql: "SELECT \(Note.selection) FROM note ORDER BY id")
                while let row = try notes.next() {
                    guard let note = Note(row: row) else { continue }
                    try visit(WholeNote(note, attachments: attachments[note.id] ?? []))
                }
                if includingTrash { for note in try trashedNotes(db) { try visit(note) } }
            }
        } catch let ended as EndedWalk {
            throw ended.error
        } catch {
            try NotesError.mapping { throw error }
        }
    }

    /// What the body of a walk threw, told from what the store throws.
    private struct EndedWalk: Error {
        let error: any Error
    }

    private func allAttachments(_ db: Database) throws -> [UUID: [WholeNote.Attachment]] {
        var attachments: [UUID: [WholeNote.Attachment]] = [:]
        let files = try Row.fetchCursor(db, sql: "SELECT \(NoteAttachment.selection) FROM attachment ORDER BY name, id")
        while let row = try files.next() {
            guard let found = attachment(row[0], row[1], row[2], row[3], row[4]) else { continue }
            attachments[found.note, default: []].append(found.attachment)
        }
        return attachments
    }

    /// The notes in the trash, with the attachments that were deleted with them.
    private func trashedNotes(_ db: Database) throws -> [WholeNote] {
        let files = try store.trash(db, table: NotesSchema.attachmentTable, max: .max)
        return try store.trash(db, table: NotesSchema.table, max: .max).sorted { $0.id < $1.id }.compactMap { row in
            guard let note = Note(row.id, row.values) else { return nil }
            let own = files.filter { $0.deletions.contains(where: row.deletions.contains) && $0.values["note"] == .blob(row.id.bytes) }
            let attachments = own.compactMap { file in
                let value = { file.values[$0].map(DatabaseValue.init) ?? .null }
                return attachment(
                    Data(file.id.bytes).databaseValue, Data(row.id.bytes).databaseValue, value("name"), value("size"), value("file"))?
                    .attachment
            }
            return WholeNote(note, attachments: attachments.sorted { $0.name < $1.name }, isTrashed: true)
        }
    }

    private func attachment(
        _ id: DatabaseValue, _ note: DatabaseValue, _ name: DatabaseValue, _ size: DatabaseValue, _ file: DatabaseValue
    ) -> (note: UUID, attachment: WholeNote.Attachment)? {
        guard let id = UUID.fromDatabaseValue(id), let note = UUID.fromDatabaseValue(note),
            let content = String.fromDatabaseValue(file).flatMap({ AttachmentID($0) })
        else { return nil }
        let size = store.attachmentState(content).sizeBytes ?? max(0, Int64.fromDatabaseValue(size) ?? 0)
        return (note, WholeNote.Attachment(id: id, name: Note.shownText(name), sizeBytes: size, content: content))
    }

    /// What would become of notes of which each may be there twice.
    private static func outcomes(of notes: [WholeNote], _ trashed: Set<UUID>, _ db: Database) throws -> [InsertOutcome] {
        var seen: Set<UUID> = []
        return try notes.map { note in
            let outcome = try outcome(of: note, trashed, db)
            return outcome == .added && !seen.insert(note.id).inserted ? .present : outcome
        }
    }

    private static func outcome(of whole: WholeNote, _ trashed: Set<UUID>, _ db: Database) throws -> InsertOutcome {
        let select = try db.cachedStatement(sql: "SELECT \(Note.selection) FROM note WHERE id = ?")
        if let current = try Row.fetchOne(select, arguments: [Data(whole.id.bytes)]).flatMap(Note.init(row:)) {
            return current.fieldsThatDiffer(from: whole.note).isEmpty ? .present : .different
        }
        if trashed.contains(whole.id) { return whole.isTrashed ? .present : .deleted }
        do {
            try NoteLimits.check(whole.note, isMerged: true)
            for attachment in whole.attachments { try NoteLimits.checkAttachmentName(attachment.name) }
        } catch {
            return .rejected(error.message)
        }
        return .added
    }

    /// Another machine may import the same file, or have the notes that it was made from: then both are one. What is a step was written here.
    private func add(_ note: WholeNote, _ db: Database, _ isStep: Bool) throws {
        if isStep { try Self.insert(note, db) } else { try store.findingRows(db) { try Self.insert(note, db) } }
    }

    private static func insert(_ whole: WholeNote, _ db: Database) throws {
        let (note, id) = (whole.note, Data(whole.id.bytes))
        let insert = try db.cachedStatement(sql: "INSERT INTO note (\(Note.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        try insert.execute(arguments: [
            id, note.title, note.body, note.color.rawValue, try note.tags.json(), note.createdMilliseconds, note.updatedMilliseconds,
            note.isPinned ? 1 : 0,
        ])
        for file in whole.attachments {
            try db.cachedStatement(sql: "INSERT OR IGNORE INTO attachment (\(NoteAttachment.columns)) VALUES (?, ?, ?, ?, ?)")
                .execute(arguments: [Data(file.id.bytes), id, file.name, file.sizeBytes, file.content.description])
        }
    }
}
