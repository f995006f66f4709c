import CFileFormats
import Foundation
import GRDB
import Kith
import KithLock
import KithNotes

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A folder of Markdown files that is kept in step with the notes, both ways.
///
/// The notes are the truth, of which the folder is a view: `Title.md` each, as ``MarkdownExport`` writes it. What it is synchronised with
/// is known on this machine alone.
package struct NotesFolder: Hashable, Sendable {
    /// The whole path.
    package let path: String
    /// Only notes with this tag are in it; `nil` for all.
    package let tag: String?
    /// Whether the folders that a file is in are a tag: `work/plans`.
    package let tagsFolders: Bool
    /// Its number in the store.
    let number: Int64
    /// What the file ``markName`` in it says, so that an empty place where it should be mounted is not taken for it.
    let mark: String

    /// How a synchronisation is done.
    package struct Options: Sendable {
        /// Whether notes are deleted however many files are gone.
        package var deletesMany = false
        /// Whether files that are gone are written again, if they are more than are deleted without asking.
        package var writesAgain = false
        /// Whether a file that says something later than its note, as after a restore, is what the note says then.
        package var takesLater = false
        /// Whether every file is read, even if its time and its size say that it was not written.
        package var readsAll = false
        /// Files that may be gone at once without asking.
        var deletedMax = 50
        /// How long no program has written a file that is read.
        var quietMilliseconds: Int64 = 200
        /// A program that has a file open to write into it, and has not written for so long, is not waited for to read the file.
        var openMilliseconds: Int64 = 5_000
        /// Two writes of a file within this time may have the same time: the coarsest clock of a file system.
        var tickMilliseconds: Int64 = 2_000
        /// After so long, notes whose files were left are looked at again: what was in the way may be gone without a word.
        var leftMilliseconds: Int64 = 60_000
        /// Folders that the system is asked to watch; where there are more, all are looked at now and then.
        var watchedMax = Int.max
        /// Whether files are brought to the disk before they take their place.
        var synchronizes = true
        /// Reads the wall clock, in milliseconds since 1970.
        package var nowMilliseconds: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }
        /// Lets some milliseconds pass.
        var wait: @Sendable (Int64) -> Void = { usleep(UInt32(clamping: $0 * 1_000)) }
        /// Makes the id of a note that is added at this time.
        var makeID: @Sendable (_ milliseconds: Int64) -> UUID = { milliseconds in
            var generator = SystemRandomNumberGenerator()
            return UUID.version7(milliseconds: milliseconds, using: &generator)
        }
        /// Called before each step that may be the last one: a test lets it throw.
        var step: @Sendable (String) throws -> Void = { _ in }
        /// Called in the last moment before a file is exchanged: a test saves it then.
        var beforeExchange: @Sendable (String) -> Void = { _ in }

        package init() {}
    }

    static let markName = ".kith-folder"
    static let temporaryPrefix = ".kith-tmp-"

    // MARK: Which there are

    /// The folders of this store, by path.
    package static func all(of notes: NotesStore) throws -> [NotesFolder] {
        try FilesError.mapping {
            try notes.store.database.read { db in
                guard try db.tableExists("local_folder") else { return [] }
                return try Row.fetchAll(db, sql: "SELECT * FROM local_folder ORDER BY path").map { row in
                    NotesFolder(
                        path: row["path"], tag: row["tag"], tagsFolders: row["tagsFolders"] ?? false, number: row["number"],
                        mark: row["mark"])
                }
            }
        }
    }

    /// Begins to keep a folder in step, which is made if it is not there. Files that it holds become notes with the first ``sync(_:options:)``.
    /// One that was moved to there goes on.
    ///
    /// - Throws: ``FilesError`` with code `cannotCreate` if it cannot be made or written, another such folder
    ///   holds it, or it holds one or the notes' own; also if it was moved, and is to be kept in another way than before.
    package static func add(_ path: String, tag: String? = nil, tagsFolders: Bool = false, to notes: NotesStore) throws -> NotesFolder {
        let path = URL(filePath: path).standardizedFileURL.resolvingSymlinksInPath().path
        let folders = try all(of: notes)
        let moved = folders.first { !$0.isHere && $0.moved(to: path).isHere }
        for other in folders where other != moved && ((path + "/").hasPrefix(other.path + "/") || (other.path + "/").hasPrefix(path + "/"))
        {
            throw FilesError(.cannotCreate, "\(other.path) is kept in step already, and one may not lie in the other.")
        }
        let own = String(RelativePath.folder(of: place(of: notes)))
        // Folders of which the name begins with a dot are passed over.
        let isSeen = RelativePath.isIn(path, own) && !RelativePath.names(of: own.dropFirst(path.count)).contains { $0.hasPrefix(".") }
        if isSeen || path == own {
            throw FilesError(
                .cannotCreate, "The notes themselves are kept in \(own), so files in \(path) cannot be kept in step. Choose another."
            )
        }
        if case .hidden(let words) = ForeignFile.kind(path) { throw FilesError(.cannotCreate, "\(path): \(words)") }
        if let moved {
            guard tag == nil || tag == moved.tag, !tagsFolders || moved.tagsFolders else {
                throw FilesError(
                    .cannotCreate,
                    "\(path) was \(moved.path), and is kept in step in another way. Add it without options, or remove \(moved.path) first.")
            }
            try FilesError.mapping {
                try notes.store.database.write { db in
                    try db.execute(sql: "UPDATE local_folder SET path = ? WHERE number = ?", arguments: [path, moved.number])
                }
            }
            return moved.moved(to: path)
        }
        let isMade = ForeignFile.kind(path) == .missing
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw FilesError(.cannotCreate, "The folder \(path) cannot be made. Check the folder above it and its permissions.")
        }
        let markFile = "\(path)/\(markName)"
        if case .hidden(let words) = ForeignFile.kind(markFile) { throw FilesError(.cannotCreate, "\(markFile): \(words)") }
        guard ForeignFile.kind(markFile) == .missing else {
            throw FilesError(
                .cannotCreate,
                "\(path) is kept in step with other notes: its file \(markName) says so. Remove it there first, or delete that file if that is long ago."
            )
        }
        let mark = UUID().uuidString.lowercased()
        var isMarked = false
        do {
            try requireExchange(in: path)
            try NewFile.write(
                Array("\(mark)\nKith keeps this folder in step with its notes. Without this file it does not.\n".utf8), to: markFile)
            isMarked = true
            return try FilesError.mapping {
                let incarnation = try notes.store.incarnation()
                return try notes.store.database.write { db in
                    try FolderTables.prepare(db)
                    try db.execute(
                        sql: "INSERT INTO local_folder (path, mark, tag, tagsFolders, replica, store) VALUES (?, ?, ?, ?, ?, ?)",
                        arguments: [path, mark, tag, tagsFolders, incarnation, place(of: notes)])
                    return NotesFolder(path: path, tag: tag, tagsFolders: tagsFolders, number: db.lastInsertedRowID, mark: mark)
                }
            }
        } catch {
            if isMarked { unlink(markFile) }
            if isMade { rmdir(path) }
            throw error
        }
    }

    /// Files must be able to change places at once, or what is saved in the wrong moment could be lost.
    private static func requireExchange(in path: String) throws(FilesError) {
        let (first, second) = ("\(path)/\(temporaryPrefix)1", "\(path)/\(temporaryPrefix)2")
        defer {
            unlink(first)
            unlink(second)
        }
        unlink(first)
        unlink(second)
        try NewFile.write([1], to: first)
        try NewFile.write([2], to: second)
        guard kith_exchange(first, second) == 0, try ForeignFile.read(first, bytesMax: 1) == [2] else {
            throw FilesError(
                .cannotCreate,
                "The file system of \(path) cannot let two files change places, so nothing there would be safe. Choose another place.")
        }
    }

    private func moved(to path: String) -> NotesFolder {
        NotesFolder(path: path, tag: tag, tagsFolders: tagsFolders, number: number, mark: mark)
    }

    /// Ends it. Files and notes stay as they are.
    ///
    /// - Throws: ``FilesError`` with code `cannotCreate` if the mark in the folder cannot be removed: nothing is changed then.
    package func remove(from notes: NotesStore) throws {
        try FilesError.mapping {
            let incarnation = try notes.store.incarnation()
            try notes.store.database.write { db in
                let isOfOthers = try original(notes, incarnation, db) != nil
                try FolderTables(folder: number).removeAll(db)
                try db.execute(sql: "DELETE FROM local_folder WHERE number = ?", arguments: [number])
                // Last: without its mark the folder would not be there for the next try.
                if isHere, !isOfOthers, unlink("\(path)/\(Self.markName)") != 0, errno != ENOENT {
                    throw FilesError(
                        .cannotCreate,
                        "\(path)/\(Self.markName) cannot be removed (\(ForeignFile.systemMessage())), and the folder is kept in step as before."
                    )
                }
            }
        }
    }

    /// Whether the folder is there, and this one.
    package var isHere: Bool {
        guard let bytes = try? ForeignFile.read("\(path)/\(Self.markName)", bytesMax: 4_096) else { return false }
        return String(decoding: bytes, as: UTF8.self).hasPrefix(mark)
    }

    /// How a folder is.
    package struct State: Hashable, Sendable {
        /// Files of notes in it.
        package let files: Int
        /// Files that are gone, of which the notes are kept until a person says what is to become of them.
        package let held: Int
        /// Files that cannot be understood, or written.
        package let left: [FolderReport.LeftFile]
        /// Notes that are not in their files as they are now.
        package let behind: Int
    }

    /// What the last synchronisation found.
    package func state(in notes: NotesStore) throws -> State {
        let tables = FolderTables(folder: number)
        return try FilesError.mapping {
            try notes.store.database.read { db in
                State(
                    files: try tables.count(db), held: try tables.held(db), left: try tables.left(db),
                    behind: try tables.behind(tag: tag, db))
            }
        }
    }

    // MARK: Keeping in step

    /// Brings changes of files into the notes, and those of notes into the files. Waits for files that a program is writing.
    ///
    /// - Throws: ``FilesError`` with code `notFound` if the folder is not there, so that nothing is deleted; `needsConsent` if another process does it.
    package func sync(_ notes: NotesStore, options: Options = Options()) throws -> FolderReport {
        var report = FolderReport()
        for _ in 0..<Self.passesMax {
            report.add(try pass(notes, options))
            if report.busy == 0 { break }
            options.wait(options.quietMilliseconds)
        }
        return report
    }

    /// How often files are waited for that are written again and again.
    private static let passesMax = 50

    /// Brings in step what no program is writing at the moment.
    ///
    /// - Parameter readers: knows which files were read since they were written; `nil` if that is not known.
    func pass(
        _ notes: NotesStore, _ options: Options, _ scope: FolderScope = .everything, _ readers: (any FileReaders)? = nil
    ) throws -> FolderReport {
        try requireHere()
        do {
            return try FilesError.mapping {
                try withLock(options) {
                    let isRestored = try forgetIfRestored(notes)
                    var pass = FolderPass(self, notes, options, scope, readers)
                    pass.asksJournal = !isRestored
                    return try pass.run()
                }
            }
        } catch let error as FilesError where error == .diskFull {
            throw FilesError(
                .inputOutput,
                "The disk is full. What was done in \(path) so far stays; free some space, and `kith folder sync` does the rest.")
        }
    }

    func requireHere() throws(FilesError) {
        if isHere { return }
        guard case .folder = ForeignFile.kind(path) else {
            throw FilesError(
                .notFound,
                "The folder \(path) is not there, or not mounted, and was left alone. If it was moved: kith folder add, with where it is now."
            )
        }
        throw FilesError(
            .notFound,
            """
            \(path) has no file \(Self.markName), or that of another folder: it is another one, or the file was removed. It was left alone. \
            If it is the right one: kith folder remove, then kith folder add.
            """)
    }

    /// One process at a time.
    private func withLock<Result>(_ options: Options, _ body: () throws -> Result) throws -> Result {
        guard let lock = FileLock(reading: "\(path)/\(Self.markName)") else {
            throw FilesError(.notFound, "The folder \(path) is not there any more.")
        }
        defer { lock.release() }
        let isTaken = try? lock.tryToTake(
            .exclusive, for: Self.lockMilliseconds, pauseMilliseconds: Self.lockPauseMilliseconds, pause: options.wait)
        guard isTaken == true else {
            throw FilesError(.needsConsent, "Another process keeps \(path) in step right now. Try again.")
        }
        return try body()
    }

    /// How long another process is waited for.
    private static let lockMilliseconds: Int64 = 10_000
    private static let lockPauseMilliseconds: Int64 = 20

    /// A store that was copied, restored or set back does not know what its files were last. Then files that say what the notes say are
    /// taken as they are, and others become notes of their own.
    ///
    /// - Returns: whether it is one.
    private func forgetIfRestored(_ notes: NotesStore) throws -> Bool {
        let incarnation = try notes.store.incarnation()
        let place = Self.place(of: notes)
        return try notes.store.database.write { db in
            if let original = try original(notes, incarnation, db) {
                throw FilesError(
                    .needsConsent,
                    """
                    \(path) is kept in step with the notes in \(original), of which these are a copy. Nothing was changed. End it in one of \
                    both; then the other may keep it.
                    """)
            }
            let row = try Row.fetchOne(db, sql: "SELECT * FROM local_folder WHERE number = ?", arguments: [number])
            let isSame = row?["replica"] as String? == incarnation
            if isSame, row?["store"] as String? == place { return false }
            if !isSame { try FolderTables(folder: number).removeAll(db) }
            try FolderTables.prepare(db)
            try db.execute(
                sql: "UPDATE local_folder SET replica = ?, store = ? WHERE number = ?", arguments: [incarnation, place, number])
            return !isSame
        }
    }

    /// Where the notes are of which these are a copy in another place, restored or copied; `nil` if they are none, or in the same place.
    private func original(_ notes: NotesStore, _ incarnation: String, _ db: Database) throws -> String? {
        guard let row = try Row.fetchOne(db, sql: "SELECT * FROM local_folder WHERE number = ?", arguments: [number]),
            row["replica"] as String? != incarnation, let store = row["store"] as String?, store != Self.place(of: notes)
        else { return nil }
        return store
    }

    private static func place(of notes: NotesStore) -> String {
        URL(filePath: notes.store.database.path).standardizedFileURL.resolvingSymlinksInPath().path
    }
}
