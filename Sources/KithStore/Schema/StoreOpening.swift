import GRDB
import GRDBSQLite
import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

/// Prepares a database for synchronisation: sidecar tables, functions, triggers.
struct StoreOpening {
    private let db: Database
    private let connection: DatabaseConnection
    private let options: SyncedDatabase.Options
    private let signal: CommitSignal
    private let presence: StorePresence?

    /// On the connection that writes; `db` is held for the time of the call.
    init(_ db: Database, _ options: SyncedDatabase.Options, _ signal: CommitSignal, _ presence: StorePresence?) throws {
        guard let handle = db.sqliteConnection else {
            throw StoreError(.notAStore, "The database is closed.")
        }
        self.db = db
        connection = DatabaseConnection(handle, of: db)
        connection.waitsByCallback = db.configuration.waitsByCallback
        self.options = options
        self.signal = signal
        self.presence = presence
    }

    func open(_ tables: [TrackedTable]) throws -> WriterState {
        try connection.keepingLastInsertedRowID {
            try connection.waitingForOthers { try prepareWhole(tables) }
        }
    }

    private func prepareWhole(_ tables: [TrackedTable]) throws -> WriterState {
        try expandRuns()
        // What an earlier version has merged may dangle, and is settled as a merge is.
        let obeys = try connection.obeyForeignKeys(false)
        defer { if obeys { try? connection.execute("PRAGMA foreign_keys = ON") } }
        var hasFunctions = false
        // What was refused is not open.
        defer { if hasFunctions { Functions.remove(from: connection.handle) } }
        let state = try connection.withLargeCache { try transaction { try prepare(tables) { hasFunctions = true } } }
        // What was adopted, in all tables, is one commit.
        state.clock.tell(.committed)
        do {
            try presence?.enter(try state.claim())
        } catch {
            connection.finalizeStatements()
            throw error
        }
        hasFunctions = false
        return state
    }

    /// In transactions of their own, for which nobody waits long.
    private func expandRuns() throws {
        while try hasTable(ClockRuns.table), try !ClockRuns(connection).areExpanded() {
            try transaction {
                try checkFormat()
                _ = try ClockRuns(connection).expand(rowsMax: ClockRuns.expandedRowsMax)
            }
        }
    }

