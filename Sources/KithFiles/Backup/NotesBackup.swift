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

/// All notes with their history, trash and attachments in one file, from which a store can be made again.
///
/// The file is a tar archive (pax, gzip) of `kith-backup.json`, `notes.sqlite` and `attachments/…`, sealed with a passphrase if there is one:
/// see ``SealedStream``. It is made while everything runs, as of one moment.
package enum NotesBackup {
    /// What a backup holds.
    package struct Report: Hashable, Sendable {
        package var notes = 0
        package var attachments = 0
        /// Attachments of notes, those in the trash included, whose bytes are not here, or damaged.
        package var missing: [ExportReport.Missing] = []
        /// Of the file.
        package var bytes: Int64 = 0
    }

    struct Head: Codable {
        var format = Self.name
        var version = 1
        var notes: Int
        var attachments: Int

        static let name = "kith-backup"
    }

    /// What all files are, at the end: so that one that breaks off, or was changed, is known.
    struct End: Codable {
        /// The SHA-256 in hexadecimal, by the name of the file.
        var files: [String: String] = [:]

        mutating func add(_ name: String, _ hash: [UInt8]) {
            files[name] = hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }

    static let headName = "kith-backup.json"
    static let endName = "kith-backup-end.json"
    static let databaseName = "notes.sqlite"
    static let folderName = "attachments"
    /// The archive, without its seal, while it is restored.
    private static let openedName = "opened"

    // MARK: Making one

    /// Makes the file, which must not be there.
    ///
    /// - Parameter passphrase: seals the file if there is one.
    /// - Throws: ``FilesError``, ``NotesError``; nothing is left of the file then. Code `data` if the notes are damaged: see `kith verify`.
    package static func write(_ notes: NotesStore, to file: String, passphrase: String? = nil) throws -> Report {
        try write(notes, to: file, passphrase: passphrase, logN: SealedStream.logN)
    }

    /// - Parameter logN: how much work a guess of the passphrase takes; a test makes it little.
    static func write(_ notes: NotesStore, to file: String, passphrase: String?, logN: UInt8) throws -> Report {
        let verified = try notes.store.verify()
        if let problem = verified.problems.first {
            throw FilesError(.data, "The notes are damaged (\(problem)). No backup was made over an older one; see kith verify.")
        }
        var report = try FilesError.mapping { try NewFolder.makeFile(file) { try write(notes, to: file, at: $0, passphrase, logN) } }
        if case .file(let stamp) = ForeignFile.kind(file) { report.bytes = stamp.bytes }
        return report
    }

    private static func write(_ notes: NotesStore, to file: String, at partial: String, _ passphrase: String?, _ logN: UInt8) throws
        -> Report
    {
        let scratch = try scratch(for: notes, partial, isSealed: passphrase != nil)
        let copy = scratch.path(databaseName)
        let count = try copyDatabase(of: notes, to: copy)
        let descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw NewFile.failure(file) }
        defer { close(descriptor) }
        return try write(copy, noteCount: count, notes, passphrase, logN) { try NewFile.write($0, descriptor, file) }
    }

    /// What is to be sealed is written nowhere unsealed but where the notes are: a stick may be pulled out at any moment. Notes that can only
    /// be read have no such place, or are in memory.
    private static func scratch(for notes: NotesStore, _ partial: String, isSealed: Bool) throws -> ScratchFolder {
        if !isSealed { return try ScratchFolder(beside: partial) }
        return notes.readOnlyReason == nil ? try ScratchFolder(beside: notes.store.database.path) : try ScratchFolder()
    }

    /// A copy as of one moment, by SQLite's own means; others write meanwhile.
    /// - Returns: how many notes are in it.
    private static func copyDatabase(of notes: NotesStore, to path: String) throws -> Int {
        let copy = try DatabaseQueue(path: path)
        try notes.store.database.backup(to: copy)
        // A store that is restored from the copy knows these commits. So they must not be lost here, and others made under their numbers.
        _ = try notes.store.makeDurable()
        let (answer, count) = try copy.read { db in
            (try String.fetchOne(db, sql: "PRAGMA integrity_check"), try Int.fetchOne(db, sql: "SELECT count(*) FROM note"))
        }
        try copy.close()
        guard answer == "ok" else { throw FilesError(.data, "The copy of the notes is damaged: is the disk sound? No backup was made.") }
        return count ?? 0
    }

    private static func write(
        _ database: String, noteCount: Int, _ notes: NotesStore, _ passphrase: String?, _ logN: UInt8,
        _ output: @escaping ([UInt8]) throws -> Void
    ) throws -> Report {
        var sealing = try passphrase.map { try SealingWriter(passphrase: $0, logN: logN, output) }
        let tar = try TarWriter { bytes in
            if sealing != nil { try sealing?.add(bytes) } else { try output(bytes) }
        }
        // What nothing refers to any more stays for a day, so that it is there as long as this takes.
        let contents = notes.store.attachmentsHere()
        var report = Report(notes: noteCount)
        try tar.add(headName, Array(JSONEncoder().encode(Head(notes: report.notes, attachments: contents.count))))
        var end = End()
        end.add(databaseName, try tar.add(databaseName, contentsOf: URL(filePath: database)))
        var written: Set<AttachmentID> = []
        for id in contents {
            guard let content = try notes.store.provenAttachment(id) else { continue }
            let name = "\(folderName)/\(id)"
            end.add(name, try tar.add(name, contentsOf: content.url))
            report.attachments += 1
            written.insert(id)
        }
        try notes.forEachNote { note in
            for attachment in note.attachments where !written.contains(attachment.content) {
                report.missing.append(ExportReport.Missing(note: note.note.title, attachment: attachment.name))
            }
        }
        try tar.add(endName, Array(JSONEncoder().encode(end)))
        try tar.finish()
        try sealing?.finish()
        return report
    }

    // MARK: Restoring

    /// Makes a store at `place`, where there must be none, of what is in the file. It is a new replica: it keeps what it has, and other
    /// machines bring what has happened since.
    ///
    /// All of it is read and checked before anything is put in place.
    /// - Parameters:
    ///   - passphrase: asked for if the file is sealed.
    ///   - makeRoom: puts away what is at `place`, once the backup is known to be sound; `nil` if nothing may be there.
    /// - Throws: ``FilesError`` with code `wrongPassphrase`, `data`, `cannotCreate` if there are notes already, and what `makeRoom` throws;
    ///   nothing is changed then.
    package static func restore(
        _ file: String, to place: URL, passphrase: () throws -> String, makingRoom makeRoom: (() throws -> Void)? = nil
    ) throws -> Report {
        let file = ForeignFile.resolved(file)
        let stamp = try ForeignFile.requireFile(file)
        guard makeRoom != nil || ForeignFile.kind(place.path) == .missing else {
            throw FilesError(
                .cannotCreate,
                "There are notes in \(place.path) already, and they were left as they are. If they are damaged: kith recover. To have the backup in their place, move \(place.deletingLastPathComponent().path) away first; beside them, name another file with --store."
            )
        }
        // If it is a link, what makes room moves the file that this leads to.
        let place = SyncedDatabase.file(at: place)
        let folder = place.deletingLastPathComponent()
        return try FilesError.mapping {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let scratch = try ScratchFolder(beside: place.path)
            try unpack(file, scratch, passphrase)
            var report = try checked(scratch)
            report.bytes = stamp.bytes
            try makeRoom?()
            try put(scratch.path(databaseName), at: place)
            return report
        }
    }

    /// Whether a passphrase is needed.
    package static func isSealed(_ file: String) -> Bool {
        let file = ForeignFile.resolved(file)
        return ForeignFile.stamp(file) != nil && SealedStream.isSealed(file)
    }

    private static func unpack(_ file: String, _ scratch: ScratchFolder, _ passphrase: () throws -> String) throws {
        // The files of a backup are as large as they are; what ends the unpacking is the room on the disk.
        let limits = Archive.Limits(filesMax: .max, bytesMin: .max, factorMax: 1, checksGzip: false)
        do {
            guard SealedStream.isSealed(file) else {
                try Archive.unpack(file, into: scratch.path, limits: limits)
                return
            }
            let opened = scratch.path(openedName)
            let descriptor = open(opened, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw NewFile.failure(opened) }
            defer { close(descriptor) }
            try SealedStream.open(file, passphrase: passphrase()) { try NewFile.write($0, descriptor, opened) }
            try Archive.unpack(opened, into: scratch.path, limits: limits)
        } catch let error as FilesError where error.code == .data {
            throw FilesError(.data, "\(file) is no backup of Kith, or damaged. Nothing was restored.")
        }
    }

    /// Opens and checks what was unpacked, and takes the attachments into it.
    private static func checked(_ scratch: ScratchFolder) throws -> Report {
        let damaged = FilesError(.data, "The backup is damaged, or of a newer version of Kith. Nothing was restored.")
        func read<Value: Decodable>(_ name: String, _ type: Value.Type) throws -> Value {
            guard let bytes = try? ForeignFile.read(scratch.path(name), bytesMax: 1 << 30),
                let value = try? JSONDecoder().decode(type, from: Data(bytes))
            else { throw damaged }
            return value
        }
        let head = try read(headName, Head.self)
        guard head.format == Head.name, head.version == 1 else { throw damaged }
        let end = try read(endName, End.self)
        var found = End()
        for file in try FolderWalk(scratch.path, skips: { _ in false }).files where ![headName, endName, openedName].contains(file.path) {
            found.add(file.path, try FileHash.sha256(of: URL(filePath: scratch.path(file.path))))
        }
        guard found.files == end.files, found.files[databaseName] != nil else { throw damaged }
        var options = NotesStore.Options()
        options.readsWhileWriting = false
        let notes = try NotesStore.open(URL(filePath: scratch.path(databaseName)), options: options)
        defer { try? notes.close() }
        guard try notes.store.verify().isSound else { throw damaged }
        var report = Report()
        try notes.forEachNote(includingTrash: false) { _ in report.notes += 1 }
        let folder = scratch.path(folderName)
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            guard try notes.store.attach(contentsOf: URL(filePath: "\(folder)/\(name)")).description == name else { throw damaged }
            report.attachments += 1
        }
        return report
    }

    /// The attachments first: without the database they are nobody's.
    private static func put(_ database: String, at place: URL) throws {
        // SQLite would take a log of other notes for one of these.
        guard ForeignFile.kind(place.path + "-wal") == .missing else {
            throw FilesError(.cannotCreate, "There is \(place.path)-wal, which other notes have left. Move it away, and try again.")
        }
        let (source, target) = (database + "-kith-files", place.path + "-kith-files")
        if ForeignFile.kind(target) == .missing {
            _ = rename(source, target)
        } else {
            // Those of notes that were lost: what is the same is there already.
            let walk = try FolderWalk(source, skips: { _ in false })
            // What cannot be read here was read a moment ago.
            if let odd = walk.oddities.first { throw FilesError(.inputOutput, "\(source)/\(odd.path): \(odd.words)") }
            for path in walk.files.map(\.path)
            where ForeignFile.kind("\(target)/\(path)") == .missing {
                try NewFile.makeFolder("\(target)/\(RelativePath.folder(of: path))")
                _ = rename("\(source)/\(path)", "\(target)/\(path)")
            }
        }
        // Never over what somebody has made meanwhile.
        guard link(database, place.path) == 0 else { throw NewFile.failure(place.path) }
        let folder = open(place.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
    }
}
