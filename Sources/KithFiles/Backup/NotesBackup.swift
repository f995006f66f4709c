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
public enum NotesBackup {
    /// What a backup holds.
    public struct Report: Hashable, Sendable {
        public var notes = 0
        public var attachments = 0
        /// Attachments whose bytes are not here, or damaged.
        public var missing = 0
        /// Of the file.
        public var bytes: Int64 = 0
    }

    struct Head: Codable {
        var format = Self.name
        var version = 1
        var notes: Int
        var attachments: Int

        static let name = "kith-backup"
    }

    static let headName = "kith-backup.json"
    static let databaseName = "notes.sqlite"
    static let folderName = "attachments"

    // MARK: Making one

    /// Makes the file, which must not be there.
    ///
    /// - Parameter passphrase: seals the file if there is one.
    /// - Throws: ``FilesError``, ``NotesError``; nothing is left of the file then. Code `data` if the notes are damaged: see `kith verify`.
    public static func write(_ notes: NotesStore, to file: String, passphrase: String? = nil) throws -> Report {
        let verified = try notes.store.verify()
        if let problem = verified.problems.first {
            throw FilesError(.data, "The notes are damaged (\(problem)). No backup was made over an older one; see kith verify.")
        }
        var report = try NewFolder.makeFile(file) { partial in
            let scratch = try ScratchFolder(beside: partial)
            let copy = scratch.path(databaseName)
            try copyDatabase(of: notes, to: copy)
            let descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw NewFile.failure(file) }
            defer { close(descriptor) }
            return try write(copy, notes, passphrase) { try NewFile.write($0, descriptor, file) }
        }
        if case .file(let bytes, _) = ForeignFile.kind(file) { report.bytes = bytes }
        return report
    }

    /// A copy as of one moment, by SQLite's own means; others write meanwhile.
    private static func copyDatabase(of notes: NotesStore, to path: String) throws {
        let copy = try DatabaseQueue(path: path)
        try notes.store.database.backup(to: copy)
        let answer = try copy.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
        try copy.close()
        guard answer == "ok" else { throw FilesError(.data, "The copy of the notes is damaged: is the disk sound? No backup was made.") }
    }

    private static func write(
        _ database: String, _ notes: NotesStore, _ passphrase: String?, _ output: @escaping ([UInt8]) throws -> Void
    ) throws -> Report {
        var sealing = try passphrase.map { try SealingWriter(passphrase: $0, output) }
        let tar = try TarWriter { bytes in
            if sealing != nil { try sealing?.add(bytes) } else { try output(bytes) }
        }
        // What nothing refers to any more stays for a day, so that it is there as long as this takes.
        let contents = notes.store.attachmentsHere()
        var report = Report()
        try notes.forEachNote(includingTrash: false) { _ in report.notes += 1 }
        try tar.add(headName, Array(JSONEncoder().encode(Head(notes: report.notes, attachments: contents.count))))
        try tar.add(databaseName, contentsOf: URL(filePath: database))
        for id in contents {
            guard let content = try notes.store.provenAttachment(id) else {
                report.missing += 1
                continue
            }
            try tar.add("\(folderName)/\(id)", contentsOf: content.url)
            report.attachments += 1
        }
        try tar.finish()
        try sealing?.finish()
        return report
    }

    // MARK: Restoring

    /// Makes a store at `place`, where there must be none, of what is in the file. It is a new replica: it keeps what it has, and other
    /// machines bring what has happened since.
    ///
    /// All of it is read and checked before anything is put in place.
    /// - Parameter passphrase: asked for if the file is sealed.
    /// - Throws: ``FilesError`` with code `wrongPassphrase`, `data`, `cannotCreate` if there are notes already; nothing is changed then.
    public static func restore(_ file: String, to place: URL, passphrase: () throws -> String) throws -> Report {
        guard case .file = ForeignFile.kind(file) else { throw FilesError(.notFound, "There is no file \(file).") }
        guard ForeignFile.kind(place.path) == .missing else {
            throw FilesError(
                .cannotCreate,
                "There are notes in \(place.path) already, and they were left as they are. Move them away first, or name another file with --store."
            )
        }
        let folder = place.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let scratch = try ScratchFolder(beside: place.path)
        try unpack(file, scratch, passphrase)
        let report = try checked(scratch)
        try put(scratch.path(databaseName), at: place)
        return report
    }

    /// Whether a passphrase is needed.
    public static func isSealed(_ file: String) -> Bool { SealedStream.isSealed(file) }

    private static func unpack(_ file: String, _ scratch: ScratchFolder, _ passphrase: () throws -> String) throws {
        // The files of a backup are as large as they are; what ends the unpacking is the room on the disk.
        let limits = Archive.Limits(filesMax: .max, bytesMin: .max, factorMax: 1)
        do {
            guard SealedStream.isSealed(file) else { return try Archive.unpack(file, into: scratch.path, limits: limits) }
            let opened = scratch.path("opened")
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
        let bytes = try? ForeignFile.read(scratch.path(headName), bytesMax: 4_096)
        guard let head = bytes.flatMap({ try? JSONDecoder().decode(Head.self, from: Data($0)) }), head.format == Head.name,
            head.version == 1,
            case .file = ForeignFile.kind(scratch.path(databaseName))
        else { throw damaged }
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
        let (source, target) = (database + "-kith-files", place.path + "-kith-files")
        if ForeignFile.kind(target) == .missing {
            _ = rename(source, target)
        } else {
            // Those of notes that were lost: what is the same is there already.
            for path in try FolderWalk(source, skips: { _ in false }).files.map(\.path)
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
