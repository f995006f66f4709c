import Crypto
import Foundation
import GRDB
import Kith
import KithNotes

/// What a pass looks at.
enum FolderScope: Sendable {
    case everything
    /// These files, and these notes.
    case some(paths: Set<FolderPath>, notes: Set<UUID>)
}

/// One synchronisation of a folder with the notes: files are read, then notes are written into files.
///
/// Whatever happens to the machine or to a file during a pass, nothing that a person or another machine wrote is lost:
///
/// * What a file says is compared with what it said when it was last read or written, and the difference merged into the note. The note's
///   change and the new record of the file are one transaction. If Kith has written the file since any program read it, and knows so, it is
///   compared with what it said then: an editor that does not read a file again takes back nothing that others wrote.
/// * A file that a program is writing is left alone, and its note with it; so is the place of one that is missing since a moment ago.
/// * A file is written by changing places with a temporary one, at once; what stood there is looked at afterwards, and if an editor has
///   saved since, or still does, that is merged, too. What is being written is noted before, so that a pass that was killed is
///   understood.
/// * A file is removed only after it was taken aside and found to be what it was.
struct FolderPass {
    let folder: NotesFolder
    let notes: NotesStore
    let options: NotesFolder.Options
    let scope: FolderScope
    /// `nil` if it is not known who reads files.
    let readers: (any FileReaders)?
    let tables: FolderTables
    /// Whether the journal knows all that the note has said: not in a store that was set back.
    var asksJournal = true
    var report = FolderReport()
    /// Notes whose files are left as they are.
    var left: Set<UUID> = []
    /// Notes with files that a program is writing.
    var written: Set<UUID> = []
    /// Notes with a place that something else has taken: their files may be elsewhere.
    var displaced: Set<UUID> = []
    /// Notes that may say something else than their files now.
    var touched: Set<UUID> = []
    /// Whether a program is writing a file of which it is not known whose it is: one that was moved, perhaps.
    var isUnknownWritten = false
    /// Files that were looked at.
    var looked: Set<FolderPath> = []
    /// New files that cannot be understood.
    var unreadable: [FolderWalk.File] = []
    /// New stamps of files that say what they said.
    var stamps: [(note: UUID, stamp: FileStamp?)] = []
    /// The notes that were in the trash when files began to be read; `nil` before.
    var trashed: Set<UUID>?
    /// Notes of which the file was exchanged, and the old one is still there under its temporary name; and the bytes of these.
    var replaced: [UUID] = []
    var replacedBytes = 0
    /// Names that are given in this pass.
    var promised: Set<String> = []
    /// Names that files had until this pass, as keys.
    var freed: Set<String> = []
    /// Notes whose files got a name with a number in this pass, and the path without it.
    var numbered: [UUID: String] = [:]
    /// Numbers of names that were tried.
    var names: [String: Int] = [:]

    init(
        _ folder: NotesFolder, _ notes: NotesStore, _ options: NotesFolder.Options, _ scope: FolderScope, _ readers: (any FileReaders)?
    ) {
        (self.folder, self.notes, self.options, self.scope, self.readers) = (folder, notes, options, scope, readers)
        tables = FolderTables(folder: folder.number)
    }

    var database: any DatabaseWriter { notes.store.database }
    var root: String { folder.path }
    var tag: String? { folder.tag }

    mutating func run() throws -> FolderReport {
        try recover()
        let look = try look()
        // What is mounted no more looks like an empty folder.
        try folder.requireHere()
        let (changes, gone) = try readHeads(look)
        try readFiles(changes)
        try readAttachments(look.attachments)
        try deleteNotes(gone)
        try writeFiles()
        try saveReport()
        return report
    }

    private mutating func saveReport() throws {
        let (tables, report) = (tables, report)
        var looked: Set<FolderPath>?
        if case .some = scope { looked = self.looked }
        try database.write { [looked] db in
            try tables.setLeft(report.left, of: looked, db)
            try tables.setHeld(report.held, db)
        }
        self.report.left = try database.read { db in try tables.left(db) }
    }

    // MARK: What all steps need

    func place(_ path: String) -> String { "\(root)/\(path)" }

