import CFileFormats
import Foundation
import GRDB
import Kith
import KithNotes

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

// MARK: From notes to files

extension FolderPass {
    /// Files that are written together, and their bytes.
    private static let batchMax = 200
    private static let batchBytesMax = 16 << 20
    /// Bytes of replaced files that are still there.
    private static let replacedBytesMax = 64 << 20

    mutating func writeFiles() throws {
        try writeFiles(of: try candidates().filter { !left.contains($0) })
        // Another file may have let go of the name after that, as where two notes exchange their titles.
        let freed = numbered.filter { !left.contains($0.key) && self.freed.contains(FileName.key($0.value)) }
        try writeFiles(of: freed.keys.sorted { $0.data.lexicographicallyPrecedes($1.data) })
    }

    private mutating func writeFiles(of notes: [UUID]) throws {
        var ids = notes[...]
        while !ids.isEmpty {
            let batch = try takeBatch(of: &ids)
            var (new, changed) = ([Prepared](), [Prepared]())
            for (record, whole) in batch where record?.intent == nil {
                guard let whole, tag.map(whole.note.tags.contains) ?? true else {
                    if let record { try remove(record) }
                    continue
                }
                guard let prepared = try prepare(whole, record) else { continue }
                if record == nil { new.append(prepared) } else { changed.append(prepared) }
            }
            try finish(new, changed)
            if replacedBytes > Self.replacedBytesMax { removeReplaced() }
        }
        removeReplaced()
    }

    /// Removes what stood in files that were exchanged. All at once: ext4 makes a new file slowly for seconds after many were removed.
    private mutating func removeReplaced() {
        for note in replaced { unlink(place(temporary(note))) }
        (replaced, replacedBytes) = ([], 0)
    }

