import Foundation
import GRDB
import Kith
import KithNotes

// MARK: From files to notes

extension FolderPass {
    /// New notes of one transaction.
    private static let batchMax = 500

    mutating func readFiles(_ changes: [ChangedFile]) throws {
        try saveStamps()
        var new: [(file: ChangedFile, content: FolderContent)] = []
        for file in changes {
            guard let content = try content(of: file) else { continue }
            if let note = file.note, let record = try record(of: note) {
                try absorb(content, file.hash, file.stamp, at: file.path, into: record)
                report.read += 1
            } else if let id = content.id, try wasInTrash(id) {
                try bringBack(content, file)
            } else {
                new.append((file, content))
                if new.count >= Self.batchMax { try add(&new) }
            }
        }
        try add(&new)
    }

    private mutating func saveStamps() throws {
        let (tables, stamps) = (tables, stamps)
        if stamps.isEmpty { return }
        try database.write { db in for (note, stamp) in stamps { try tables.setStamp(note, stamp, db) } }
    }

    /// What a file says; `nil` if it says something else by now.
    private mutating func content(of file: ChangedFile) throws -> FolderContent? {
        if let content = file.content { return content }
        guard let bytes = try? ForeignFile.read(place(file.path), bytesMax: MarkdownNote.bytesMax), Self.hash(bytes) == file.hash else {
            wait(for: file.path, file.note ?? file.known?.note)
            return nil
        }
        return try self.content(bytes, at: file.path)
    }

    // MARK: Known notes

    /// Merges what differs in a file from what it said before, and notes what it says now.
    ///
    /// - Parameter replacement: what stands in the file by now, if it is something else.
    mutating func absorb(
        _ said: FolderContent, _ hash: [UInt8], _ stamp: FileStamp?, at path: String, into record: FolderRecord,
        then replacement: Replacement? = nil
    ) throws {
        try options.step("absorb")
        let (tables, now, basis, store) = (tables, options.nowMilliseconds(), readers?.basis(of: record) ?? record, notes.store)
        var content = said
        content.readLinks(since: basis)
        try reviveIfDeleted(record, content)
        var saved = record
        saved.path = path
        saved.take(content, hash: hash, stamp: stamp)
        // Without front matter it says nothing of attachments, and its links are read as before.
        if content.id == nil, content.attachments.isEmpty { saved.links = record.links }
        // If this is killed, the file is read again, and has what is done by then.
        try attachFiles(content, at: path, to: record.note)
        try detachFiles(content, at: path, since: basis)
        try options.step("merge")
        try database.write { [saved, content] db in
            guard let current = try NotesStore.fetch(record.note, db) else { throw FilesError(.notFound, "The note was deleted.") }
            try FolderNote.merge(content, at: path, since: basis, into: current, now, store, db)
            var record = saved
            if let replacement { record.take(replacement.content, hash: replacement.hash, stamp: nil) }
            try tables.save(record, db)
        }
        if replacement == nil { readers?.forget(record.note) } else { readers?.wasSaved(saved) }
        touched.insert(record.note)
    }

    /// What was written into a file in the place of what it said.
    struct Replacement {
        let content: FolderContent
        let hash: [UInt8]
    }

    /// A note that was deleted while its file was written comes back: an edit is worth more than a deletion.
    private func reviveIfDeleted(_ record: FolderRecord, _ content: FolderContent) throws {
        if try notes.note(record.note) != nil { return }
        if try isInTrash(record.note) {
            try notes.restore(record.note, isStep: false)
            return
        }
        // Gone for good.
        let now = options.nowMilliseconds()
        try database.write { db in try FolderNote.insert(record.note, content, now, db) }
    }

    private func isInTrash(_ id: UUID) throws -> Bool {
        if try notes.note(id) != nil { return false }
        return try notes.trash().contains { $0.id == id }
    }

    /// The same for many files: the trash is read once.
    private mutating func wasInTrash(_ id: UUID) throws -> Bool {
        if try notes.note(id) != nil { return false }
        let all = try trashed ?? Set(notes.trash().map(\.id))
        trashed = all
        return all.contains(id)
    }

    /// The file of a deleted note is there again, so the note comes back.
    private mutating func bringBack(_ content: FolderContent, _ file: ChangedFile) throws {
        guard let id = content.id else { return }
        try options.step("restore")
        let note = try notes.restore(id, isStep: false)
        try absorb(content, file.hash, file.stamp, at: file.path, into: FolderRecord(of: note, at: file.path))
        report.added += 1
    }

    // MARK: New notes

    private mutating func add(_ new: inout [(file: ChangedFile, content: FolderContent)]) throws {
        let batch = new
        new = []
        if batch.isEmpty { return }
        try options.step("add")
        let (tables, tag, options, store, asksJournal) = (tables, tag, options, notes.store, asksJournal)
        let made = try database.write { db in
            try batch.map { file, content in try Self.add(content, file, tag, tables, options, store, asksJournal, db) }
        }
        var attached: [FolderRecord] = []
        for ((file, content), added) in zip(batch, made) {
            guard let added else {
                leave(file.path, Self.laterWords, content.id)
                continue
            }
            let isFound = added.isNew && added.record.note == content.id
            try attachFiles(content, at: file.path, to: added.record.note, isFound: isFound)
            if content.mayHaveFiles { attached.append(added.record) }
            touched.insert(added.record.note)
            if added.isNew { report.added += 1 }
        }
        if !attached.isEmpty { try database.write { [attached] db in for record in attached { try tables.save(record, db) } } }
    }

