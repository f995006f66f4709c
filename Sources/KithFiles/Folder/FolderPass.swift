import Crypto
import Foundation
import GRDB
import Kith
import KithNotes

/// One synchronisation of a folder with the notes: files are read, then notes are written into files.
///
/// Whatever happens meanwhile, to the machine or to a file, nothing that anybody wrote is lost:
///
/// * What a file says is compared with what it said when it was last read or written, and the difference merged into the note. The note's
///   change and the new record of the file are one transaction.
/// * A file is written by changing places with a temporary one, at once; what stood there is looked at afterwards, and if somebody has
///   saved in the meantime, that is merged, too. What is being written is noted before, so that a pass that was killed is understood.
/// * A file is removed only after it was taken aside and found to be what it was.
struct FolderPass {
    let notes: NotesStore
    let root: String
    let tag: String?
    let tables: FolderTables
    let options: NotesFolder.Options
    var report = FolderReport()
    /// By note.
    var records: [UUID: FolderRecord] = [:]
    /// What was found in the folder: the hash of each file of a note, by path.
    var found: [String: [UInt8]] = [:]
    /// Notes whose files are left as they are.
    var left: Set<UUID> = []
    /// Whether there is a file of which it is not known whose it is: one that was moved, perhaps.
    var mayHaveMoved = false

    var database: any DatabaseWriter { notes.store.database }

    mutating func run() throws -> FolderReport {
        let all = try database.read { db in try tables.records(db) }
        records = Dictionary(all.map { ($0.note, $0) }) { first, _ in first }
        try recover()
        let changed = try look()
        try readFiles(changed)
        try deleteNotes()
        try writeFiles()
        return report
    }

    // MARK: Looking

    /// A file that is not what it was.
    struct Changed {
        let path: String
        let bytes: [UInt8]
        let hash: [UInt8]
    }

    /// Reads the folder.
    private mutating func look() throws -> [Changed] {
        let walk = try FolderWalk(root) { $0.hasPrefix(".") }
        for oddity in walk.oddities { report.left.append(FolderReport.LeftFile(path: oddity.path, words: oddity.words)) }
        let byPath = Dictionary(records.values.map { ($0.path, $0) }) { first, _ in first }
        var changed: [Changed] = []
        for file in walk.files where FileName.parts(file.path).ending?.lowercased() == "md" {
            if file.path.hasPrefix(MarkdownExport.attachmentFolder + "/") { continue }
            do throws(FilesError) {
                guard let bytes = try quietBytes(file) else {
                    wait(for: file.path, byPath[file.path])
                    continue
                }
                let hash = Self.hash(bytes)
                found[file.path] = hash
                if byPath[file.path]?.hash != hash { changed.append(Changed(path: file.path, bytes: bytes, hash: hash)) }
            } catch where error.code == .notFound {
                continue
            } catch {
                found[file.path] = []
                leave(file.path, error, byPath[file.path]?.note)
            }
        }
        return changed
    }

    /// Leaves a file alone that is being written, and its note.
    private mutating func wait(for path: String, _ record: FolderRecord?) {
        report.busy += 1
        found[path] = record?.hash ?? []
        if let record { left.insert(record.note) } else { mayHaveMoved = true }
    }

    /// Whether nobody has written the file for a moment; a time in the future says nothing.
    private func isQuiet(_ modifiedMilliseconds: Int64) -> Bool {
        let age = options.nowMilliseconds() - modifiedMilliseconds
        return age < 0 || age >= options.quietMilliseconds
    }

    /// The bytes of a file; `nil` if somebody is writing it.
    private func quietBytes(_ file: FolderWalk.File) throws(FilesError) -> [UInt8]? {
        guard isQuiet(file.modifiedMilliseconds) else { return nil }
        let path = "\(root)/\(file.path)"
        let bytes = try ForeignFile.read(path, bytesMax: MarkdownNote.bytesMax)
        return ForeignFile.kind(path) == .file(bytes: file.bytes, modifiedMilliseconds: file.modifiedMilliseconds) ? bytes : nil
    }

    static func hash(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }

    mutating func leave(_ path: String, _ error: FilesError, _ note: UUID?) {
        report.left.append(FolderReport.LeftFile(path: path, words: error.message))
        if let note { left.insert(note) }
    }

    // MARK: From files to notes

    private mutating func readFiles(_ changed: [Changed]) throws {
        let byPath = Dictionary(records.values.map { ($0.path, $0.note) }) { first, _ in first }
        for file in changed {
            do {
                let content = try FolderContent(file.bytes, path: file.path)
                if let note = byPath[file.path], let record = records[note] {
                    try absorb(content, file.hash, at: file.path, into: record)
                    report.read += 1
                } else if let id = content.id, let record = records[id], found[record.path] == nil {
                    // Renamed, or moved.
                    try absorb(content, file.hash, at: file.path, into: record)
                    report.read += 1
                } else {
                    try add(content, file)
                }
            } catch let error as FilesError where error.code == .data {
                leave(file.path, error, byPath[file.path])
                if byPath[file.path] == nil { mayHaveMoved = true }
            }
        }
    }

