import KithCausality
import KithSQLite
import KithSync

/// What must be true before anything is read or written in a transaction of the writing connection: the catalog is the
/// one that the transaction sees, and clocks stand at their rows.
package final class TransactionEntry {
    private let ledger: RowLedger
    private let declarations: Declarations
    private var catalogVersion = -1
    /// Entries of the catalog when it was loaded. More were added since, or were taken back again.
    private var loadedCount = 0
    /// Whether clocks of rows may be in runs.
    package private(set) var mayHaveRuns = true
    private let clock: CommitClock
    /// `nil` while the store is being opened.
    package var schema: SchemaGuard?
    private var schemaState = SchemaGuard.State.unknown
    /// Called when a commit turns out to have failed, in the next transaction.
    package var commitFailed: () -> Void = {}

    package init(_ ledger: RowLedger, _ declarations: Declarations, _ clock: CommitClock) {
        self.ledger = ledger
        self.declarations = declarations
        self.clock = clock
    }

    /// To be called first; costs little when it was called in the transaction before.
    ///
    /// - Parameter deleted: a row that the statement under way has just deleted from its table.
    /// - Returns: whether VACUUM had moved the rows, so that clocks have only now been brought to where rows are.
    @discardableResult
    package func enter(deleted: DeletedRow? = nil) throws -> Bool {
        if clock.machine.current != nil { return false }
        let version = ledger.connection.dataVersion
        var step = try clock.enter(version)
        if step == .forget {
            commitFailed()
            step = try clock.enter(version)
        }
        if step != .look { return false }
        try checkSchema()
        let check = try EntryCheck(ledger.connection)
        if check.catalogVersion != catalogVersion || ledger.catalog.entryCount != loadedCount {
            ledger.catalog = try CatalogStore(connection: ledger.connection).load()
            declarations.annotate(&ledger.catalog)
            (catalogVersion, loadedCount) = (check.catalogVersion, ledger.catalog.entryCount)
        }
        mayHaveRuns = !check.areRunsExpanded
        let hasMoved = !check.areRowsInPlace
        if hasMoved {
            _ = try ClockRuns(ledger.connection).expand()
            try RowNumbering(connection: ledger.connection).repair(ledger.catalog, deleted: deleted)
        }
        ledger.beginTransaction()
        clock.tell(.looked(version: version))
        return hasMoved
    }

    // MARK: The schema

    /// Refuses to go on if tracked tables are not what they were when the store was opened.
    package func checkSchema() throws {
        guard let state = try schema?.checkWriter(ledger.connection) else { return }
        schemaState = state
        ledger.connection.rulesMayRaise = state.mayRaise
    }

    /// Whether triggers of the app, or actions of foreign keys, may write anything while a row of the table is inserted.
    package func mayNest(_ table: Int) -> Bool {
        table >= schemaState.mayNest.count || schemaState.mayNest[table]
    }

    /// Whether triggers of the app may write a row of the table before Kith has noted a write of it that is under way.
    package func mayPrecede(_ table: Int) -> Bool {
        table >= schemaState.mayPrecede.count || schemaState.mayPrecede[table]
    }

    /// Whether triggers of the app may write a row of the table before Kith hears of a write of it.
    package func mayForestall(_ table: Int) -> Bool {
        table >= schemaState.mayForestall.count || schemaState.mayForestall[table]
    }

    /// Whether nothing but the row itself follows from what a column of the table holds that is in no index.
    package func mayWriteInPlace(_ table: Int) -> Bool {
        !mayNest(table) && table < schemaState.mayWriteInPlace.count && schemaState.mayWriteInPlace[table]
    }

    /// Whether a rule of the app may roll a transaction back, or leave a part of a statement.
    package var mayEndTransactions: Bool { schemaState.mayEndTransactions }

    /// `tables`, and all that triggers of the app may write when their rows change.
    package func reached(from tables: [String]) -> [String] {
        schemaState.targets.isEmpty ? tables : schemaState.reached(from: tables)
    }

    /// How many writes can be under way at once, each but the first made by a trigger.
    package func writesNestedMax() throws -> Int {
        if try areTriggersRecursive() { return Self.triggerDepthMax }
        // Otherwise each trigger is under way once at most. Some may be of the connection alone.
        return schemaState.triggerCount + Self.temporaryTriggersMax
    }

    /// Whether a trigger may fire itself, and a REPLACE fires the delete triggers of the rows that it removes.
    package func areTriggersRecursive() throws -> Bool {
        let pragma = try ledger.connection.statement("PRAGMA recursive_triggers")
        defer { pragma.reset() }
        return try pragma.step() && pragma.int(0) != 0
    }

    /// SQLITE_MAX_TRIGGER_DEPTH, and the statement itself.
    private static let triggerDepthMax = 1_001
    private static let temporaryTriggersMax = 64

    // MARK: Ends

    /// The transaction was rolled back, and with it perhaps additions to the catalog.
    package func rollback() {
        catalogVersion = -1
        ledger.beginTransaction()
    }
}
