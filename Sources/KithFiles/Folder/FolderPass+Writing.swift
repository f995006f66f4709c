import CFileFormats
import Foundation
import GRDB
import Kith
import KithNotes

// MARK: From notes to files

extension FolderPass {
    /// New files that are made together.
    private static let batchMax = 200

    mutating func writeFiles() throws {
        var new: [WholeNote] = []
        for id in try candidates() where !left.contains(id) {
            let record = try record(of: id)
            if record?.intent != nil { continue }
            guard let whole = try whole(id), tag.map(whole.note.tags.contains) ?? true else {
                if let record { try remove(record) }
                continue
            }
            do {
                if let record { try write(whole, over: record) } else { new.append(whole) }
            } catch let error as FilesError where error.code != .inputOutput {
                leave(record?.path ?? whole.note.title, error.message, id)
            }
            if new.count >= Self.batchMax { try create(&new) }
        }
        try create(&new)
    }

    /// The notes that may say something else than their files, in the order of their ids.
    private func candidates() throws -> [UUID] {
        var ids = touched
        switch scope {
        case .some(_, let notes): ids.formUnion(notes)
        case .everything:
            let (tables, tag) = (tables, tag)
            ids.formUnion(try database.read { db in try tables.unequal(tag: tag, db) })
        }
        return ids.sorted { $0.data.lexicographicallyPrecedes($1.data) }
    }

    private func whole(_ id: UUID) throws -> WholeNote? {
        guard let note = try notes.note(id) else { return nil }
        let attachments = try notes.attachments(of: id).compactMap { file in
            file.content.map { WholeNote.Attachment(id: file.id, name: file.name, sizeBytes: file.sizeBytes, content: $0) }
        }
        return WholeNote(note, attachments: attachments)
    }

    /// What a file at `path` is to say.
    private mutating func desired(_ whole: WholeNote, at path: String) throws -> (note: MarkdownNote, content: FolderContent) {
        let up = String(repeating: "../", count: path.utf8.count { $0 == UInt8(ascii: "/") })
        let files = try placeAttachments(of: whole).map { MarkdownNote.Attachment(path: up + $0.path, name: $0.name) }
        let note = MarkdownNote(whole, stem: FileName.parts(RelativePath.name(of: path)).stem, attachments: files)
        return (note, FolderContent(note, title: whole.note.title))
    }

    /// A path for a new file of this title, which nothing has, on no system.
    mutating func freePath(for title: String, in folder: Substring) throws -> String {
        let stem = FileName.stem(for: title)
        let base = folder.isEmpty ? "" : "\(folder)/"
        let key = FileName.key(base + stem)
        var number = names[key] ?? 1
        let tables = tables
        while true {
            let path = number == 1 ? "\(base)\(stem).md" : "\(base)\(stem) (\(number)).md"
            number += 1
            if ForeignFile.kind(place(path)) == .missing, try !database.read({ db in try tables.hasKey(FileName.key(path), db) }),
                promised.insert(FileName.key(path)).inserted
            {
                names[key] = number
                return path
            }
        }
    }

    /// Makes a whole file under its temporary name.
    private func writeTemporary(_ bytes: [UInt8], _ name: String, synchronizes: Bool) throws -> FileStamp? {
        try options.step("temporary")
        let unfinished = place(name) + "~"
        unlink(unfinished)
        let stamp = try NewFile.writeStamped(
            bytes, to: unfinished, options.nowMilliseconds(), synchronizes: synchronizes && options.synchronizes)
        try options.step("whole")
        guard rename(unfinished, place(name)) == 0 else { throw NewFile.failure(place(name)) }
        return stamp
    }

    // MARK: Files that are there

    private mutating func write(_ whole: WholeNote, over old: FolderRecord) throws {
        var record = old
        // A new title is a new name.
        if !whole.note.title.utf8.elementsEqual(record.title.utf8), !FolderNote.isName(record.path, of: whole.note.title) {
            let path = try freePath(for: whole.note.title, in: RelativePath.folder(of: record.path))
            try options.step("rename")
            guard kith_rename_new(place(record.path), place(path)) == 0 else {
                report.notesAgain.insert(whole.id)
                return
            }
            try options.step("renamed")
            record.path = path
            try save(record)
            report.written += 1
        }
        let (note, content) = try desired(whole, at: record.path)
        if record.says(content) { return }
        record.pending = note.bytes()
        let stamp = try writeTemporary(record.pending, temporary(record.note), synchronizes: true)
        record.intent = .exchange
        try options.step("noted")
        try save(record)
        try exchange(record, content, stamp)
    }

