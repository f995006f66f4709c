import GRDB
import GRDBSQLite
import KithCausality
import KithSync

/// Prepares a database for synchronisation: sidecar tables, functions, triggers.
struct StoreOpening {
    private let connection: Connection
    private let options: KithStore.Options
    private let signal: CommitSignal
    private let presence: StorePresence?

    /// On the connection that writes; `db` is held for the time of the call.
    init(_ db: Database, _ options: KithStore.Options, _ signal: CommitSignal, _ presence: StorePresence?) throws {
        guard let handle = db.sqliteConnection else {
            throw StoreError(.notAStore, "The database is closed.")
        }
        connection = Connection(handle)
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
        let state = try transaction { try prepare(tables) }
        do {
            try presence?.enter(try state.claim())
        } catch {
            connection.finalizeStatements()
            throw error
        }
        return state
    }

    /// In transactions of their own, for which nobody waits long.
    private func expandRuns() throws {
        while try hasTable("kith_run"), try !ClockRuns(connection).areExpanded() {
            try transaction {
                _ = try checkFormat()
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

    private func prepare(_ tables: [TrackedTable]) throws -> WriterState {
        let isOutdated = try checkFormat()
        try connection.execute(Sidecar.sql)
        let store = CatalogStore(connection: connection)
        let records = VectorRecords(connection: connection)
        if isOutdated {
            try records.setMeta("format", .integer(StoreFormat.current))
            try store.noteChange()
        }
        _ = try ClockRuns(connection).expand()
        if presence?.isFirst != false { try EarlyChanges(connection: connection).dropAll() }
        let ledger = RowLedger(connection, try store.load())
        let doubt = try settleIdentity(ledger, records)

        var declarations = Declarations()
        var columnsBefore: [Int: Int] = [:]
        for (table, found, references) in try Registration(connection: connection).inspect(tables) {
            let (key, columns) = (found.key, found.tracked)
            let number = try store.addTable(Array(table.name.utf8), to: &ledger.catalog)
            columnsBefore[number] = ledger.catalog.tables[number].columns.count
            let keys = columns.map { (name: $0.name, key: ColumnKey(table.renamed[$0.name] ?? $0.name, $0.kind)) }
            for column in keys { _ = try store.addColumn(column.key, table: number, to: &ledger.catalog) }
            try connection.execute(Sidecar.clockTableSQL(number))
            declarations.tables.append(
                Declarations.Table(
                    name: table.name, key: key, deletePolicy: table.deletePolicy, columns: keys,
                    naturalKey: table.key?.columns ?? [], references: references, attachments: table.attachments))
        }
        declarations.annotate(&ledger.catalog)

        let clock = CommitClock(connection, signal, reading: options.clock)
        let entry = TransactionEntry(ledger, declarations, clock)
        let capture = Capture(ledger, clock, entry)
        try Functions.install(capture, on: connection.handle)
        try entry.enter()
        let arrival = SchemaArrival(ledger: ledger, clock: clock)
        for table in ledger.catalog.tables {
            guard let tracked = table.tracked else {
                try arrival.leave(table)
                continue
            }
            let appeared = try arrival.appeared(in: table, tracked, columnsBefore: columnsBefore[table.number] ?? 0)
            let shown = try track(table, tracked, appeared, ledger, clock, capture)
            if try ClockRuns(connection).takeLostRows(of: table.number) { try adoptRows(table, tracked, ledger, clock) }
            capture.isSuspended = true
            defer { capture.isSuspended = false }
            try arrival.take(table, tracked, appeared, besides: shown)
        }
        signal.begin(at: try records.vector(ledger.catalog))
        let state = WriterState(
            ledger: ledger, capture: capture, clock: clock, declarations: declarations, entry: entry, doubt: doubt)
        _ = try state.settledReferences()
        entry.schema = try SchemaGuard(ledger.catalog, connection)
        try entry.checkSchema()
        return state
    }

    /// Refuses files of a newer format before anything is touched, and those of an older one that a program has open which knows no
    /// newer: it would overlook what is new. Returns whether the store has no format yet, or an older one.
    private func checkFormat() throws -> Bool {
        guard try hasTable("kith_meta"), try VectorRecords(connection: connection).meta("format") != nil else { return true }
        let version = try StoreFormat.check(connection)
        if version < StoreFormat.current, let presence, !presence.isFirst {
            throw StoreError(
                .busy,
                "Another program has this store open with an older version of Kith (format \(version); this one writes \(StoreFormat.current)). Close or update that program first."
            )
        }
        return version < StoreFormat.current
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
            try records.adopt(options.makeReplicaID(), ledger)
        } else {
            doubt = presence?.doubt(try records.claim(ledger.catalog))
            if doubt != nil { try records.adopt(options.makeReplicaID(), ledger) }
        }
        if let presence, presence.isFirst {
            let before = try records.claim(ledger.catalog).opening
            var generator = SystemRandomNumberGenerator()
            try records.setMeta("opening", .text(ReplicaID.random(using: &generator).description))
            try presence.announce(try records.claim(ledger.catalog), openingBefore: before)
        }
        return doubt
    }

    /// Brings a table's triggers up to date, and takes up rows that were there before them.
    ///
    /// - Returns: rows that show all of the columns that `appeared`.
    private func track(
        _ table: CatalogTable, _ tracked: CatalogTable.Tracked, _ appeared: [Int], _ ledger: RowLedger, _ clock: CommitClock,
        _ capture: Capture
    ) throws -> Set<Int64> {
        let wanted = Triggers(table: table, tracked: tracked).all
        let select = try connection.statement(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE ORDER BY rowid")
        select.bind(1, .text(tracked.sqlName))
        var existing: [(name: String, sql: String)] = []
        while try select.step() {
            existing.append((String(decoding: select.blob(0), as: UTF8.self), String(decoding: select.blob(1), as: UTF8.self)))
        }
        // SQLite fires the trigger first that was made last. Ours must note a write before triggers of the app act on it.
        let isUpToDate = existing.suffix(wanted.count).elementsEqual(wanted) { $0 == $1 }
        if isUpToDate { return [] }
        let ours = existing.filter { trigger in wanted.contains { $0.name == trigger.name } }
        for trigger in ours { try connection.execute("DROP TRIGGER \(trigger.name)") }
        for trigger in wanted { try connection.execute(trigger.sql) }
        // A key that was declared or changed since shows in the triggers.
        if let key = tracked.naturalKey { try KeyInspector(connection: connection).checkRows(key, of: tracked) }
        for reference in tracked.references {
            try ReferenceRecords(connection: connection).noteDangling(reference, ledger.catalog)
        }
        if ours.count < wanted.count { try adoptRows(table, tracked, ledger, clock) } else { try checkValues(table, tracked) }
        if ours.isEmpty, RegistersMadeTexts(table) == nil { return [] }
        return try takeUpTexts(table, tracked, appeared, ledger, capture)
    }

    /// Rows without clocks become one commit of this replica.
    private func adoptRows(
        _ table: CatalogTable, _ tracked: CatalogTable.Tracked, _ ledger: RowLedger, _ clock: CommitClock
    ) throws {
        let clocks = Sidecar.clockTable(table.number)
        let name = quoted(tracked.sqlName)
        let key = quoted(tracked.key)
        try findRows(table, clocks, name, key, ledger)
        let new = "\(name) n LEFT JOIN \(clocks) c ON c.row = n.rowid WHERE c.row IS NULL"
        let select = try connection.statement("SELECT count(*), sum(typeof(n.\(key)) <> 'blob' OR length(n.\(key)) <> 16) FROM \(new)")
        guard try select.step(), select.int(0) > 0 else { return select.reset() }
        let wrong = select.int(1)
        select.reset()
        if wrong > 0 {
            throw StoreError(
                .tableRejected,
                "Table \(tracked.sqlName) cannot be tracked: \(wrong) of its rows have an id that is not a UUID of 16 bytes. Give them one first."
            )
        }
        try checkValues(table, tracked)
        let (stamp, replica) = try clock.stamp(ledger.catalog)
        let sequence = Int64(bitPattern: stamp.dot.sequence)
        let insert = try connection.statement(
            """
            INSERT INTO \(clocks) (row, id, replica, sequence, timestamp, columns)
            SELECT n.rowid, n.\(key), ?, ?, ?, ? FROM \(new)
            """)
        insert.bind(1, replica)
        insert.bind(2, sequence)
        insert.bind(3, Int64(bitPattern: stamp.timestamp.rawValue))
        insert.bind(4, table.columns.count)
        try insert.run()
        defer { _ = clock.end() }
        // A commit lives in cells.
        if table.columns.isEmpty { return }
        let index = try connection.statement(
            """
            INSERT OR IGNORE INTO kith_dot (replica, sequence, tbl, row)
            SELECT replica, sequence, ?, row FROM \(clocks) WHERE replica = ? AND sequence = ?
            """)
        index.bind(1, table.number)
        index.bind(2, replica)
        index.bind(3, sequence)
        try index.run()
    }

    /// A migration that built the table anew may have numbered its rows anew: then clocks find their rows by the rows' ids.
    private func findRows(_ table: CatalogTable, _ clocks: String, _ name: String, _ key: String, _ ledger: RowLedger) throws {
        let select = try connection.statement(
            "SELECT 1 FROM \(clocks) c LEFT JOIN \(name) n ON n.rowid = c.row WHERE n.\(key) IS NOT c.id LIMIT 1")
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
                wrong = "typeof(\(name)) <> 'text' OR NOT json_valid(\(name)) OR json_type(\(name)) <> 'array'"
                form = "a set and holds a JSON array"
            case .counter:
                wrong = "typeof(\(name)) <> 'integer'"
                form = "a counter and holds an INTEGER"
            case .text:
                wrong = "NOT kith_is_text(\(name))"
                form = "a text and holds valid UTF-8"
            case .register:
                continue
            }
            let select = try connection.statement(
                "SELECT count(*) FROM \(quoted(tracked.sqlName)) WHERE \(name) IS NOT NULL AND (\(wrong))")
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
