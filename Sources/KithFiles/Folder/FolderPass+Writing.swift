import CFileFormats
import Foundation
import GRDB
import Kith
import KithNotes

// MARK: From notes to files

extension FolderPass {
    /// What is to become of the files, decided in one walk over the notes.
    private struct Work {
        var changed: [WholeNote] = []
        var present: Set<UUID> = []
    }

    mutating func writeFiles() throws {
        let links = try writeAttachments()
        var work = Work()
        let (records, tag) = (records, tag)
        try notes.forEachNote(includingTrash: false) { whole in
            if let tag, !whole.note.tags.contains(tag) { return }
            work.present.insert(whole.id)
            let record = records[whole.id]
            let stem = record.map { FileName.parts(RelativePath.name(of: $0.path)).stem } ?? ""
            let desired = MarkdownNote(whole, stem: stem, attachments: Self.links(whole, links, from: record?.path ?? ""))
            if record?.says(FolderContent(desired, title: whole.note.title)) != true { work.changed.append(whole) }
        }
        for whole in work.changed where !left.contains(whole.id) {
            do {
                if let record = self.records[whole.id] { try write(whole, over: record, links) } else { try create(whole, links) }
            } catch let error as FilesError {
                report.left.append(FolderReport.LeftFile(path: self.records[whole.id]?.path ?? whole.note.title, words: error.message))
            }
        }
        for record in self.records.values.sorted(by: { $0.path < $1.path })
        where !work.present.contains(record.note) && !left.contains(record.note) && found[record.path] != nil {
            try remove(record)
        }
    }

    private static func links(_ whole: WholeNote, _ paths: [String: String], from path: String) -> [MarkdownNote.Attachment] {
        let up = String(repeating: "../", count: path.split(separator: "/").count - (path.isEmpty ? 0 : 1))
        return whole.attachments.compactMap { file in
            paths[AttachmentFiles.key(file)].map { MarkdownNote.Attachment(path: up + $0, name: file.name) }
        }
    }

    private func desired(_ whole: WholeNote, at path: String, _ links: [String: String]) -> MarkdownNote {
        let stem = FileName.parts(RelativePath.name(of: path)).stem
        return MarkdownNote(whole, stem: stem, attachments: Self.links(whole, links, from: path))
    }

    /// Names of files in a folder, of which none is taken.
    private func freeName(for title: String, in folder: Substring) -> String {
        var names = NameRegister()
        for path in Array(found.keys) + records.values.map(\.path) where RelativePath.folder(of: path) == folder {
            _ = names.take(RelativePath.name(of: path))
        }
        let name = names.takeFree(stem: FileName.stem(for: title), ending: "md")
        return folder.isEmpty ? name : "\(folder)/\(name)"
    }

    private mutating func save(_ record: FolderRecord) throws {
        let tables = tables
        try database.write { db in try tables.save(record, db) }
        records[record.note] = record
    }

    private mutating func forget(_ note: UUID) throws {
        let tables = tables
        try database.write { db in try tables.remove(note, db) }
        records[note] = nil
    }

    private func place(_ path: String) -> String { "\(root)/\(path)" }

    /// A name beside the files that is hidden, and on the same disk.
    private func temporary(_ id: some CustomStringConvertible) -> String { "\(NotesFolder.temporaryPrefix)\(id)" }

    /// Makes a whole file under its temporary name.
    private func writeTemporary(_ bytes: [UInt8], _ name: String) throws {
        try options.step("temporary")
        let unfinished = place(name) + "~"
        try NewFile.write(bytes, to: unfinished, modifiedMilliseconds: options.nowMilliseconds())
        try options.step("whole")
        guard rename(unfinished, place(name)) == 0 else { throw NewFile.failure(place(name)) }
    }

    // MARK: Files that are there

