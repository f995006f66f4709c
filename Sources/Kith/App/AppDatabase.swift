import Foundation
import GRDB
import KithLock

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The database of an app, on its way to synchronise.
struct AppDatabase {
    /// `nil` in memory.
    private let file: URL?
    /// One that the app has opened itself.
    private let given: (any DatabaseWriter)?
    private let configuration: Configuration
    private let migrator: DatabaseMigrator?
    private let tables: [TrackedTable]
    private let options: SyncedDatabase.Options

    /// How long to wait for another process that writes, unless the app says otherwise.
    static let busyTimeoutSeconds = 5.0

    init(
        file: URL?, given: (any DatabaseWriter)?, _ configuration: Configuration, _ migrator: DatabaseMigrator?, _ tables: [TrackedTable],
        _ options: SyncedDatabase.Options
    ) {
        self.file = file
        self.given = given
        var configuration = configuration
        if case .immediateError = configuration.busyMode { configuration.busyMode = .timeout(Self.busyTimeoutSeconds) }
        self.configuration = configuration
        self.migrator = migrator
        self.tables = tables
        self.options = options
    }

    /// - Returns: the store, and why it can only be read, if it can only be read.
    func open(recovery: SyncedApp.Recovery?) throws -> (SyncedDatabase, readOnlyReason: String?) {
        if let given { return (try track(given, options), nil) }
        guard let file else { return (try track(try DatabaseQueue(configuration: configuration), options), nil) }
        do {
            return (try open(file, options), nil)
        } catch {
            let error = SyncedAppError(error).forStore(at: file)
            switch recovery {
            case .refill? where error.recoveries.contains(.refill): return (try refill(file), nil)
            case .readOnlyCopy? where error.recoveries.contains(.readOnlyCopy): return (try copy(file, because: error), error.message)
            default: throw error
            }
        }
    }

    private func open(_ file: URL, _ options: SyncedDatabase.Options) throws -> SyncedDatabase {
        if !options.refillsLostStore, let loss = SyncedDatabase.loss(at: file.path) {
            throw SyncedAppError(
                .lost,
                """
                The data is gone: \(file.path) \(loss == .missing ? "is missing" : "is empty"), though it held some. Put a backup there, or let \
                the other devices refill it.
                """)
        }
        try createIfMissing(file)
        // Two processes that make the same tables at once would be in each other's way; one that takes longer keeps no other out.
        let turn = FileLock(reading: file.deletingLastPathComponent().path)
        defer { turn?.release() }
        _ = try? turn?.tryToTake(.exclusive, for: Int64(Self.busyTimeoutSeconds * 1_000), pauseMilliseconds: 2)
        return try track(try DatabasePool(path: file.path, configuration: configuration), options)
    }

    private func track(_ database: any DatabaseWriter, _ options: SyncedDatabase.Options) throws -> SyncedDatabase {
        do {
            return try SyncedDatabase(database, tables: tables, migrator: migrator, options: options)
        } catch let error as StoreError {
            throw error
        } catch {
            // The store's own errors are typed; what is left was thrown by a migration.
            throw SyncedAppError.migration(error)
        }
    }

    private func refill(_ file: URL) throws -> SyncedDatabase {
        _ = try SyncedDatabase.setAside(at: file.path, ending: ".lost-\(Int(Date().timeIntervalSince1970))")
        var options = options
        options.refillsLostStore = true
        return try open(file, options)
    }

    private func copy(_ file: URL, because error: SyncedAppError) throws -> SyncedDatabase {
        var options = options
        options.copy = SyncedDatabase.Options.Copy(of: file.path, because: error.message)
        return try track(try SyncedDatabase.copyInMemory(ofDatabaseAt: file.path, configuration: configuration), options)
    }

    /// Makes an empty file that only its owner can read, with its folder; SQLite fills it. What is there stays as it is.
    private func createIfMissing(_ file: URL) throws {
        let folder = file.deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw SyncedAppError(
                .unusableFolder, "The folder \(folder.path) cannot be made. Check the path, and the permissions of the folder above it.",
                underlying: error)
        }
        // An existing file must not be opened here: closing it would drop the locks that SQLite may hold on it.
        let descriptor = Self.create(file.path)
        if descriptor >= 0 {
            close(descriptor)
        } else if !FileManager.default.fileExists(atPath: file.path) {
            throw SyncedAppError(
                errno == ENOSPC ? .diskFull : .unusableFolder,
                "The file \(file.path) cannot be made (\(String(cString: strerror(errno)))). Check the permissions of its folder.")
        }
    }

    private static func create(_ path: String) -> Int32 {
        #if canImport(Darwin)
        Darwin.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        #elseif canImport(Musl)
        Musl.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        #else
        Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        #endif
    }
}
