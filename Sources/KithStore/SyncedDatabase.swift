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
    private let catalogCache = Mutex<(version: Int, catalog: Catalog)?>(nil)
    let options: Options
    let signal: CommitSignal
    private let observer: TransactionWatch
    private let watch: StoreWatch?
    let presence: StorePresence?
    let checkpoints: CheckpointRight?
    /// What is known to be on the disk.
    let durability = Mutex(VersionVector())
    /// Where attachments are; `nil` for a database in memory.
    let attachments: AttachmentFolder?
    private let isClosed = Atomic(false)

    /// Takes `database` over for synchronisation. Several processes may do so with one file.
    ///
    /// - Parameter migrator: the app's migrations, which run first. What their steps write is noted as what every device does by itself
    ///   (docs/store.md, "Migrations").
    /// - Throws: ``StoreError`` with code `tableRejected` if a table cannot be tracked, saying why and what to do; `valueRejected` if a
    ///   migration step changes a text or a counter;
    ///   `notAStore` if the file is not a database or of a newer format; `lost` if a store with content was in this file, of which nothing is
    ///   left; `readOnly`, `busy`, `diskFull`.
    public init(
        _ database: any DatabaseWriter, tables: [TrackedTable], migrator: DatabaseMigrator? = nil, options: Options = Options()
    ) throws {
        if let migrator { try MigrationSteps(migrator: migrator, tables: tables).run(on: database) }
        let signal = CommitSignal()
        let file = DatabaseFile(database.path)
        let presence = try file.map { try StorePresence($0, options.host) }
        self.presence = presence
        let checkpoints = file.map { CheckpointRight(databasePath: $0.path) }
        self.checkpoints = checkpoints
        let attachments = (file?.path ?? options.copy?.path).map { AttachmentFolder(databasePath: $0, writeFile: options.writeFile) }
        self.attachments = attachments
        self.database = database
        self.options = options
        self.signal = signal
        writer = try StoreError.mapping {
            try database.unsafeReentrantWrite { db in
                try db.requireNoAccess()
                let writer = WriterBox(try StoreOpening(db, options, signal, presence).open(tables))
                Self.addAttachmentFunctions(to: db, attachments)
                try checkpoints?.install(on: writer.state.ledger.connection)
                return writer
            }
        }
        observer = TransactionWatch(writer, signal, presence, copy: file == nil ? options.copy : nil)
        database.add(transactionObserver: observer, extent: .databaseLifetime)
        let names = tables.map(\.name)
        let schema = writer.schema
        watch = (options.watchesFile ? file : nil).map { file in
            StoreWatch(file) { [weak database] in
                // A database that is busy is read again at the next occasion.
                guard let database, let vector = try? database.read(VectorRecords.vector), signal.didRead(vector) else { return }
                SyncedDatabase.tellObservations(of: schema?.reached(from: names) ?? names, database)
                signal.fireForeign()
            }
        }
        try retryRefusedRows()
    }

    /// Lets go of the database, which may then be closed. The tables stay tracked: without a store, writing them fails.
    public func close() {
        if isClosed.exchange(true, ordering: .acquiringAndReleasing) { return }
        watch?.stop()
        // An observation may be the last to hold the store, and let go of it within an access.
        database.unsafeReentrantWrite { [writer, presence, checkpoints, observer] db in
            db.remove(transactionObserver: observer)
            checkpoints?.remove(from: writer.state.ledger.connection)
            let claim = try? writer.state.claim()
            Functions.remove(from: writer.state.ledger.connection.handle)
            let isSafe = (try? writer.state.ledger.connection.isSynchronizing()) == true
            writer.state.ledger.connection.finalizeStatements()
            presence?.leave(isSafe ? claim : nil)
        }
    }

    /// Lets the app's own observations see what another process has committed.
    static func tellObservations(of tables: [String], _ database: any DatabaseWriter) {
        // An empty transaction: it needs no lock. It fails only if the database is being closed.
        try? database.writeWithoutTransaction { db in
            try db.inTransaction(.deferred) {
                for table in tables { try db.notifyChanges(in: Table(table)) }
                return .commit
            }
        }
    }

    deinit {
        close()
    }

    // MARK: Knowledge

    /// Who this store is and what it knows, read in one transaction.
    public func summary() throws -> StoreSummary {
        try read(rows: false) { ledger in try VectorRecords(connection: ledger.connection).summary(ledger.catalog) }
    }

    /// The same as a part of what is open on `db`.
    public func summary(_ db: Database) throws -> StoreSummary {
        try read(in: db, rows: false) { ledger in try VectorRecords(connection: ledger.connection).summary(ledger.catalog) }
    }

    /// The version vector.
    public func vector() throws -> VersionVector {
        try summary().vector
    }

    /// The same as a part of what is open on `db`.
    public func vector(_ db: Database) throws -> VersionVector {
        try summary(db).vector
    }

    /// What rows of broken-off catch-ups know beyond the vector: whoever is to bring the rest may never come back, so a session offers
    /// these rows to its peer once. Takes time in proportion to the number of such catch-ups.
    public func ahead() throws -> VersionVector {
        try read(rows: false) { ledger in try VectorRecords(connection: ledger.connection).ahead(ledger.catalog) }
    }

    // MARK: Synchronisation

    /// Reads what a replica lacks, up to one slice.
    public func slice(_ request: SliceRequest, limits: SliceLimits = SliceLimits()) throws -> Slice {
        try read { ledger in try SliceReader(ledger: ledger, limits: limits).read(request) }
    }

    /// Reads all that a replica with the vector `since` lacks, whatever its size.
    public func delta(since: VersionVector) throws -> Slice {
        try slice(SliceRequest(since: since), limits: SliceLimits(rowsMax: .max, bytesMax: .max, textBytesMax: .max, textChangesMax: .max))
    }

    /// Merges a slice: a whole delta, or the last slice of one, in one transaction; a slice of a longer delta in several, so that
    /// nobody waits long. Observations of the app's tables fire as for any other commit.
    public func apply(_ slice: Slice) throws -> ApplyOutcome {
        // A listing also deletes rows of tables that it does not name.
        let isRelated = slice.listing == nil ? writer.declarations.areRelated(slice.tables) : writer.declarations.hasForeignKeys
        // To stop SQLite's own actions costs every prepared statement. A few rows are tried with them; most have no need of it.
        var obeysForeignKeys = !isRelated || slice.listing == nil && slice.rows.count <= Self.relatedRowsTried
        let mayOmitTriggers = slice.canDoWithoutTriggers && !isRelated
        var first = 0
        var refusals: [RowKey: String] = [:]
        while true {
            // The app writes in between, on the same connection and with triggers, so that each part switches them.
            do {
                let outcome = try writeMerged(obeyingForeignKeys: obeysForeignKeys, keeping: \.mayStay) { [refusals] db, state in
                    state.ledger.refusals = refusals
                    defer { state.ledger.refusals.removeAll() }
                    return try mergePart(
                        of: slice, from: first, mayOmitTriggers: mayOmitTriggers && slice.isWorthNoTriggers(from: first),
                        isRelated: isRelated, db, state)
                }
                switch outcome {
                case .merged(let summary, let end) where end == slice.rows.count: return .applied(summary)
                case .merged(_, let end): first = end
                case .refused(let summary): return .refused(summary)
                case .needsWholeRows: return .incomplete(try summary())
                case .foreignKeysInTheWay: obeysForeignKeys = false
                }
            } catch let refused as TransactionRefused where refused.row.map({ refusals[$0] == nil }) ?? false {
                if let row = refused.row { refusals[row] = refused.message }
            }
        }
    }

    private static let relatedRowsTried = 16

    /// What became of a part of a slice.
    private enum PartOutcome {
        case merged(StoreSummary, end: Int)
        case refused(StoreSummary)
        case needsWholeRows
        /// SQLite's own rule for foreign keys stands against the merge, which follows another one, or would act in it.
        case foreignKeysInTheWay

        /// Whether what was written is a whole.
        var mayStay: Bool {
            switch self {
            case .merged, .refused: true
            case .needsWholeRows, .foreignKeysInTheWay: false
            }
        }
    }

    /// - Parameter isRelated: whether other rows may have to be shown or hidden for what the slice brings.
    private func mergePart(
        of slice: Slice, from first: Int, mayOmitTriggers: Bool, isRelated: Bool, _ db: Database, _ state: WriterState
    ) throws -> PartOutcome {
        let records = VectorRecords(connection: state.ledger.connection)
        let before = try records.vector(state.ledger.catalog)
        signal.willMove(from: before)
        let applier = SliceApplier(
            ledger: state.ledger, records: records, clock: state.clock, earlyLimits: options.earlyChanges,
            monotonicMilliseconds: options.monotonicMilliseconds)
        let omitsTriggers = try mayOmitTriggers && WatchedTables(state.ledger).areFree(slice)
        let connection = state.ledger.connection
        let outcome: SliceApplier.Outcome
        do {
            outcome =
                try omitsTriggers
                ? connection.withoutTriggers { try applier.apply(slice, from: first) } : applier.apply(slice, from: first)
            if isRelated, case .applied = outcome { try state.settleReferences(db) }
        } catch let error as SQLiteError where error.isForeignKey && connection.obeysForeignKeys {
            return .foreignKeysInTheWay
        }
        let part: SliceApplier.Part
        switch outcome {
        case .applied(let applied): part = applied
        case .refused: return .refused(try records.summary(state.ledger.catalog))
        case .needsWholeRows: return .needsWholeRows
        }
        if connection.obeysForeignKeys, connection.hasBrokenReferences { return .foreignKeysInTheWay }
        let summary = try records.summary(state.ledger.catalog)
        try state.notifyChanges(in: part.tables, db)
        if summary.vector != before { state.note(summary) }
        return .merged(summary, end: part.end)
    }

    // MARK: Access

    /// Reads in one transaction, with the catalog as of that transaction.
    ///
    /// If VACUUM has moved rows, or clocks of rows are still in runs, a write transaction first mends that. While somebody inserts
    /// without a pause, that could go on for ever, so in the end the read is part of the writing.
    ///
    /// - Parameter rows: whether clocks of rows are read.
    func read<Result>(rows: Bool = true, _ body: (RowLedger) throws -> Result) throws -> Result {
        try checkIsOpen()
        return try StoreError.mapping {
            for _ in 0..<Self.readsBeforeWrite {
                let result = try database.unsafeReentrantRead { db -> Result? in
                    try db.requireNoAccess()
                    let connection = try DatabaseConnection(borrowing: db)
                    // A reader of a pool has a connection of its own, which nobody keeps busy.
                    let holdsWriter = db.sqliteConnection == writer.handle
                    func read() throws -> Result? {
                        try connection.reading {
                            try writer.schema?.check(connection)
                            let check = try EntryCheck(connection)
                            if rows, !check.areRowsInPlace || !check.areRunsExpanded { return nil }
                            return try body(RowLedger(connection, try catalog(connection, version: check.catalogVersion)))
                        }
                    }
                    return try holdsWriter ? writer.state.ledger.connection.waitingForOthers(read) : read()
                }
                if let result { return result }
                try write { _, _ in }
            }
            return try write { _, state in try body(state.ledger) }
        }
    }

    /// Reads as a part of `db`, an access to the store's database, what does not depend on clocks that are still in runs.
    func read<Result>(_ db: Database, _ body: (RowLedger) throws -> Result) throws -> Result {
        try checkIsOpen()
        return try StoreError.mapping {
            if let state = try? writerState(db) {
                try state.entry.enter()
                return try body(state.ledger)
            }
            let connection = try DatabaseConnection(borrowing: db)
            let check = try EntryCheck(connection)
            return try body(RowLedger(connection, try catalog(connection, version: check.catalogVersion)))
        }
    }

    private static let readsBeforeWrite = 2

    private func checkIsOpen() throws {
        if isClosed.load(ordering: .acquiring) { throw StoreError(.failed, "The store is closed. Open it again.") }
    }

    /// Writes in one transaction, in which the clocks of all rows are where they belong.
    ///
    /// - Parameter obeyingForeignKeys: whether SQLite's own actions on foreign keys take place. A merge does without them,
    ///   and settles references itself at the end.
    /// - Parameter keeping: whether what `body` wrote stays, by what it returns.
    func write<Result>(
        obeyingForeignKeys: Bool = true, keeping: (Result) -> Bool = { _ in true }, _ body: (Database, WriterState) throws -> Result
    ) throws -> Result {
        try checkIsOpen()
        return try StoreError.mapping {
            var expandedRowsMax = ClockRuns.expandedRowsMax
            while true {
                let result = try database.unsafeReentrantWrite { [writer] db -> Result? in
                    try db.requireNoAccess()
                    var result: Result?
                    func run() throws {
                        try db.inTransaction(.immediate) {
                            try writer.state.entry.enter()
                            let runs = ClockRuns(writer.state.ledger.connection)
                            if writer.state.entry.mayHaveRuns, try !runs.expand(rowsMax: expandedRowsMax) { return .commit }
                            let outcome = try body(db, writer.state)
                            result = outcome
                            return keeping(outcome) ? .commit : .rollback
                        }
                    }
                    do {
                        try writer.state.ledger.connection.waitingForOthers {
                            try writer.state.ledger.connection.keepingLastInsertedRowID {
                                if obeyingForeignKeys {
                                    try run()
                                } else {
                                    try writer.state.ledger.connection.withoutForeignKeys(run)
                                }
                            }
                        }
                    } catch let error as TransactionRefused {
                        // SQLite has rolled back before GRDB could see it.
                        writer.state.rollback()
                        throw error
                    }
                    return result
                }
                if let result { return result }
                // Sooner or later that is more than anybody inserts meanwhile.
                expandedRowsMax = min(2 * expandedRowsMax, .max / 2)
            }
        }
    }

    /// Writes what peers brought in one transaction: it was noted where it was made, may be longer with its clocks than a row may
    /// be, and references are settled by whoever merges.
    ///
    /// - Parameter obeyingForeignKeys: `true` only if SQLite's own actions are not in the way; without it, if tracked tables have none.
    func writeMerged<Result>(
        obeyingForeignKeys: Bool? = nil, keeping: (Result) -> Bool = { _ in true }, _ body: (Database, WriterState) throws -> Result
    ) throws -> Result {
        try write(obeyingForeignKeys: obeyingForeignKeys ?? !writer.declarations.hasForeignKeys, keeping: keeping) { db, state in
            try state.ledger.connection.writing(as: .merge) { try body(db, state) }
        }
    }

    /// Reads as a part of what is open on `db`, or in a transaction of its own without that.
    ///
    /// For what is asked of one row, or of what is kept apart from rows: rows that were inserted in bulk may have their clocks in runs,
    /// which only an access that writes can expand.
    func read<Result>(in db: Database?, rows: Bool = true, _ body: (RowLedger) throws -> Result) throws -> Result {
        guard let db else { return try read(rows: rows, body) }
        try checkIsOpen()
        return try StoreError.mapping {
            if db.sqliteConnection == writer.handle, db.isInsideTransaction, try !db.isReading() {
                try writer.state.entry.enter()
                return try body(writer.state.ledger)
            }
            let connection = try DatabaseConnection(borrowing: db)
            try writer.schema?.check(connection)
            let check = try EntryCheck(connection)
            if rows, !check.areRowsInPlace {
                throw StoreError(
                    .busy, "VACUUM has moved rows since the store was written last. Call this once outside of an access to the database.")
            }
            return try body(RowLedger(connection, try catalog(connection, version: check.catalogVersion)))
        }
    }

    /// The state of the writing connection, for a caller that holds it.
    func writerState(_ db: Database) throws -> WriterState {
        guard let handle = db.sqliteConnection, handle == writer.state.ledger.connection.handle else {
            throw StoreError(.failed, "This database access does not belong to the store, or only reads.")
        }
        return writer.state
    }

    /// The catalog that this transaction sees, with the tables this process has declared.
    private func catalog(_ connection: DatabaseConnection, version: Int) throws -> Catalog {
        if let cached = catalogCache.withLock({ $0 }), cached.version == version { return cached.catalog }
        var catalog = try CatalogStore(connection: connection).load()
        writer.declarations.annotate(&catalog)
        catalogCache.withLock { $0 = (version, catalog) }
        return catalog
    }
}