    /// Puts what was prepared in the place of the file, unless somebody has saved since it was read.
    private mutating func exchange(_ record: FolderRecord, _ content: FolderContent, _ stamp: FileStamp?) throws {
        let (path, aside) = (place(record.path), place(temporary(record.note)))
        guard case .file(let current) = ForeignFile.kind(path), isQuiet(path, current),
            let bytes = try? ForeignFile.read(path, bytesMax: MarkdownNote.bytesMax), Self.hash(bytes) == record.hash
        else {
            // The next pass reads it.
            again(record)
            return try giveUp(record)
        }
        try options.step("exchange")
        options.beforeExchange(path)
        guard kith_exchange(aside, path) == 0 else {
            let words = "It cannot be written (\(ForeignFile.systemMessage()))."
            try giveUp(record)
            throw FilesError(.cannotCreate, words)
        }
        try options.step("exchanged")
        try settle(record, content, stamp)
    }

    /// What was prepared is not needed.
    func giveUp(_ record: FolderRecord) throws {
        var record = record
        (record.intent, record.pending) = (nil, [])
        try save(record)
        unlink(place(temporary(record.note)))
    }

    /// Looks at what stood in the file before it was exchanged: what somebody has saved in the last moment is merged.
    mutating func settle(_ prepared: FolderRecord, _ content: FolderContent, _ stamp: FileStamp?) throws {
        var record = prepared
        let aside = place(temporary(record.note))
        guard case .file(let now) = ForeignFile.kind(aside),
            let swapped = try? ForeignFile.read(aside, bytesMax: MarkdownNote.bytesMax)
        else { return try putBack(record) }
        let isSame = Self.hash(swapped) == record.hash
        // Somebody writes into the old file still: the next pass sees what becomes of it.
        let isDone = isSame ? !ForeignFile.isBeingWritten(aside) || isQuiet(aside, now) : isQuiet(aside, now)
        guard isDone else { return wait(for: record.path, record.note) }
        let hash = Self.hash(record.pending)
        if isSame {
            record.take(content, hash: hash, stamp: stamp)
            try save(record)
            report.written += 1
        } else if let saved = try? FolderContent(swapped, path: record.path) {
            try absorb(
                saved, Self.hash(swapped), nil, at: record.path, into: record, then: Replacement(content: content, hash: hash))
            report.read += 1
            again(record)
        } else {
            return try putBack(record)
        }
        try options.step("settled")
        unlink(aside)
    }

    /// What stood in the file cannot be understood: it stays as it is, and is named.
    private mutating func putBack(_ record: FolderRecord) throws {
        let (path, aside) = (place(record.path), place(temporary(record.note)))
        let isOurs = (try? ForeignFile.read(path, bytesMax: MarkdownNote.bytesMax)).map { Self.hash($0) == Self.hash(record.pending) }
        if isOurs != true || kith_exchange(aside, path) != 0 {
            _ = kith_rename_new(aside, place(try freePath(for: "\(record.title) (saved)", in: "")))
        }
        again(record)
        try giveUp(record)
    }

    /// Looks at a file and its note once more, with the next pass.
    private mutating func again(_ record: FolderRecord) {
        report.pathsAgain.insert(FolderPath(record.path))
        report.notesAgain.insert(record.note)
    }

    // MARK: Files that are new

    private mutating func create(_ new: inout [WholeNote]) throws {
        let batch = new
        new = []
        var made: [FolderRecord] = []
        for whole in batch {
            let path = try freePath(for: whole.note.title, in: "")
            let (note, content) = try desired(whole, at: path)
            let bytes = note.bytes()
            var record = FolderRecord(path: path, note: whole.id)
            let stamp = try writeTemporary(bytes, temporary(whole.id), synchronizes: batch.count == 1)
            record.take(content, hash: Self.hash(bytes), stamp: stamp)
            record.intent = .create
            made.append(record)
        }
        if made.isEmpty { return }
        if made.count > 1, options.synchronizes { NewFolder.synchronize(root) }
        try options.step("noted")
        let tables = tables
        try database.write { [made] db in for record in made { try tables.save(record, db) } }
        try name(made)
    }