    private mutating func write(_ whole: WholeNote, over old: FolderRecord, _ links: [String: String]) throws {
        var record = old
        // A new title is a new name.
        if !whole.note.title.utf8.elementsEqual(record.title.utf8), !FolderNote.isName(record.path, of: whole.note.title) {
            let path = freeName(for: whole.note.title, in: RelativePath.folder(of: record.path))
            try options.step("rename")
            guard kith_rename_new(place(record.path), place(path)) == 0 else { return }
            try options.step("renamed")
            found[path] = found.removeValue(forKey: record.path)
            record.path = path
            try save(record)
            report.written += 1
        }
        let note = desired(whole, at: record.path, links)
        let content = FolderContent(note, title: whole.note.title)
        if record.says(content) { return }
        let bytes = note.bytes()
        record.intent = FolderRecord.Intent(bytes: bytes, temporary: temporary(record.note))
        try save(record)
        try writeTemporary(bytes, record.intent?.temporary ?? "")
        try exchange(record, content, bytes)
    }

    /// Puts what was prepared in the place of the file, unless somebody has saved since it was read.
    private mutating func exchange(_ prepared: FolderRecord, _ content: FolderContent, _ bytes: [UInt8]) throws {
        var record = prepared
        guard let temporary = record.intent?.temporary else { return }
        let (path, aside) = (place(record.path), place(temporary))
        let current = try? ForeignFile.read(path, bytesMax: MarkdownNote.bytesMax)
        guard let current, Self.hash(current) == record.hash else {
            // The next pass reads it.
            record.intent = nil
            try save(record)
            unlink(aside)
            return
        }
        try options.step("exchange")
        options.beforeExchange(path)
        guard kith_exchange(aside, path) == 0 else {
            record.intent = nil
            try save(record)
            unlink(aside)
            throw FilesError(.inputOutput, "It cannot be written (\(ForeignFile.systemMessage())).")
        }
        try options.step("exchanged")
        try settle(record, content, bytes)
        report.written += 1
    }

    /// Looks at what stood in the file before it was exchanged: what somebody has saved in the last moment is merged.
    private mutating func settle(_ prepared: FolderRecord, _ content: FolderContent, _ bytes: [UInt8]) throws {
        var record = prepared
        guard let temporary = record.intent?.temporary else { return }
        let aside = place(temporary)
        let swapped = try ForeignFile.read(aside, bytesMax: MarkdownNote.bytesMax)
        let hash = Self.hash(bytes)
        if Self.hash(swapped) == record.hash {
            record.take(content, hash: hash)
            record.intent = nil
            found[record.path] = hash
            try save(record)
        } else if let saved = try? FolderContent(swapped, path: record.path) {
            try absorb(saved, Self.hash(swapped), at: record.path, into: record, then: (content, hash))
            report.read += 1
        } else {
            // Half a file, perhaps: it goes back, and is read when it is whole.
            guard kith_exchange(aside, place(record.path)) == 0 else { throw NewFile.failure(place(record.path)) }
            record.intent = nil
            try save(record)
        }
        try options.step("settled")
        unlink(aside)
    }

    // MARK: Files that are new

    private mutating func create(_ whole: WholeNote, _ links: [String: String]) throws {
        let path = freeName(for: whole.note.title, in: "")
        let note = desired(whole, at: path, links)
        let (content, bytes) = (FolderContent(note, title: whole.note.title), note.bytes())
        var record = FolderRecord(
            path: path, note: whole.id, hash: [], title: "", body: "", color: 0, tags: [], links: [],
            intent: FolderRecord.Intent(bytes: bytes, temporary: temporary(whole.id)))
        try save(record)
        try writeTemporary(bytes, record.intent?.temporary ?? "")
        let aside = place(record.intent?.temporary ?? "")
        try options.step("create")
        guard kith_rename_new(aside, place(path)) == 0 else {
            // Somebody was faster; the next pass finds another name.
            try forget(whole.id)
            unlink(aside)
            return
        }
        try options.step("created")
        record.take(content, hash: Self.hash(bytes))
        record.intent = nil
        found[path] = record.hash
        try save(record)
        report.written += 1
    }

    // MARK: Files of notes that are gone