    static let laterWords =
        "It says something later than its note here, as after a restore, and waits until other machines bring that. If none will: kith folder sync --take-later"

    /// - Returns: what is known of the file now, and whether its note was not there before; `nil` if the file is left.
    private static func add(
        _ content: FolderContent, _ file: ChangedFile, _ tag: String?, _ tables: FolderTables, _ options: NotesFolder.Options,
        _ store: SyncedDatabase, _ asksJournal: Bool, _ db: Database
    ) throws -> (record: FolderRecord, isNew: Bool)? {
        let now = options.nowMilliseconds()
        // A file that was there before is as old as it says.
        let written = min(now, file.stamp?.modifiedMilliseconds ?? now)
        let known = try content.id.flatMap { try tables.record(of: $0, db) } != nil
        var id = known ? options.makeID(now) : content.id ?? options.makeID(now)
        var isNew = true
        if let current = try NotesStore.fetch(id, db) {
            isNew = !current.fieldsThatDiffer(from: FolderNote.note(content, id, written)).isEmpty
            if isNew, asksJournal, let past = try FolderPast.record(of: content, at: file.path, current, store, db) {
                try FolderNote.merge(content, at: file.path, since: past, into: current, now, store, db)
                isNew = false
            }
            // Kith wrote it when the note was in a state that is not here yet, or not any more.
            if isNew, let written = content.updatedMilliseconds, written > current.updatedMilliseconds {
                guard options.takesLater else { return nil }
                try FolderNote.merge(content, at: file.path, since: FolderRecord(of: current, at: file.path), into: current, now, store, db)
                isNew = false
            }
            // If it is not known what it was made of, it is a note of its own, so that nothing is lost.
            if isNew { id = options.makeID(now) }
        }
        var scoped = content
        if let tag, !content.tags.contains(tag) { scoped.tags.append(tag) }
        if isNew {
            // A file that says its id was made of a note, which another machine may have: then both are one.
            if id == content.id {
                try store.findingRows(db) { try FolderNote.insert(id, scoped, written, db) }
            } else {
                try FolderNote.insert(id, scoped, written, db)
            }
        } else if let tag {
            try FolderNote.insert(tag: tag, into: id, now, db)
        }
        var record = FolderRecord(path: file.path, note: id)
        record.take(content, hash: file.hash, stamp: file.stamp)
        var begun = record
        // Until its files are attached, it is read again.
        if content.mayHaveFiles { (begun.hash, begun.stamp) = ([], nil) }
        try tables.save(begun, db)
        return (record, isNew)
    }
}

// MARK: Deleted files

extension FolderPass {
    /// Deletions within this time are counted together.
    private static let latelyMilliseconds: Int64 = 60_000

    /// - Parameter gone: files that are nowhere.
    mutating func deleteNotes(_ gone: [KnownFile]) throws {
        let gone = gone.filter { !left.contains($0.note) }
        if gone.isEmpty { return }
        left.formUnion(gone.map(\.note))
        // An editor may be about to put a new file in the place of the old one.
        let (tables, now) = (tables, options.nowMilliseconds())
        let fresh = gone.filter { $0.goneMilliseconds == nil }
        if !fresh.isEmpty {
            try database.write { db in for file in fresh { try tables.setGone(file.note, now, db) } }
        }
        let sure = gone.filter { !isUnreadable($0) && $0.goneMilliseconds.map { isPast($0, by: options.quietMilliseconds) } ?? false }
        let isSure = Set(sure.map(\.note))
        report.notesAgain.formUnion(gone.filter { !isSure.contains($0.note) && !isUnreadable($0) }.map(\.note))
        if isUnknownWritten || sure.isEmpty { return }
        if options.writesAgain {
            try database.write { db in for file in sure { try tables.remove(file.note, db) } }
            left.subtract(sure.map(\.note))
            touched.formUnion(sure.map(\.note))
        } else if try isHeld(sure.count) {
            report.held = sure.count
        } else {
            for file in sure { try delete(file.note) }
        }
    }

    /// Whether a file was moved, and cannot be understood in its new place.
    private func isUnreadable(_ gone: KnownFile) -> Bool {
        let name = RelativePath.name(of: gone.path)
        return unreadable.contains { file in
            file.stamp.inode == gone.stamp?.inode || RelativePath.name(of: file.path).utf8.elementsEqual(name.utf8)
        }
    }

    /// Whether so many files are gone that a person is asked first.
    private func isHeld(_ count: Int) throws -> Bool {
        if options.deletesMany { return false }
        let (tables, since) = (tables, options.nowMilliseconds() - Self.latelyMilliseconds)
        let (all, lately) = try database.read { db in (try tables.count(db), try tables.deletedLately(since: since, db)) }
        let sum = count + lately
        return sum >= options.deletedMax || sum > 3 && sum * 3 >= all + lately || count == all && all > 1
    }

    private mutating func delete(_ note: UUID) throws {
        try options.step("delete")
        let (tables, now) = (tables, options.nowMilliseconds())
        let isDeleted = try database.write { db in
            guard let record = try tables.record(of: note, db) else { return false }
            try tables.remove(note, db)
            // What was written or attached since stays, and gets a file again.
            guard let current = try NotesStore.fetch(note, db), FolderNote.says(current, record), try !hasOtherAttachments(record, db)
            else { return false }
            try FolderNote.delete(note, db)
            try tables.addDeleted(1, lately: tables.deletedLately(since: now - Self.latelyMilliseconds, db), now, db)
            return true
        }
        left.remove(note)
        touched.insert(note)
        if isDeleted { report.deleted += 1 }
    }
}