    private func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try connection.execute("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try connection.execute("COMMIT")
            return result
        } catch {
            connection.finalizeStatements()
            try? connection.execute("ROLLBACK")
            throw error
        }
    }

    /// - Parameter installed: called once the functions of a store are on the connection.
    private func prepare(_ tables: [TrackedTable], _ installed: () -> Void) throws -> WriterState {
        try checkFormat()
        try connection.execute(
            Sidecar.sql + TextTables.sql + (tables.contains { $0.journal != nil } ? JournalRecords.sql + JournalCursors.sql : ""))
        let store = CatalogStore(connection: connection)
        let records = VectorRecords(connection: connection)
        if try records.meta("format") == nil {
            try records.setMeta("format", .integer(StoreFormat.current))
            try store.noteChange()
        }
        _ = try ClockRuns(connection).expand()
        let ledger = RowLedger(connection, try store.load())
        if presence?.isFirst != false { try EarlyChanges(ledger).dropAll() }
        ledger.textBudget = options.textBudget
        ledger.hasTextTurns = try !TurnRows(ledger).keys().isEmpty
        let doubt = try settleIdentity(ledger, records)

        var declarations = Declarations()
        var columnsBefore: [Int: Int] = [:]
        for (table, found, references) in try Registration(connection: connection).inspect(tables) {
            let (key, columns) = (found.key, found.tracked)
            let number = try store.addTable(Array(table.name.utf8), isOfPeer: false, to: &ledger.catalog)
            columnsBefore[number] = ledger.catalog.tables[number].columns.count
            let keys = columns.map { (name: $0.name, key: ColumnKey(table.renamed[$0.name] ?? $0.name, $0.kind)) }
            for column in keys { _ = try store.addColumn(column.key, table: number, isOfPeer: false, to: &ledger.catalog) }
            try connection.execute(ClockTable.sql(number))
            try KeyFormRecords(connection).note(found.form, of: table.name)
            declarations.tables.append(
                Declarations.Table(
                    name: table.name, key: key, form: found.form, deletePolicy: table.deletePolicy, columns: keys,
                    naturalKey: table.key ?? [], references: references, attachments: table.attachments))
            declarations.tables[declarations.tables.count - 1].journalDays = table.journal?.days
            declarations.tables[declarations.tables.count - 1].position = table.position
            declarations.tables[declarations.tables.count - 1].localColumns = found.local
        }
        declarations.annotate(&ledger.catalog)

        let clock = CommitClock(connection, signal, reading: options.clock)
        let entry = TransactionEntry(ledger, declarations, clock)
        let capture = Capture(ledger, clock, entry, file: try TriggeredTable.file(records)) { row, table, id, now in
            try Trash(ledger: ledger).collect(row, table: table, id: id, nowMilliseconds: now)
        }
        try Functions.install(capture, on: connection.handle)
        installed()
        let steps = try StepChanges(ledger, capture)
        try steps?.noteDeletions()
        try entry.enter()
        let arrival = SchemaArrival(ledger: ledger, clock: clock)
        // Tables whose rows the app has written while nobody noted it.
        var found: [Int] = []
        for table in ledger.catalog.tables {
            guard let tracked = table.tracked else {
                if presence?.isFirst == false, try arrival.isDeclared(table) { try refuseToLeaveOut(table) }
                try arrival.leave(table)
                continue
            }
            let new = try arrival.new(in: table, tracked, dropped: steps?.dropped(from: table.number) ?? [])
            let known = columnsBefore[table.number] ?? 0
            let appeared = tracked.columns.filter { new.contains($0) && $0 < known }
            let (shown, adopts) = try track(table, tracked, appeared, ledger, clock, capture)
            let adoptsLost = try ClockRuns(connection).takeLostRows(of: table.number) && adoptRows(table, tracked, ledger, clock, capture)
            if adopts || adoptsLost || steps?.hasCopy(of: table.number) == true { found.append(table.number) }
            try connection.writing(as: .merge) {
                if steps?.hasCopy(of: table.number) == true || !new.isEmpty { try checkValues(table, tracked) }
                if try arrival.take(table, tracked, new, appeared, besides: shown, steps) { found.append(table.number) }
            }
        }
        try steps?.finish()
        signal.begin(at: try records.vector(ledger.catalog))
        let state = WriterState(
            ledger: ledger, capture: capture, clock: clock, declarations: declarations, entry: entry, doubt: doubt)
        state.versionByOthers = try connection.versionByOthers()
        _ = try state.settledReferences()
        entry.schema = try SchemaGuard(ledger.catalog, connection)
        try entry.checkSchema()
        try capture.tidyValues(ofAll: found)
        // What opening a store has brought is in no journal: nobody wrote it.
        ledger.journal = declarations.journal(ledger.catalog)
        capture.processName = options.processName
        return state
    }

    /// A process that knows fewer tables than others that have the store open would build the triggers of related ones anew, which
    /// ends the others' stores, and keep what comes for the table from all of them.
    private func refuseToLeaveOut(_ table: CatalogTable) throws {
        let name = String(decoding: table.name, as: UTF8.self)
        guard try hasTable(name) else { return }
        throw StoreError(
            .tableRejected,
            "Table \(name) is not declared, and is tracked by whoever has this store open too. Declare the same tables each time, or close the other one first."
        )
    }

    /// Refuses files of another format before anything is touched.
    private func checkFormat() throws {
        if try hasTable(MetaRecords.table) { try StoreFormat.check(connection) }
    }

    private func hasTable(_ name: String) throws -> Bool {
        let exists = try connection.statement("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")
        exists.bind(1, .text(name))
        defer { exists.reset() }
        return try exists.step()
    }

    /// Makes a new database, or one that may not be what it says it is, a new replica.
    private func settleIdentity(_ ledger: RowLedger, _ records: VectorRecords) throws -> IdentityDoubt? {
        var doubt: IdentityDoubt?
        if try records.meta("self") == nil {
            doubt = try newStoreDoubt()
            _ = try NewReplica(options: options).adopt(ledger)
        } else {
            doubt = presence?.doubt(try records.claim())
            if let doubt {
                let before = try records.replica(ledger.catalog)
                _ = try NewReplica(options: options).adopt(ledger, mayBeOfDevice: doubt.isOfThisDevice)
                try ListingRule(ledger).becomeDue(nowMilliseconds: options.clock().milliseconds)
                if doubt.isOfThisDevice { try Authors.noteOwn(before, connection) }
            }
        }
        if let presence, presence.isFirst {
            let before = try records.claim().opening
            var generator = SystemRandomNumberGenerator()
            try records.setMeta("opening", .text(ReplicaID.random(using: &generator).description))
            try presence.announce(try records.claim(), openingBefore: before)
        }
        return doubt
    }

    /// A new store takes the place of one that was lost only where that was chosen, and by the only process that has it open.
    private func newStoreDoubt() throws -> IdentityDoubt? {
        guard let presence, Sentinel.knowsContent(ofDatabaseAt: presence.file.path) else { return nil }
        guard options.refillsLostStore else { throw StoreError.lost(.erased, at: presence.file.path) }
        guard presence.isFirst else {
            throw StoreError(.busy, "A process still has the lost store in \(presence.file.path) open. Stop it first, and try again.")
        }
        return .otherDatabase
    }

    /// Brings a table's triggers up to date, and takes up rows that were there before them.
    ///
    /// - Returns: rows that show all of the columns that `appeared`, and whether rows were adopted.
    private func track(
        _ table: CatalogTable, _ tracked: CatalogTable.Tracked, _ appeared: [Int], _ ledger: RowLedger, _ clock: CommitClock,
        _ capture: Capture
    ) throws -> (shown: Set<Int64>, adopts: Bool) {
        let wanted = Triggers(table: table, tracked: tracked, file: capture.file).all
        let select = try connection.statement(
            """
            SELECT name, sql, name GLOB 'kith_[0-9]*_*' FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE
            ORDER BY rowid
            """)
        select.bind(1, .text(tracked.sqlName))
        var existing: [(name: String, sql: String)] = []
        var kiths: [String] = []
        while try select.step() {
            let name = String(decoding: select.blob(0), as: UTF8.self)
            existing.append((name, String(decoding: select.blob(1), as: UTF8.self)))
            if select.int(2) != 0 { kiths.append(name) }
        }
        // SQLite fires the trigger first that was made last. Ours must note a write before triggers of the app act on it.
        let isUpToDate = existing.suffix(wanted.count).elementsEqual(wanted) { $0 == $1 }
        if isUpToDate { return ([], false) }
        let ours = existing.filter { trigger in wanted.contains { $0.name == trigger.name } }
        // A table that was renamed takes its triggers along: ours may stand on another table, and those of another table on this one.
        for name in kiths + wanted.map(\.name) { try connection.execute("DROP TRIGGER IF EXISTS main.\(quoted(name))") }
        for trigger in wanted { try connection.execute(trigger.sql) }
        // A key that was declared or changed since shows in the triggers.
        if let key = tracked.naturalKey { try KeyInspector(connection: connection).checkRows(key, of: tracked) }
        for reference in tracked.references {
            try ReferenceRecords(connection: connection).noteDangling(reference, ledger.catalog)
        }
        var adopts = false
        if ours.count < wanted.count {
            adopts = try adoptRows(table, tracked, ledger, clock, capture)
        } else {
            try checkValues(table, tracked)
        }
        let hasNewText = appeared.contains { table.kind(of: $0) == .text }
        if ours.isEmpty, !hasNewText, RegistersMadeTexts(table) == nil { return ([], adopts) }
        return (try connection.writing(as: .merge) { try takeUpTexts(table, tracked, appeared, ledger, clock) }, adopts)
    }

    /// Rows without clocks are adopted. Returns whether there were any.
    private func adoptRows(
        _ table: CatalogTable, _ tracked: CatalogTable.Tracked, _ ledger: RowLedger, _ clock: CommitClock, _ capture: Capture
    ) throws -> Bool {
        try findRows(table, tracked, ledger)
        let adoption = Adoption(table: table, tracked: tracked, ledger: ledger, clock: clock)
        guard try adoption.hasRows() else { return false }
        try checkRowids(tracked)
        try checkValues(table, tracked)
        try connection.writing(as: .merge) { try adoption.adopt() }
        return true
    }

    /// The store uses the other numbers for rows that are not shown.
    private func checkRowids(_ tracked: CatalogTable.Tracked) throws {
        let select = try connection.statement("SELECT count(*) FROM \(tracked.mainName) WHERE \(ValueCheck.hasNoPositiveRowid)")
        let count = try select.step() ? select.int(0) : 0
        select.reset()
        guard count > 0 else { return }
        throw StoreError(.tableRejected, "Table \(tracked.sqlName) cannot be tracked: \(ValueCheck.rowidRefusal(count))")
    }

    /// A migration that built the table anew may have numbered its rows anew: then clocks find their rows by the rows' ids.
    private func findRows(_ table: CatalogTable, _ tracked: CatalogTable.Tracked, _ ledger: RowLedger) throws {
        let select = try connection.statement(
            """
            SELECT 1 FROM \(ClockTable.name(table.number)) c LEFT JOIN \(tracked.mainName) n ON n.rowid = c.row
            WHERE n.\(quoted(tracked.key)) IS NOT \(tracked.form.keySQL("c.id")) LIMIT 1
            """)
        let isMoved = try select.step()
        select.reset()
        if !isMoved { return }
        try RowNumbering(connection: connection).repair(ledger.catalog)
        for table in ledger.catalog.tables where table.tracked != nil { try LostRows(ledger: ledger).forgetRemains(of: table.number) }
    }

    /// Rows that are taken up hold what the triggers would have let in.
    private func checkValues(_ table: CatalogTable, _ tracked: CatalogTable.Tracked) throws {
        for (column, kind) in zip(tracked.columns, tracked.kinds) {
            let sqlName = table.columns[column].sqlName ?? ""
            let name = quoted(sqlName)
            let (wrong, form): (String, String)
            switch kind {
            case .set:
                wrong = ValueCheck.isNoSet(name)
                form = "a set and holds a JSON array"
            case .counter:
                wrong = ValueCheck.isNoCounter(name)
                form = "a counter and holds an INTEGER"
            case .text:
                wrong = "NOT kith_is_text(\(name))"
                form = "a text and holds valid UTF-8"
            case .register:
                continue
            }
            let select = try connection.statement(
                "SELECT count(*) FROM \(tracked.mainName) WHERE \(name) IS NOT NULL AND (\(wrong))")
            let count = try select.step() ? select.int(0) : 0
            select.reset()
            if count > 0 {
                throw StoreError(
                    .tableRejected,
                    "Table \(tracked.sqlName) cannot be tracked: column \(sqlName) is \(form), but \(count) rows have something else there. Mend them first."
                )
            }
        }
    }
}
