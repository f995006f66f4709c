import GRDB
import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts
import Synchronization

/// One SQLite database whose tables synchronise.
///
/// The app opens its own GRDB database, creates its tables with its own migrations, and hands it over with the names of
/// the tables that take part. From then on every `INSERT`, `UPDATE`, `DELETE`, `UPSERT` and `REPLACE` of those tables, by
/// whatever SQL, is noted in the same transaction; reads cost nothing extra.
///
///     let pool = try DatabasePool(path: "notes.sqlite")
///     let store = try SyncedDatabase(pool, tables: [TrackedTable("note", sets: ["tags"])], migrator: migrator)
///     try pool.write { db in try db.execute(sql: "INSERT INTO note …") }
///
/// A connection that Kith did not prepare cannot write a tracked table: the triggers fail loudly. In-memory databases
/// work the same way. Close the store before the database.
public final class SyncedDatabase: Sendable {
    /// The app's database.
    public let database: any DatabaseWriter
    let writer: WriterBox
    let catalogCache = Mutex<(version: Int, catalog: Catalog)?>(nil)
    let options: Options
    let signal: CommitSignal
    /// Rings when the store is closed: live histories and snapshot writers wait for it as for a commit.
    let end = CommitSignal()
    let live: LiveHub
    private let observer: TransactionWatch
    private let watch: StoreWatch?
    let others: OtherProcesses
    let presence: StorePresence?
    let checkpoints: CheckpointRight?
    /// What was read last of what the store knows.
    let lastSummary = Mutex<StoreSummary?>(nil)
    /// What is known to be on the disk.
    let durability = Mutex(VersionVector())
    /// Whether the last `fsync` of the log failed: what it was to store may be gone whatever the next one says.
    let isLogInDoubt = Atomic(false)
    /// What is proven of whose commits; `nil` until the store is bound to a device.
    let proofs = Mutex<(any ProofBook)?>(nil)
    let textTurns = Mutex(TextTurns())
    /// Where attachments are; `nil` for a database in memory.
    let attachments: AttachmentFolder?
    /// How much of them may still come unasked, once that was measured.
    let attachmentRoom = Mutex<AttachmentRoom?>(nil)
    let isClosed = Atomic(false)
    /// Whether nothing of the store is left on the database's connection.
    private let hasLetGo = Atomic(false)

    /// Takes `database` over for synchronisation. Several processes may do so with one file.
    ///
    /// - Parameter migrator: the app's migrations, which run first. What their steps write is noted as what every device does by itself
    ///   (docs/store.md, "Migrations").
    /// - Throws: ``StoreError`` with code `tableRejected` if a table cannot be tracked, saying why and what to do; `valueRejected` if a
    ///   migration step changes a text or a counter;
    ///   `notAStore` if the file is not a database or of a newer format; `lost` if a store with content was in this file, of which nothing is
    ///   left; `busy` also if a store is open on this database object already; `readOnly`, `diskFull`.
    public init(
        _ database: any DatabaseWriter, tables: [TrackedTable], migrator: DatabaseMigrator? = nil, options: Options = Options()
    ) throws {
        try StoreError.mapping {
            try database.unsafeReentrantWrite { db in
                try db.requireNoAccess()
                try Self.requireNoStore(on: db)
                try Self.addFunctions(to: db, clock: options.clock)
            }
        }
        let checkpoints = DatabaseFile(database.path).map { CheckpointRight(databasePath: $0.path) }
        self.checkpoints = checkpoints
        // A migration may set `wal_autocheckpoint`.
        if let migrator {
            try Self.checkpointing(database, by: checkpoints)
            defer { Self.stopCheckpointing(database, by: checkpoints) }
            try MigrationSteps(migrator: migrator, tables: tables).run(on: database)
        }
        let signal = CommitSignal()
        let live = LiveHub()
        let file = DatabaseFile(database.path)
        let presence = try file.map { try StorePresence($0, options.host) }
        self.presence = presence
        let attachments = AttachmentFolder(of: file?.path ?? options.copy?.path, options)
        self.attachments = attachments
        self.database = database
        self.options = options
        self.signal = signal
        self.live = live
        try Self.checkpointing(database, by: checkpoints)
        do {
            writer = try StoreError.mapping {
                try database.unsafeReentrantWrite { db in
                    try db.requireNoAccess()
                    let writer = WriterBox(try StoreOpening(db, options, signal, presence).open(tables))
                    writer.state.ledger.touched = live.touched
                    Self.addAttachmentFunctions(to: db, attachments)
                    return writer
                }
            }
        } catch {
            Self.stopCheckpointing(database, by: checkpoints)
            throw error
        }
        checkpoints?.didOpen()
        observer = TransactionWatch(writer, signal, live, presence, copy: file == nil ? options.copy : nil)
        database.add(transactionObserver: observer, extent: .databaseLifetime)
        let others = OtherProcesses(writer, signal, live)
        self.others = others
        watch = (options.watchesFile ? file : nil).map { file in
            StoreWatch(file) { [weak database] in database.map(others.look) }
        }
        try retryRefusedRows()
    }

    /// Lets go of the database. Once a call returns, the database may be closed, also if another thread has called this before. The tables
    /// stay tracked: without a store, writing them fails.
    public func close() {
        if hasLetGo.load(ordering: .acquiring) { return }
        isClosed.store(true, ordering: .releasing)
        watch?.stop()
        others.stop()
        let isInDoubt = isLogInDoubt.load(ordering: .acquiring)
        // An observation may be the last to hold the store, and let go of it within an access.
        database.unsafeReentrantWrite { [writer, presence, checkpoints, observer] db in
            if hasLetGo.load(ordering: .acquiring) { return }
            defer { hasLetGo.store(true, ordering: .releasing) }
            db.remove(transactionObserver: observer)
            checkpoints?.remove(from: writer.state.ledger.connection)
            let claim = try? writer.state.claim()
            Functions.remove(from: writer.state.ledger.connection.handle)
            let isSafe = (try? writer.state.ledger.connection.isSynchronizing()) == true && !isInDoubt
            writer.state.ledger.connection.finalizeStatements(isLast: true)
            presence?.leave(isSafe ? claim : nil)
        }
        live.close()
        end.ring()
    }

    /// A second store would take the functions over that the first one's writes need, and take them along when it is closed.
    private static func requireNoStore(on db: Database) throws {
        let isOpen = try Bool.fetchOne(db, sql: "SELECT 1 FROM pragma_function_list WHERE name = 'kith_insert'") ?? false
        guard isOpen else { return }
        throw StoreError(
            .busy, "A store is open on this database object already. Use that one, or close it first, or open the file once more.")
    }

    /// From now on the log is moved by one process at a time.
    private static func checkpointing(_ database: any DatabaseWriter, by right: CheckpointRight?) throws {
        guard let right else { return }
        try StoreError.mapping {
            try database.unsafeReentrantWrite { db in try right.install(on: try DatabaseConnection(borrowing: db)) }
        }
    }

    private static func stopCheckpointing(_ database: any DatabaseWriter, by right: CheckpointRight?) {
        database.unsafeReentrantWrite { db in
            if let connection = try? DatabaseConnection(borrowing: db) { right?.remove(from: connection) }
        }
    }

    /// Lets the app's own observations of tables see what GRDB has not seen being written.
    static func tellObservations(of regions: [any DatabaseRegionConvertible], _ db: Database) {
        // An empty transaction: it needs no lock. It fails only if the database is being closed.
        try? db.inTransaction(.deferred) {
            for region in regions { try db.notifyChanges(in: region) }
            return .commit
        }
    }

    deinit {
        close()
    }
}
