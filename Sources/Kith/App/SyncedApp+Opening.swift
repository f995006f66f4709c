import Foundation
import GRDB

extension SyncedApp {
    /// Opens the database of an app, made with its folders if there is none, lets it synchronise, and returns it before anything is sent.
    ///
    /// Rows that are in the tables already are adopted: they count as older than every write from now on, and equal rows on two devices are
    /// one. The migrations run first, and what their steps write is what every device does by itself.
    ///
    /// - Parameters:
    ///   - id: the app, the same on all devices and in all versions: the reverse of a domain name that is yours.
    ///   - migrator: the app's migrations.
    ///   - tables: those that synchronise; all others stay on this device.
    ///   - place: where everything is kept.
    ///   - options: what is otherwise than most apps have it.
    /// - Throws: ``SyncedAppError``, which names what would help.
    public static func open(
        _ id: AppID, migrator: DatabaseMigrator? = nil, tables: [TrackedTable], at place: Place = .standard, options: Options = Options()
    ) async throws(SyncedAppError) -> SyncedApp {
        try SyncedApp(id, migrator: migrator, tables: tables, at: place, options: options)
    }

    /// The same at once, for the beginning of a program. It reads and writes files, a few milliseconds where nothing is to be migrated.
    public convenience init(
        _ id: AppID, migrator: DatabaseMigrator? = nil, tables: [TrackedTable], at place: Place = .standard, options: Options = Options()
    ) throws(SyncedAppError) {
        self.init(try AppOpening(id, place, migrator, tables, options))
    }

    /// Lets a database synchronise that the app has opened itself. ``close()`` leaves it open.
    ///
    /// - Parameters:
    ///   - id: the app, as with ``open(_:migrator:tables:at:options:)``.
    ///   - database: with tables, or to be given them by the migrator.
    ///   - migrator: the app's migrations.
    ///   - tables: those that synchronise.
    ///   - keys: the folder of this device's key, apart from that of the database; the standard one without it.
    ///   - options: what is otherwise than most apps have it.
    public convenience init(
        _ id: AppID, database: any DatabaseWriter, migrator: DatabaseMigrator? = nil, tables: [TrackedTable], keys: URL? = nil,
        options: Options = Options()
    ) throws(SyncedAppError) {
        let isFile = FileManager.default.fileExists(atPath: database.path)
        let place = isFile ? Place.database(URL(filePath: database.path), keys: keys) : .inMemory
        self.init(try AppOpening(id, place, migrator, tables, options, database))
    }
}

/// What an app consists of, opened step by step.
struct AppOpening {
    let id: AppID
    let options: SyncedApp.Options
    let folders: SyncedApp.Folders?
    let temporary: TransientFolder?
    let store: SyncedDatabase
    let trust: TrustStore
    let node: Node
    let ownsDatabase: Bool
    private(set) var readOnlyReason: String?

    init(
        _ id: AppID, _ place: SyncedApp.Place, _ migrator: DatabaseMigrator?, _ tables: [TrackedTable], _ options: SyncedApp.Options,
        _ database: (any DatabaseWriter)? = nil
    ) throws(SyncedAppError) {
        self.id = id
        self.options = options
        ownsDatabase = database == nil
        do {
            folders = try SyncedApp.Folders(place, of: id)
            temporary = try folders == nil ? TransientFolder() : nil
            let keys = folders?.keys ?? temporary.map { $0.url.appending(path: "keys") }
            guard let keys else { throw SyncedAppError(.unusableFolder, "There is no folder for this device's key.") }
            let key = try DeviceKey.loadOrCreate(in: keys)
            Self.keepOutOfBackups(keys)
            trust = try TrustStore(in: keys, ownID: key.id)
            var storeOptions = options.store
            storeOptions.deviceKey = { key.publicKeyBytes }
            if let temporary { storeOptions.attachmentsFolder = temporary.url.appending(path: "attachments").path }
            let source = AppDatabase(file: folders?.database, given: database, options.configuration, migrator, tables, storeOptions)
            (store, readOnlyReason) = try source.open(recovery: options.recovery)
            node = Node(
                store: store, key: key, trust: trust, configuration: Self.configuration(id, options, isInMemory: folders == nil),
                logger: options.logger)
        } catch {
            throw SyncedAppError(error)
        }
    }

    private static func configuration(_ id: AppID, _ options: SyncedApp.Options, isInMemory: Bool) -> NodeConfiguration {
        var configuration = NodeConfiguration(app: id)
        configuration.port = options.port
        configuration.usesDiscovery = options.usesDiscovery
        configuration.isInProcess = options.isInProcess || isInMemory
        configuration.software = options.software ?? id.description
        return configuration
    }

    /// A key that is restored on another device would make two devices of one.
    private static func keepOutOfBackups(_ folder: URL) {
        #if canImport(Darwin)
        var folder = folder
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try? folder.setResourceValues(values)
        #endif
    }
}
