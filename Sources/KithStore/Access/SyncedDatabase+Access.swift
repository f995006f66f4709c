import GRDB
import KithLedger
import KithSQLite
import Synchronization

/// How everything here reads and writes the app's database.
extension SyncedDatabase {
    /// Reads in one transaction, with the catalog as of that transaction.
    ///
    /// If VACUUM has moved rows, or clocks of rows are still in runs, a write transaction first mends that. While somebody inserts
    /// without a pause, that could go on for ever, so in the end the read is part of the writing.
    ///
    /// - Parameter rows: whether clocks of rows are read.
    func read<Result>(rows: Bool = true, _ body: (RowLedger) throws -> Result) throws(StoreError) -> Result {
        try checkIsOpen()
        return try StoreError.typed {
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
    func read<Result>(_ db: Database, _ body: (RowLedger) throws -> Result) throws(StoreError) -> Result {
        try checkIsOpen()
        return try StoreError.typed {
            try db.registerAccess(to: TrackedRegion(writer.declarations))
            if db.sqliteConnection == writer.handle {
                try writer.state.entry.enter()
                return try body(writer.state.ledger)
            }
            try requireOwn(db)
            let connection = try DatabaseConnection(borrowing: db)
            let check = try EntryCheck(connection)
            return try body(RowLedger(connection, try catalog(connection, version: check.catalogVersion)))
        }
    }

    private static let readsBeforeWrite = 2

    func checkIsOpen() throws(StoreError) {
        if isClosed.load(ordering: .acquiring) { throw StoreError(.failed, "The store is closed. Open it again.") }
    }

    /// Writes in one transaction, in which the clocks of all rows are where they belong.
    ///
    /// - Parameter obeyingForeignKeys: whether SQLite's own actions on foreign keys take place. A merge does without them,
    ///   and settles references itself at the end.
    /// - Parameter keeping: whether what `body` wrote stays, by what it returns.
    func write<Result>(
        obeyingForeignKeys: Bool = true, keeping: (Result) -> Bool = { _ in true }, _ body: (Database, WriterState) throws -> Result
    ) throws(StoreError) -> Result {
        try StoreError.typed { try writeOrBeRefused(obeyingForeignKeys: obeyingForeignKeys, keeping: keeping, body) }
    }

    /// The same, with ``TransactionRefused`` for a row of a peer that a trigger of the app refuses.
    private func writeOrBeRefused<Result>(
        obeyingForeignKeys: Bool, keeping: (Result) -> Bool, _ body: (Database, WriterState) throws -> Result
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
                            try writer.state.storeJournal()
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
        try writeOrBeRefused(obeyingForeignKeys: obeyingForeignKeys ?? !writer.declarations.hasForeignKeys, keeping: keeping) { db, state in
            state.ledger.journal?.isMerge = true
            state.ledger.textChangesTaken = 0
            return try state.ledger.connection.writing(as: .merge) { try body(db, state) }
        }
    }

    /// Reads as a part of what is open on `db`, or in a transaction of its own without that.
    ///
    /// For what is asked of one row, or of what is kept apart from rows: rows that were inserted in bulk may have their clocks in runs,
    /// which only an access that writes can expand.
    func read<Result>(in db: Database?, rows: Bool = true, _ body: (RowLedger) throws -> Result) throws(StoreError) -> Result {
        guard let db else { return try read(rows: rows, body) }
        try checkIsOpen()
        return try StoreError.typed {
            try db.registerAccess(to: TrackedRegion(writer.declarations))
            if db.sqliteConnection == writer.handle, db.isInsideTransaction, try !db.isReading() {
                try writer.state.entry.enter()
                return try body(writer.state.ledger)
            }
            try requireOwn(db)
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

    /// The state of the writing connection, for a caller that holds it and writes.
    func writerState(_ db: Database) throws(StoreError) -> WriterState {
        try checkIsOpen()
        try requireOwn(db)
        guard try StoreError.typed({ try db.sqliteConnection == writer.handle && !db.isReading() }) else {
            throw StoreError(.failed, "This access to the database only reads. Call this within one that writes.")
        }
        return writer.state
    }

    /// Refuses an access to another database than the store's.
    private func requireOwn(_ db: Database) throws(StoreError) {
        guard let handle = db.sqliteConnection else { throw StoreError(.failed, "The database is closed.") }
        if handle == writer.handle { return }
        if !writer.file.isEmpty, WriterBox.file(of: handle) == writer.file { return }
        throw StoreError(.failed, "This is an access to another database than the store's.")
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

/// What an observation depends on if it asks the store within its access. GRDB does not see how Kith writes its own tables; but where one of
/// them changes, a tracked table does, or Kith says that it did.
private struct TrackedRegion: DatabaseRegionConvertible {
    private let tables: [String]

    init(_ declarations: Declarations) {
        tables = declarations.tables.map(\.name)
    }

    func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        try tables.reduce(DatabaseRegion()) { region, table in try region.union(Table(table).databaseRegion(db)) }
    }
}
