import KithCausality
import KithSQLite
import KithSync

/// Where a row's clocks are kept: a positive rowid of the table's clocks, or minus a row of `kith_hidden`.
package typealias RowReference = Int64

/// Why a row is not shown.
package enum HiddenReason: Int {
    case deleted = 0
    /// No schema here knows its table.
    case unknownTable = 1
    /// It breaks a constraint of the app's table.
    case refused = 2
    /// Nothing is left of it but what is known of it.
    case contextOnly = 3
    /// Its id does not follow from its key.
    case wrongKey = 4
    /// It refers to a row that is not shown.
    case reference = 5

    /// Whether `kith_refused` says why.
    package var isRefusal: Bool { self == .refused || self == .wrongKey }
}

/// A row that the app's table does not show.
package struct HiddenRow {
    package var number: Int64
    package var state: RowState
    package var context: Int64?
    package var reason: HiddenReason

    package init(number: Int64, state: RowState, context: Int64? = nil, reason: HiddenReason) {
        self.number = number
        self.state = state
        self.context = context
        self.reason = reason
    }
}

/// Reads and writes the clocks of rows, and the index from commits to the rows they live in.
package final class RowLedger {
    package let connection: DatabaseConnection
    /// Not looked at for overlaps, as in ``Capture``.
    @exclusivity(unchecked) package var catalog: Catalog
    /// By number of the table.
    private var clockStatements: [ClockStatements?] = []
    private var knownDotStatements: DotIndex.Statements?
    /// Tables of which rows may be hidden, as far as asked in this transaction.
    private var hidesRows: [Int: Bool] = [:]
    /// Tables with columns that the app, here or elsewhere, has let go of, as far as asked in this transaction.
    private var isIncomplete: [Int: Bool] = [:]
    /// By number of the table: how many columns a new row has of which nothing else is to be noted, as far as asked.
    @exclusivity(unchecked) private var plainColumns: [Int32?] = []
    /// Rows whose clocks are not stored yet; `nil` where nothing is written.
    package var pending: PendingRows?
    /// What the open transaction has changed of rows with a journal; `nil` where nothing is written, or nothing has one.
    package var journal: JournalNotes?
    /// What live lists are told; `nil` where nothing is written.
    package var touched: TouchedRows?
    /// Rows that must not be tried in the merge under way, with what a rule of the app said of them when it ended the transaction.
    package var refusals: [RowKey: String] = [:]
    /// Whether changes of texts were kept that came ahead of their rows.
    package var keepsEarlyChanges = false
    /// Whether changes of texts may be here that are to be taken when their turn comes.
    package var hasTextTurns = false
    /// Changes of texts that the merge which is under way has taken.
    package var textChangesTaken = 0
    /// How much of a text one transaction takes.
    package var textBudget = TextBudget()
    /// The row after which the digest's patrol goes on, once it has begun here; its inner `nil` is the beginning.
    package var patrolled: SlicePosition??

    package init(_ connection: DatabaseConnection, _ catalog: Catalog) {
        self.connection = connection
        self.catalog = catalog
    }

    // MARK: Visible rows

    package func storedRow(_ table: Int, row: Int64) throws -> StoredRow? {
        if let stored = try readRow(table, row: row) { return stored }
        guard let pending else { return try rowInRun(table, row: row) }
        let hadPending = try pending.store()
        let wasInRun = try ClockRuns(connection).expand(around: row, of: table)
        return hadPending || wasInRun ? try readRow(table, row: row) : nil
    }

    /// The clocks of a row that is in a run, for an access that cannot expand it.
    private func rowInRun(_ table: Int, row: Int64) throws -> StoredRow? {
        let select = try ClockRuns(connection).selecting(around: row, of: table)
        defer { select.reset() }
        guard try select.step(), row < select.integer(6) else { return nil }
        return try storedRow(select, at: 0, table: table)
    }

    private func readRow(_ table: Int, row: Int64) throws -> StoredRow? {
        let select = try statements(table).read
        select.bind(1, row)
        guard try select.step() else { return nil }
        defer { select.reset() }
        var stored = try storedRow(select, at: 0, table: table)
        if catalog[table]?.tracked?.hasSubstitutes == true { stored.substituted = try substituted(table, row: row) }
        return stored
    }

    /// Reads replica, sequence, timestamp, columns, exceptions, context from `statement`, starting at column `first`.
    package func storedRow(_ statement: PreparedStatement, at first: Int32, table: Int) throws -> StoredRow {
        let replica = statement.int(first)
        let columns = statement.int(first + 3)
        guard replica >= 0, replica < catalog.replicas.ids.count, (0...WireLimits.columnsMax).contains(columns) else {
            throw Self.corruptRecord
        }
        let base = Stamp(
            dot: Dot(replica: catalog.replicas.ids[replica], sequence: UInt64(bitPattern: statement.integer(first + 1))),
            markedTimestamp: UInt64(bitPattern: statement.integer(first + 2)))
        let exceptions =
            statement.isNull(first + 4)
            ? RowState() : try decode(statement.blob(first + 4), shown: .inTable, table: table)
        return StoredRow(
            base: base, baseColumns: columns, exceptions: exceptions,
            context: statement.isNull(first + 5) ? nil : statement.integer(first + 5))
    }

    package func save(_ stored: StoredRow, _ table: Int, row: Int64, id: RowID) throws {
        let exceptions = stored.exceptions.isEmpty ? nil : try encode(stored.exceptions, shown: .inTable, table: table)
        let usesBase = stored.baseColumns > 0
        let replica = usesBase ? try number(of: stored.base.dot.replica) : 0
        let insert = try statements(table).save
        insert.bind(1, row)
        insert.bind(2, id)
        insert.bind(3, replica)
        insert.bind(4, usesBase ? Int64(bitPattern: stored.base.dot.sequence) : 0)
        insert.bind(5, usesBase ? Int64(bitPattern: stored.base.markedTimestamp) : 0)
        insert.bind(6, stored.baseColumns)
        if let exceptions { insert.bind(7, blob: exceptions) } else { insert.bindNull(7) }
        if let context = stored.context { insert.bind(8, context) } else { insert.bindNull(8) }
        try insert.run()
        if stored.exceptions.hasAlternatives { try ConflictRecords(ledger: self).note(table, id) }
    }

    package func removeClocks(_ table: Int, row: Int64) throws {
        let delete = try statements(table).remove
        delete.bind(1, row)
        try delete.run()
    }

    // MARK: Hidden rows

    /// To be called when a transaction begins: others may have hidden rows meanwhile.
    func beginTransaction() {
        hidesRows.removeAll(keepingCapacity: true)
        isIncomplete.removeAll(keepingCapacity: true)
        plainColumns.removeAll(keepingCapacity: true)
    }

    /// How many columns every new row of the table has in its clocks, if it needs no look at the table's key, references, hidden
    /// rows or columns of other schemas. Costs nothing for all but the first row of a transaction.
    package func columnsOfNewRows(_ table: Int) throws -> Int32? {
        if table < plainColumns.count, let known = plainColumns[table] { return known }
        guard let found = catalog[table], let tracked = found.tracked, tracked.naturalKey == nil, !tracked.hasSubstitutes,
            found.columns.count == tracked.columns.count, try !mayHideRows(table)
        else { return nil }
        while plainColumns.count <= table { plainColumns.append(nil) }
        plainColumns[table] = Int32(found.columns.count)
        return plainColumns[table]
    }

    /// Everything that whoever deletes a row has seen of it: also edits of columns that the app has let go of, which live elsewhere.
    package func seen(_ state: RowState, of table: Int) throws -> VersionVector {
        if isIncomplete[table] == nil { isIncomplete[table] = try !IncompleteColumns(connection: connection).of(table).isEmpty }
        if isIncomplete[table] == false { return state.clock }
        return state.clock.joined(with: try VectorRecords(connection: connection).vector(catalog))
    }

    /// Whether a row of the table may be hidden. Spares a table without deletions a search for every insertion.
    private func mayHideRows(_ table: Int) throws -> Bool {
        if let known = hidesRows[table] { return known }
        let found = try HiddenRows(connection).hasAny(of: table)
        hidesRows[table] = found
        return found
    }

    package func hiddenRow(_ table: Int, _ id: RowID) throws -> HiddenRow? {
        guard try mayHideRows(table) else { return nil }
        let select = try HiddenRows(connection).selecting(table, id)
        guard try select.step() else { return nil }
        defer { select.reset() }
        return try hiddenRow(select, at: 0, table: table)
    }

    /// Reads number, state, context, reason from `statement`, starting at column `first`.
    package func hiddenRow(_ statement: PreparedStatement, at first: Int32, table: Int) throws -> HiddenRow {
        HiddenRow(
            number: statement.integer(first), state: try decode(statement.blob(first + 1), shown: .inRecord, table: table),
            context: statement.isNull(first + 2) ? nil : statement.integer(first + 2),
            reason: HiddenReason(rawValue: statement.int(first + 3)) ?? .deleted)
    }

    /// Stores `row`, whose number is 0 if it is new, and returns its number.
    package func save(_ row: HiddenRow, _ table: Int, id: RowID, sinceMilliseconds: Int64) throws -> Int64 {
        hidesRows[table] = true
        if table < plainColumns.count { plainColumns[table] = nil }
        let state = try encode(row.state, shown: .inRecord, table: table)
        guard
            let number = try HiddenRows(connection).save(
                table, id, state: state, context: row.context, row.reason, since: sinceMilliseconds)
        else { throw Self.corruptRecord }
        return number
    }

    package func removeHidden(_ number: Int64) throws {
        try HiddenRows(connection).remove(number)
    }

    // MARK: The index of commits

    /// Moves a row's entries from one place and set of commits to another. Both sets are sorted.
    package func reindex(_ table: Int, from old: [Dot], at oldRow: RowReference, to new: [Dot], at newRow: RowReference) throws {
        if old == new, oldRow == newRow { return }
        for dot in old where oldRow != newRow || !new.contains(dot) {
            try run(try dotStatements().remove, dot, replica: try number(of: dot.replica), table, oldRow)
        }
        for dot in new where oldRow != newRow || !old.contains(dot) {
            try index(dot, replica: try number(of: dot.replica), table, newRow)
        }
    }

    /// Notes that `dot`, whose replica has the number `replica`, lives in a row.
    package func index(_ dot: Dot, replica: Int, _ table: Int, _ row: RowReference) throws {
        try run(try dotStatements().insert, dot, replica: replica, table, row)
    }

    private func run(_ statement: PreparedStatement, _ dot: Dot, replica: Int, _ table: Int, _ row: RowReference) throws {
        statement.bind(1, replica)
        statement.bind(2, Int64(bitPattern: dot.sequence))
        statement.bind(3, table)
        statement.bind(4, row)
        try statement.run()
    }

    // MARK: Statements at hand

    private func statements(_ table: Int) throws -> ClockStatements {
        if table < clockStatements.count, let known = clockStatements[table] { return known }
        let new = try ClockStatements(connection, table)
        while clockStatements.count <= table { clockStatements.append(nil) }
        clockStatements[table] = new
        return new
    }

    private func dotStatements() throws -> DotIndex.Statements {
        if let known = knownDotStatements { return known }
        let new = try DotIndex.Statements(connection)
        knownDotStatements = new
        return new
    }

    // MARK: Contexts

    /// The vector that `context` refers to; nothing once it was dropped.
    package func contextVector(_ context: Int64?) throws -> VersionVector {
        guard let context else { return VersionVector() }
        guard let bytes = try ContextRecords(connection).vector(context) else { return VersionVector() }
        var reader = ByteReader(bytes)
        return try reader.vector(catalog.replicas)
    }

    /// A reference to `vector`; `nil` for the empty one.
    package func context(for vector: VersionVector) throws -> Int64? {
        if vector.isEmpty { return nil }
        let known = catalog.replicas.ids.count
        var writer = ByteWriter()
        writer.vector(vector, &catalog.replicas)
        try storeNewReplicas(from: known)
        return try ContextRecords(connection).number(of: writer.bytes)
    }

    // MARK: Codec

    package func number(of replica: ReplicaID) throws -> Int {
        let known = catalog.replicas.ids.count
        let number = catalog.replicas.number(of: replica)
        if number == known { try storeNewReplicas(from: known) }
        return number
    }

    /// Stores the replicas that `body` numbers.
    package func numberingReplicas(_ body: (inout ReplicaTable) -> Void) throws {
        let known = catalog.replicas.ids.count
        body(&catalog.replicas)
        try storeNewReplicas(from: known)
    }

    private func encode(_ state: RowState, shown: RowStateCodec.ShownValues, table: Int) throws -> [UInt8] {
        let known = catalog.replicas.ids.count
        var writer = ByteWriter(reservingCapacity: 64)
        let columns = catalog[table]?.tracked?.columns ?? []
        RowStateCodec.encode(state, shown: shown, isInTable: columns.contains, to: &writer, &catalog.replicas)
        try storeNewReplicas(from: known)
        return writer.bytes
    }

    private func decode(_ bytes: [UInt8], shown: RowStateCodec.ShownValues, table: Int) throws -> RowState {
        guard let columns = catalog[table] else { throw Self.corruptRecord }
        var reader = ByteReader(bytes)
        do {
            return try RowStateCodec.decode(&reader, shown: shown, catalog.replicas, kind: columns.kind(of:))
        } catch {
            throw Self.corruptRecord
        }
    }

    private func storeNewReplicas(from known: Int) throws {
        if catalog.replicas.ids.count > known { try CatalogStore(connection: connection).addReplicas(from: known, of: catalog) }
    }

    package static let corruptRecord = StoreError(
        .corrupt, "A record of this store cannot be read. Verify the store; peers can refill it.")
}

extension RowLedger {
    /// A table that the app has declared.
    package func tracked(_ name: String) -> (number: Int, tracked: CatalogTable.Tracked)? {
        guard let table = catalog.table(named: Array(name.utf8)), let tracked = table.tracked else { return nil }
        return (table.number, tracked)
    }
}
