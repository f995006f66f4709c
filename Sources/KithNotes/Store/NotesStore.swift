import Foundation
import GRDB
import Kith
import KithLock

/// The notes of one person on this machine, in one SQLite file that synchronises.
///
///     let notes = try NotesStore.open(URL(filePath: "notes.sqlite"))
///     let note = try notes.add(title: "Shopping", body: "Bread")
///     try notes.edit(note.id) { $0.tags.insert("home") }
///
/// Several processes may have the file open and write; hand ``store`` to a `Node` in one of them to synchronise.
public final class NotesStore: Sendable {
    /// The app that the notes' nodes and pairings are of.
    public static let app: AppID = "kith.notes"

    /// What synchronises the notes.
    public let store: SyncedDatabase
    let database: any DatabaseWriter
    let options: Options
    private let returns = ReturnWatch()
    /// Why nothing can be written, for people; `nil` if something can.
    public let readOnlyReason: String?

    /// How a store reads the world and treats its file.
    public struct Options: Sendable {
        /// Reads the wall clock, in milliseconds since 1970.
        public var nowMilliseconds: @Sendable () -> Int64 = {
            Int64(Date().timeIntervalSince1970 * 1_000)
        }
        /// Makes the id of a note that is added at this time.
        public var makeID: @Sendable (_ milliseconds: Int64) -> UUID = { milliseconds in
            var generator = SystemRandomNumberGenerator()
            return UUID.version7(milliseconds: milliseconds, using: &generator)
        }
        /// How long to wait for another process that is writing, an hour at most; not at all if this is no number above zero.
        public var busyTimeoutSeconds = 5.0
        /// Whether notes can be read while others are written, over connections of their own.
        ///
        /// A process that does one thing and ends needs none, and leaves the notes in one file if it is the last to use them.
        public var readsWhileWriting = true
        /// Whether a new and empty store may take the place of one that was there and is gone, to be refilled by other devices.
        public var refillsLostStore = false
        /// Whether notes that cannot be written, on a full disk or a read-only one, are opened to be read, as a copy in memory. Where there is
        /// no file, and none can be made, that is a copy without notes. See ``NotesStore/readOnlyReason``.
        public var opensReadOnly = false
        /// What is handed on to the store. A test gives it a clock, and replicas that follow from a seed.
        package var storeOptions = SyncedDatabase.Options()

        public init() {}
    }

    /// Opens the notes in `file`, made with its folder (mode 0700) if there is none.
    ///
    /// - Throws: ``NotesError`` with code `notAStore`, `lost`, `cannotCreate`, `readOnly`, `busy`, `corrupt` or `diskFull`.
    public static func open(_ file: URL, options: Options = Options()) throws(NotesError) -> NotesStore {
        if !options.refillsLostStore, let loss = loss(in: file) { throw NotesError(lost: loss, file) }
        do {
            return try openToWrite(file, options)
        } catch {
            guard options.opensReadOnly, error.isAboutWriting, let copy = openToRead(file, options: options, because: error.message) else {
                throw error.ofNotes(in: file)
            }
            return copy
        }
    }

    /// Whether the notes are no more where they were opened: moved, deleted, or exchanged for others.
    package var haveMoved: Bool {
        get async { (try? await store.hasMoved()) ?? false }
    }

    private static func openToWrite(_ file: URL, _ options: Options) throws(NotesError) -> NotesStore {
        try NotesFile.createIfMissing(file)
        let waitSeconds = options.busyTimeoutSeconds > 0 ? min(options.busyTimeoutSeconds, 3_600) : 0
        // Two processes that make the same tables at once are in each other's way. One that takes longer than the wait, with a large store,
        // does not keep the others out; nor does a folder that cannot be locked.
        let turn = FileLock(reading: file.deletingLastPathComponent().path)
        defer { turn?.release() }
        _ = try? turn?.tryToTake(.exclusive, for: Int64(waitSeconds * 1_000), pauseMilliseconds: 2)
        var configuration = configuration
        configuration.busyMode = .timeout(waitSeconds)
        configuration.journalMode = .wal
        let database: any DatabaseWriter = try NotesError.mapping { [configuration] in
            // The last connection that a pool closes cannot write, so that the write-ahead log stays.
            if options.readsWhileWriting { return try DatabasePool(path: file.path, configuration: configuration) }
            return try DatabaseQueue(path: file.path, configuration: configuration)
        }
        return try NotesStore(database, options: options)
    }

    /// A copy in memory; `nil` if the notes cannot be read either.
    package static func openToRead(_ file: URL, options: Options, because reason: String) -> NotesStore? {
        do {
            let isThere = FileManager.default.fileExists(atPath: file.path)
            if !isThere, !isPlausible(file) { return nil }
            let database =
                try isThere
                ? SyncedDatabase.copyInMemory(ofDatabaseAt: file.path, configuration: configuration)
                : DatabaseQueue(configuration: configuration)
            return try NotesStore(database, options: options, copy: SyncedDatabase.Options.Copy(of: file.path, because: reason))
        } catch {
            return nil
        }
    }

    /// Whether notes could be in this place: what is there of the folders above it are folders.
    private static func isPlausible(_ file: URL) -> Bool {
        var folder = file.standardizedFileURL.deletingLastPathComponent()
        var isFolder: ObjCBool = false
        while !FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder), folder.path != "/" {
            folder.deleteLastPathComponent()
        }
        return isFolder.boolValue
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            db.add(function: TextFolding.function)
            // Lists are sorted in memory: what is sorted is all read anyway.
            try db.execute(sql: "PRAGMA temp_store = MEMORY")
        }
        return configuration
    }

    /// Takes over a database that is empty or holds notes, for instance one in memory.
    ///
    /// - Throws: ``NotesError`` with code `notAStore`, `readOnly`, `busy`, `corrupt` or `diskFull`.
    public convenience init(_ database: any DatabaseWriter, options: Options = Options()) throws(NotesError) {
        try self.init(database, options: options, copy: nil)
    }

    private init(_ database: any DatabaseWriter, options: Options, copy: SyncedDatabase.Options.Copy?) throws(NotesError) {
        self.database = database
        self.options = options
        readOnlyReason = copy?.reason
        store = try NotesError.mapping {
            try database.barrierWriteWithoutTransaction { $0.add(function: TextFolding.function) }
            try NotesSchema.prepare(database)
            var storeOptions = options.storeOptions
            storeOptions.refillsLostStore = options.refillsLostStore
            storeOptions.copy = copy
            return try SyncedDatabase(database, tables: NotesSchema.tracked, options: storeOptions)
        }
        if copy == nil { returns.begin(self) }
    }

    /// Whether notes that were in `file` are gone: it is missing or empty, and the files beside it know that there were some.
    public static func loss(in file: URL) -> StoreLoss? {
        SyncedDatabase.loss(at: file.path)
    }

    /// Closes the file. The store cannot be used afterwards.
    public func close() throws(NotesError) {
        returns.end(self)
        store.close()
        try NotesError.mapping { try database.close() }
    }
}