    /// Merges what differs in a file from what it said before, and notes what it says now.
    ///
    /// - Parameter replacement: what stands in the file by now, if it is something else.
    mutating func absorb(
        _ content: FolderContent, _ hash: [UInt8], at path: String, into record: FolderRecord,
        then replacement: (FolderContent, [UInt8])? = nil
    ) throws {
        try options.step("absorb")
        try reviveIfDeleted(record, content)
        let tables = tables
        let now = options.nowMilliseconds()
        records[record.note] = try database.write { db in
            guard let current = try FolderNote.fetch(record.note, db) else { throw FilesError(.notFound, "The note was deleted.") }
            try FolderNote.merge(content, at: path, since: record, into: current, now, db)
            var record = record
            record.path = path
            record.intent = nil
            record.take(replacement?.0 ?? content, hash: replacement?.1 ?? hash)
            try tables.save(record, db)
            return record
        }
        found[path] = replacement?.1 ?? hash
    }

    /// A note that was deleted while its file was written comes back: an edit is worth more than a deletion.
    private func reviveIfDeleted(_ record: FolderRecord, _ content: FolderContent) throws {
        if try notes.note(record.note) != nil { return }
        if try notes.trash().contains(where: { $0.id == record.note }) {
            try notes.restore(record.note)
            return
        }
        // Gone for good.
        let now = options.nowMilliseconds()
        try database.write { db in try FolderNote.insert(record.note, content, now, db) }
    }

    /// A file that is new.
    private mutating func add(_ content: FolderContent, _ file: Changed) throws {
        try options.step("add")
        if let id = content.id, records[id] == nil, try notes.note(id) == nil, try notes.trash().contains(where: { $0.id == id }) {
            // Somebody took the file back.
            let note = try notes.restore(id)
            let record = FolderRecord(
                path: file.path, note: id, hash: [], title: note.title, body: note.body, color: note.color.rawValue, tags: Array(note.tags),
                links: [], intent: nil)
            try absorb(content, file.hash, at: file.path, into: record)
            report.added += 1
            return
        }
        let tables = tables
        let now = options.nowMilliseconds()
        let fresh = options.makeID(now)
        let known = content.id.flatMap { records[$0] } != nil
        let tag = tag
        let (record, isNew) = try database.write { db in
            var id = known ? fresh : content.id ?? fresh
            var isNew = true
            if let current = try FolderNote.fetch(id, db) {
                // What it was made of is not known. If it says something else it is a note of its own, so that nothing is lost.
                isNew = !current.fieldsThatDiffer(from: FolderNote.note(content, id, now)).isEmpty
                if isNew { id = fresh }
            }
            if isNew {
                var scoped = content
                if let tag, !content.tags.contains(tag) { scoped.tags.append(tag) }
                try FolderNote.insert(id, scoped, now, db)
            }
            var record = FolderRecord(
                path: file.path, note: id, hash: [], title: "", body: "", color: 0, tags: [], links: [], intent: nil)
            record.take(content, hash: file.hash)
            try tables.save(record, db)
            return (record, isNew)
        }
        records[record.note] = record
        if isNew { report.added += 1 }
    }

    // MARK: Deleted files

    private mutating func deleteNotes() throws {
        let gone = records.values.filter { found[$0.path] == nil && !left.contains($0.note) }.sorted { $0.path < $1.path }
        if gone.isEmpty { return }
        if mayHaveMoved { return left.formUnion(gone.map(\.note)) }
        let isMany = gone.count >= options.deletedMax || gone.count > 3 && gone.count * 3 >= records.count
        if isMany || found.isEmpty, !options.deletesMany, records.count > 1 {
            if options.writesAgain {
                let tables = tables
                try database.write { db in for record in gone { try tables.remove(record.note, db) } }
                for record in gone { records[record.note] = nil }
                return
            }
            report.held = gone.count
            left.formUnion(gone.map(\.note))
            return
        }
        for record in gone {
            try options.step("delete")
            let tables = tables
            let isDeleted = try database.write { db in
                try tables.remove(record.note, db)
                // What was written since stays, and gets a file again.
                guard let current = try FolderNote.fetch(record.note, db), FolderNote.says(current, record) else { return false }
                try FolderNote.delete(record.note, db)
                return true
            }
            records[record.note] = nil
            if isDeleted { report.deleted += 1 }
        }
    }
}