    /// The next notes with what is known of their files, in one read: as many as are written together.
    private func takeBatch(of ids: inout ArraySlice<UUID>) throws -> [(record: FolderRecord?, whole: WholeNote?)] {
        let (tables, all) = (tables, ids)
        var batch: [(record: FolderRecord?, note: Note?, hasAttachments: Bool)] = []
        try database.read { db in
            let attached = try db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM attachment WHERE note = ?)")
            var bytes = 0
            for id in all.prefix(Self.batchMax) where bytes < Self.batchBytesMax {
                let (record, note) = (try tables.record(of: id, db), try NotesStore.fetch(id, db))
                bytes += (record?.body.utf8.count ?? 0) + (note?.body.utf8.count ?? 0)
                batch.append((record, note, try Bool.fetchOne(attached, arguments: [id.data]) ?? false))
            }
        }
        ids = ids.dropFirst(batch.count)
        return try batch.map { record, note, hasAttachments in
            (record, try note.map { WholeNote($0, attachments: hasAttachments ? try attachments(of: $0.id) : []) })
        }
    }

    private func attachments(of note: UUID) throws -> [WholeNote.Attachment] {
        try notes.attachments(of: note).compactMap { file in
            file.content.map { WholeNote.Attachment(id: file.id, name: file.name, sizeBytes: file.sizeBytes, content: $0) }
        }
    }

    /// Writes what the note says into a temporary file; `nil` if its file says so already.
    private mutating func prepare(_ whole: WholeNote, _ record: FolderRecord?) throws -> Prepared? {
        do {
            guard let record else { return try prepareNew(whole) }
            return try prepareChange(whole, record)
        } catch let error as FilesError where error.code != .inputOutput {
            leave(record?.path ?? whole.note.title, error.message, whole.id)
            return nil
        }
    }

    /// Puts prepared files in their places. First they are on the disk, then it is noted what is to be done.
    private mutating func finish(_ new: [Prepared], _ changed: [Prepared]) throws {
        if new.isEmpty && changed.isEmpty { return }
        if options.synchronizes {
            for prepared in new + changed { try NewFile.synchronize(place(temporary(prepared.record.note))) }
        }
        try options.step("noted")
        let tables = tables
        try database.write { db in for prepared in new + changed { try tables.save(prepared.record, db) } }
        try name(new.map(\.record))
        try exchange(changed)
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

    /// What a file at `path` is to say.
    private mutating func desired(_ whole: WholeNote, at path: String) throws -> (note: MarkdownNote, content: FolderContent) {
        let up = RelativePath.outward(from: path)
        let files = try placeAttachments(of: whole).map { MarkdownNote.Attachment(path: up + $0.path, name: $0.name) }
        var note = MarkdownNote(whole, stem: FileName.parts(RelativePath.name(of: path)).stem, attachments: files)
        note.isPinned = nil
        note.nameFilesInLinks(withWay: true)
        var content = FolderContent(note, title: whole.note.title, body: whole.note.body)
        if folder.tagsFolders, let tag = FolderTag.tag(at: path) {
            note.tags.removeAll { $0.utf8.elementsEqual(tag.utf8) }
            content.tags = Array(whole.note.tags)
        }
        return (note, content)
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
            let kind = ForeignFile.kind(place(path))
            // Neither is any other name there known to be free.
            if case .hidden(let words) = kind { throw FilesError(.cannotCreate, words) }
            if kind == .missing, try !database.read({ db in try tables.hasKey(FileName.key(path), db) }),
                promised.insert(FileName.key(path)).inserted
            {
                names[key] = number
                return path
            }
        }
    }

    /// The same for a note, whose name gets no number if it can do without at the end of the pass.
    private mutating func freePath(for note: Note, in folder: Substring) throws -> String {
        let path = try freePath(for: note.title, in: folder)
        let plain = (folder.isEmpty ? "" : "\(folder)/") + FileName.stem(for: note.title) + ".md"
        if path != plain { numbered[note.id] = plain }
        return path
    }

    /// The path without a number that the note's file can have now, and had to do without before in this pass.
    private mutating func plainPath(for note: UUID) throws -> String? {
        guard let plain = numbered[note], freed.contains(FileName.key(plain)), ForeignFile.kind(place(plain)) == .missing else {
            return nil
        }
        let (tables, key) = (tables, FileName.key(plain))
        guard try !database.read({ db in try tables.hasKey(key, db) }) else { return nil }
        numbered[note] = nil
        promised.insert(key)
        return plain
    }

    /// Where a file of this note is put, which is made if it is not there.
    private func firstFolder(for whole: WholeNote) throws -> Substring {
        guard folder.tagsFolders else { return "" }
        let path = FolderTag.folder(for: whole.note.tags.filter { $0 != tag })
        var made = ""
        for name in RelativePath.names(of: path) {
            made += made.isEmpty ? name : "/\(name)"
            try NewFile.makeFolder(place(made))
            guard ForeignFile.kind(place(made)) == .folder else {
                throw FilesError(.cannotCreate, "Its folder \(made) cannot be made: something else has this name.")
            }
        }
        if let oddity = FolderWalk.oddity(above: "\(path)/\(FileName.untitled)", in: root) {
            throw FilesError(.cannotCreate, "No file can be made in its folder \(oddity.path). \(oddity.words)")
        }
        return path[...]
    }

    /// Makes a whole file under its temporary name, for those who may read the one that it will replace.
    private func writeTemporary(_ bytes: [UInt8], _ name: String, replacing path: String? = nil) throws -> FileStamp? {
        try options.step("temporary")
        let unfinished = place(name) + "~"
        unlink(unfinished)
        let stamp = try NewFile.writeStamped(bytes, to: unfinished, options.nowMilliseconds(), startsSync: options.synchronizes)
        var former = stat()
        if let path, stat(place(path), &former) == 0 { chmod(unfinished, former.st_mode & 0o777) }
        try options.step("whole")
        guard rename(unfinished, place(name)) == 0 else { throw NewFile.failure(place(name)) }
        return stamp
    }

    /// Brings to the disk where files are, before something is noted that depends on it: the store's notes may be there sooner. A file
    /// system that cannot do so does it in its own time.
    func synchronizeFolders(of paths: [String]) {
        if !options.synchronizes { return }
        for folder in Set(paths.map(RelativePath.folder)) { try? NewFile.synchronize(place(String(folder))) }
    }

    // MARK: Files that are there

    private mutating func prepareChange(_ whole: WholeNote, _ old: FolderRecord) throws -> Prepared? {
        var record = old
        // A new title is a new name; a tag that is gone is another folder.
        let lacksFolder = folder.tagsFolders && FolderTag.tag(at: record.path).map { !whole.note.tags.contains($0) } ?? false
        let isOtherName = !whole.note.title.utf8.elementsEqual(record.title.utf8) && !FolderNote.isName(record.path, of: whole.note.title)
        let plain = try plainPath(for: whole.id).flatMap { !lacksFolder && FolderNote.isName($0, of: whole.note.title) ? $0 : nil }
        if isOtherName || lacksFolder, !record.hasID {
            // It gets its id first: after a kill, a file without one is not known by its new name.
            report.notesAgain.insert(whole.id)
        } else if isOtherName || lacksFolder || plain != nil {
            let path =
                try plain ?? freePath(for: whole.note, in: lacksFolder ? firstFolder(for: whole) : RelativePath.folder(of: record.path))
            try options.step("rename")
            guard kith_rename_new(place(record.path), place(path)) == 0 else {
                // Moved or taken in this moment; the next pass sees it.
                guard [ENOENT, EEXIST].contains(errno) else { throw cannotBeWritten() }
                report.notesAgain.insert(whole.id)
                return nil
            }
            try options.step("renamed")
            synchronizeFolders(of: [record.path, path])
            let (tables, basis, now) = (tables, readers?.basis(of: record) ?? record, options.nowMilliseconds())
            record.path = path
            freed.insert(FileName.key(old.path))
            try database.write { [record] db in
                try tables.saveFormer(old.path, of: basis, now, db)
                try tables.save(record, db)
            }
            report.written += 1
        }
        let (note, content) = try desired(whole, at: record.path)
        if record.says(content) { return nil }
        // Not of all files of a folder: those are asked when they are exchanged.
        if case .some = scope, isHeldOpen(record) {
            leaveOpen(record)
            return nil
        }
        try removeDetached(since: record, content)
        record.pending = note.bytes()
        record.intent = .exchange
        return Prepared(
            record: record, content: content, stamp: try writeTemporary(record.pending, temporary(record.note), replacing: record.path))
    }

    // MARK: Files that are new

    private mutating func prepareNew(_ whole: WholeNote) throws -> Prepared {
        let path = try freePath(for: whole.note, in: firstFolder(for: whole))
        let (note, content) = try desired(whole, at: path)
        let bytes = note.bytes()
        var record = FolderRecord(path: path, note: whole.id)
        record.take(content, hash: Self.hash(bytes), stamp: try writeTemporary(bytes, temporary(whole.id)))
        record.intent = .create
        return Prepared(record: record, content: content, stamp: nil)
    }

    /// Gives new files their names.
    private mutating func name(_ records: [FolderRecord]) throws {
        if records.isEmpty { return }
        var (named, given) = ([FolderRecord](), [UUID]())
        for var record in records {
            try options.step("create")
            if kith_rename_new(place(temporary(record.note)), place(record.path)) == 0 {
                record.intent = nil
                readers?.forget(record.note)
                named.append(record)
            } else {
                // A program has made a file of this name since; the next pass finds another one.
                if errno == EEXIST {
                    report.notesAgain.insert(record.note)
                } else {
                    leave(record.path, cannotBeWritten().message, record.note)
                }
                given.append(record.note)
            }
        }
        try options.step("created")
        synchronizeFolders(of: named.map(\.path))
        let tables = tables
        try database.write { [named, given] db in
            for record in named { try tables.save(record, db) }
            for note in given { try tables.remove(note, db) }
        }
        for note in given { unlink(place(temporary(note))) }
        report.written += named.count
    }
}