    private mutating func remove(_ gone: FolderRecord) throws {
        var record = gone
        record.intent = FolderRecord.Intent(bytes: [], temporary: temporary(record.note))
        try save(record)
        let aside = place(record.intent?.temporary ?? "")
        try options.step("remove")
        guard kith_rename_new(place(record.path), aside) == 0 else {
            record.intent = nil
            try save(record)
            return
        }
        try options.step("aside")
        try finishRemoval(record)
    }

    /// The file was taken aside.
    private mutating func finishRemoval(_ gone: FolderRecord) throws {
        var record = gone
        guard let temporary = record.intent?.temporary else { return }
        let aside = place(temporary)
        if let bytes = try? ForeignFile.read(aside, bytesMax: MarkdownNote.bytesMax), Self.hash(bytes) == record.hash {
            try forget(record.note)
            found[record.path] = nil
            report.removed += 1
        } else {
            // Somebody has saved: it goes back, and the note comes back with the next pass.
            if kith_rename_new(aside, place(record.path)) != 0 {
                _ = kith_rename_new(aside, place(freeName(for: "\(record.title) (saved)", in: "")))
            }
            record.intent = nil
            try save(record)
        }
        try options.step("removed")
        unlink(aside)
    }

    // MARK: What a pass that was killed has left

    mutating func recover() throws {
        for record in records.values.sorted(by: { $0.path < $1.path }) where record.intent != nil { try recover(record) }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        // Nobody refers to these any more, and no person's bytes are in them.
        for name in names where name.hasPrefix(NotesFolder.temporaryPrefix) { unlink(place(name)) }
    }

    private mutating func recover(_ record: FolderRecord) throws {
        guard let intent = record.intent else { return }
        var cleared = record
        cleared.intent = nil
        let aside = place(intent.temporary)
        let isThere = ForeignFile.kind(aside) != .missing
        if intent.bytes.isEmpty {
            if isThere { try finishRemoval(record) } else { try save(cleared) }
            return
        }
        let content = try FolderContent(intent.bytes, path: record.path)
        if record.hash.isEmpty {
            // A new file: the temporary one is there until it has its name. Another file of that name may be somebody's own.
            let made = try? FolderContent(ForeignFile.read(place(record.path), bytesMax: MarkdownNote.bytesMax), path: record.path)
            guard !isThere, made?.id == record.note else { return try forget(record.note) }
            cleared.take(content, hash: Self.hash(intent.bytes))
            return try save(cleared)
        }
        guard isThere else { return try save(cleared) }
        let swapped = try ForeignFile.read(aside, bytesMax: MarkdownNote.bytesMax)
        // As it was made: the places were not changed.
        if Self.hash(swapped) == Self.hash(intent.bytes) { return try save(cleared) }
        try settle(record, content, intent.bytes)
    }

    // MARK: Attachments

    /// Writes the attachments that have no file yet.
    ///
    /// - Returns: where they are, by ``AttachmentFiles/key(_:)``.
    private mutating func writeAttachments() throws -> [String: String] {
        let (tables, tag) = (tables, tag)
        var paths = try database.read { db in try tables.attachments(db) }
        var missing: [WholeNote.Attachment] = []
        try notes.forEachNote(includingTrash: false) { whole in
            if let tag, !whole.note.tags.contains(tag) { return }
            missing += whole.attachments.filter { paths[AttachmentFiles.key($0)] == nil }
        }
        if missing.isEmpty { return paths }
        let folder = MarkdownExport.attachmentFolder
        try NewFile.makeFolder(place(folder))
        var names = NameRegister()
        for name in try FileManager.default.contentsOfDirectory(atPath: place(folder)) { _ = names.take(name) }
        for attachment in missing where paths[AttachmentFiles.key(attachment)] == nil {
            guard let file = try notes.store.provenAttachment(attachment.content) else { continue }
            let path = "\(folder)/\(names.takeFree(FileName.name(for: attachment.name)))"
            let aside = place(temporary(attachment.content))
            try NewFile.copy(file.url, to: aside)
            guard kith_rename_new(aside, place(path)) == 0 else { throw NewFile.failure(place(path)) }
            try database.write { db in try tables.save(attachment, path, db) }
            paths[AttachmentFiles.key(attachment)] = path
        }
        return paths
    }
}