    /// A name beside the files that is hidden, and on the same disk.
    func temporary(_ id: some CustomStringConvertible) -> String { "\(NotesFolder.temporaryPrefix)\(id)" }

    static func hash(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }

    func record(of note: UUID) throws -> FolderRecord? {
        let tables = tables
        return try database.read { db in try tables.record(of: note, db) }
    }

    func save(_ record: FolderRecord) throws {
        let tables = tables
        try database.write { db in try tables.save(record, db) }
    }

    func forget(_ note: UUID) throws {
        let tables = tables
        try database.write { db in try tables.remove(note, db) }
    }

    mutating func leave(_ path: String, _ words: String, _ note: UUID?) {
        report.left.append(FolderReport.LeftFile(path: path, words: words))
        guard let note else { return }
        left.insert(note)
        report.notesLeft.insert(note)
        // Else it would be tried again and again, without a pause.
        report.notesAgain.remove(note)
    }

    /// Leaves a file alone that a program is writing.
    mutating func wait(for path: String, _ note: UUID?) {
        report.pathsAgain.insert(FolderPath(path))
        if let note {
            left.insert(note)
            written.insert(note)
            return
        }
        isUnknownWritten = true
        // A note of which this is the file gets no second one meanwhile.
        let said = (try? ForeignFile.read(place(path), bytesMax: MarkdownNote.bytesMax)).flatMap { try? content($0, at: path).id }
        guard let said else { return }
        left.insert(said)
        displaced.remove(said)
        report.notesAgain.insert(said)
    }

    /// What a file says, and its place.
    ///
    /// - Parameter isOurs: whether Kith has written it, so that no limit matters.
    func content(_ bytes: [UInt8], at path: String, isOurs: Bool = false) throws(FilesError) -> FolderContent {
        var content = try FolderContent(bytes, path: path)
        content.readLinks { folder, name in isWay(folder, to: name, from: path) }
        if !isOurs { try checkLimits(content) }
        if folder.tagsFolders, let tag = FolderTag.tag(at: path), content.tags.count < NoteLimits.tagsMax {
            content.tags = Array(NoteTags(content.tags + [tag]))
        }
        return content
    }

    /// What machines have made too much together stays, but may not grow here, either.
    private func checkLimits(_ content: FolderContent) throws(FilesError) {
        let (size, count) = (content.body.utf8.count, content.tags.count)
        let longTags = content.tags.filter { $0.utf8.count > NoteLimits.tagBytesMax }
        if size <= NoteLimits.bodyBytesMax, count <= NoteLimits.tagsMax, longTags.isEmpty { return }
        let current = content.id.flatMap { try? notes.note($0) }
        if size > NoteLimits.bodyBytesMax, size > current?.body.utf8.count ?? 0 {
            throw FilesError(.data, "It has \(size) bytes; a note has at most \(NoteLimits.bodyBytesMax). Split it.")
        }
        if count > NoteLimits.tagsMax, count > current?.tags.count ?? 0 {
            throw FilesError(.data, "It has \(count) tags; a note has at most \(NoteLimits.tagsMax). Use fewer.")
        }
        for tag in longTags where current?.tags.contains(tag) != true {
            throw FilesError(
                .data,
                "Its tag \u{201C}\(tag.prefix(80))\u{201D} has \(tag.utf8.count) bytes; a tag has at most \(NoteLimits.tagBytesMax).")
        }
    }

    // MARK: Time

    /// Whether so long has passed; a time in the future says nothing.
    func isPast(_ milliseconds: Int64, by span: Int64) -> Bool {
        let age = options.nowMilliseconds() - milliseconds
        return age < 0 || age >= span
    }

    /// Whether no program has written a file for a moment, or has it open to write, so that it can be read.
    func isQuiet(_ path: String, _ stamp: FileStamp) -> Bool {
        guard isPast(stamp.modifiedMilliseconds, by: options.quietMilliseconds) else { return false }
        // Some programs have a file open for hours.
        return isPast(stamp.modifiedMilliseconds, by: options.openMilliseconds) || !ForeignFile.isBeingWritten(path)
    }
}
