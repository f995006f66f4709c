import KithCausality
import KithSync

/// What must be true before anything is read or written in a transaction of the writing connection: the catalog is the
/// one that the transaction sees, and clocks stand at their rows.
final class TransactionEntry {
    private let ledger: RowLedger
    private let declarations: Declarations
    private var catalogVersion = -1
    private var dataVersion: UInt32?
    /// Whether clocks of rows may be in runs.
    private(set) var mayHaveRuns = true

    init(_ ledger: RowLedger, _ declarations: Declarations) {
        self.ledger = ledger
        self.declarations = declarations
    }

    /// To be called first; costs little when it was called in the transaction before.
    ///
    /// - Parameter deleted: a row that the statement under way has just deleted from its table.
    /// - Returns: whether VACUUM had moved the rows, so that clocks have only now been brought to where rows are.
    @discardableResult
    func enter(deleted: DeletedRow? = nil) throws -> Bool {
        let seen = ledger.connection.dataVersion
        if seen == dataVersion { return false }
        let check = try EntryCheck(ledger.connection)
        if check.catalogVersion != catalogVersion {
            ledger.catalog = try CatalogStore(connection: ledger.connection).load()
            declarations.annotate(&ledger.catalog)
            catalogVersion = check.catalogVersion
        }
        mayHaveRuns = !check.areRunsExpanded
        let hasMoved = !check.areRowsInPlace
        if hasMoved {
            _ = try ClockRuns(ledger.connection).expand()
            try RowNumbering(connection: ledger.connection).repair(ledger.catalog, deleted: deleted)
        }
        ledger.beginTransaction()
        dataVersion = seen
        return hasMoved
    }

    /// The transaction was rolled back, and with it perhaps additions to the catalog.
    func rollback() {
        dataVersion = nil
        catalogVersion = -1
        ledger.beginTransaction()
    }
}