    /// Gives new files their names.
    private mutating func name(_ records: [FolderRecord]) throws {
        var (named, given) = ([FolderRecord](), [UUID]())
        for var record in records {
            try options.step("create")
            if kith_rename_new(place(temporary(record.note)), place(record.path)) == 0 {
                record.intent = nil
                named.append(record)
            } else {
                // Somebody was faster; the next pass finds another name.
                given.append(record.note)
            }
        }
        try options.step("created")
        let tables = tables
        try database.write { [named, given] db in
            for record in named { try tables.save(record, db) }
            for note in given { try tables.remove(note, db) }
        }
        for note in given { unlink(place(temporary(note))) }
        report.written += named.count
        report.notesAgain.formUnion(given)
    }

    // MARK: Files of notes that are gone

    private mutating func remove(_ gone: FolderRecord) throws {
        var record = gone
        record.intent = .remove
        try save(record)
        try options.step("remove")
        guard kith_rename_new(place(record.path), place(temporary(record.note))) == 0 else {
            record.intent = nil
            try save(record)
            // A file that is gone with its note is nobody's.
            if ForeignFile.kind(place(record.path)) == .missing { try forget(record.note) }
            return
        }
        try options.step("aside")
        try finishRemoval(record)
    }

    /// The file was taken aside.
    mutating func finishRemoval(_ gone: FolderRecord) throws {
        var record = gone
        let aside = place(temporary(record.note))
        let bytes = try? ForeignFile.read(aside, bytesMax: MarkdownNote.bytesMax)
        if let bytes, Self.hash(bytes) == record.hash, !ForeignFile.isBeingWritten(aside) {
            try forget(record.note)
            report.removed += 1
            try options.step("removed")
            unlink(aside)
        } else {
            // Somebody has saved: it goes back, and the note comes back with the next pass.
            if kith_rename_new(aside, place(record.path)) != 0 {
                _ = kith_rename_new(aside, place(try freePath(for: "\(record.title) (saved)", in: "")))
            }
            record.intent = nil
            again(record)
            try save(record)
        }
    }
}

// MARK: What a pass that was killed has left

extension FolderPass {
    mutating func recover() throws {
        let tables = tables
        let begun = try database.read { db in try tables.begun(db) }
        for record in begun { try recover(record) }
        guard case .everything = scope else { return }
        let kept = Set(try database.read { db in try tables.begun(db) }.map { temporary($0.note) })
        // Nobody refers to these any more, and no person's bytes are in them.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        for name in names where name.hasPrefix(NotesFolder.temporaryPrefix) && !kept.contains(name) { unlink(place(name)) }
    }

    private mutating func recover(_ record: FolderRecord) throws {
        let aside = place(temporary(record.note))
        let isThere = ForeignFile.kind(aside) != .missing
        touched.insert(record.note)
        switch record.intent {
        case .create where isThere:
            try forget(record.note)
            unlink(aside)
        case .remove where isThere: try finishRemoval(record)
        case .exchange: try recoverExchange(record, isThere)
        default: try giveUp(record)
        }
    }

    private mutating func recoverExchange(_ record: FolderRecord, _ isThere: Bool) throws {
        let content = try FolderContent(record.pending, path: record.path)
        let hash = Self.hash(record.pending)
        guard isThere else {
            let current = try? ForeignFile.read(place(record.path), bytesMax: MarkdownNote.bytesMax)
            guard let current, Self.hash(current) == hash else { return try giveUp(record) }
            var record = record
            record.take(content, hash: hash, stamp: nil)
            return try save(record)
        }
        let swapped = try? ForeignFile.read(place(temporary(record.note)), bytesMax: MarkdownNote.bytesMax)
        // As it was made: the places were not changed.
        if let swapped, Self.hash(swapped) == hash { return try giveUp(record) }
        try settle(record, content, nil)
    }
}
