import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

/// What migration steps have written to tracked tables since these were copied aside, noted when the store is opened.
///
/// It is one commit with all that the opening adopts. Every device runs the steps, so a write must not win over what somebody has
/// written elsewhere: what it makes of a register keeps the timestamp of what it replaces, and a row or cell that it makes is found
/// (``Adoption``). See docs/store.md, "Migrations".
struct StepChanges {
    let ledger: RowLedger
    let capture: Capture
    /// By number of the table: the numbers of the columns that were copied, but for those that were dropped since.
    private let copied: [Int: [Int]]
    private let dropped: [Int: Set<Int>]

    private var connection: DatabaseConnection { ledger.connection }

    /// `nil` if no steps have run.
    init?(_ ledger: RowLedger, _ capture: Capture) throws {
        self.ledger = ledger
        self.capture = capture
        guard try MigrationSteps.stopNoting(ledger.connection) else { return nil }
        var copied: [Int: [Int]] = [:]
        var dropped: [Int: Set<Int>] = [:]
        for table in ledger.catalog.tables {
            let columns = try ledger.connection.statement("SELECT name FROM pragma_table_info(?) WHERE name <> 'id'")
            columns.bind(1, .text(MigrationSteps.before(table.number)))
            let gone = try MigrationSteps.dropped(from: table.number, ledger.connection)
            var numbers: [Int] = []
            while try columns.step() { numbers += [Int(String(decoding: columns.blob(0).dropFirst(), as: UTF8.self))].compactMap { $0 } }
            if numbers.isEmpty { continue }
            copied[table.number] = numbers.filter { !gone.contains($0) }
            dropped[table.number] = gone
        }
        (self.copied, self.dropped) = (copied, dropped)
    }

    /// Whether migration steps have run on the table since it was opened last.
    func hasCopy(of table: Int) -> Bool { copied[table] != nil }

    /// The columns of a table that a step has dropped, whether or not a later one has added some of the same name.
    func dropped(from table: Int) -> Set<Int> { dropped[table] ?? [] }

    /// Takes the copies away.
    func finish() throws { try MigrationSteps.dropCopies(connection) }

    /// Whether two values differ, bit for bit.
    static func differ(_ a: String, _ b: String) -> String {
        "(\(a) COLLATE BINARY IS NOT \(b) COLLATE BINARY OR typeof(\(a)) <> typeof(\(b)))"
    }

    /// The key that a copied row has in its table, which may write ids otherwise now.
    private func key(of tracked: CatalogTable.Tracked) -> String { tracked.form.keySQL("\(KeyForm.anyFunction)(b.id)") }

    // MARK: Deletions

    /// Notes the rows that a `DELETE` has taken. To be called before clocks are brought to where rows are now.
    func noteDeletions() throws {
        for (number, columns) in copied.sorted(by: { $0.key < $1.key }) {
            guard let table = ledger.catalog[number], let tracked = table.tracked else { continue }
            let old = tracked.asCopied(columns, of: table)
            let select = try connection.statement(
                """
                SELECT c.row, \(KeyForm.anyFunction)(b.id)\(old.names.map { ", b." + $0 }.joined()) FROM \(MigrationSteps.goneTable) g
                JOIN \(old.sqlName) b ON b.id = g.id JOIN \(ClockTable.name(number)) c ON c.id = \(KeyForm.anyFunction)(b.id)
                WHERE g.tbl = \(number) AND NOT EXISTS (SELECT 1 FROM \(tracked.mainName) n WHERE n.\(quoted(tracked.key)) = \(key(of: tracked)))
                """)
            var rows: [ReplacedRow] = []
            while try select.step() {
                let values = columns.indices.map { select.value(Int32($0 + 2)) }
                rows.append(ReplacedRow(table: number, row: select.integer(0), id: try select.rowID(1), values: values))
            }
            ledger.catalog.tables[number].tracked = old
            defer { ledger.catalog.tables[number].tracked = tracked }
            for row in rows {
                _ = try capture.remove(row)
                try noteReferences(of: RowKey(table: number, id: row.id), tracked) { column in
                    columns.firstIndex(of: column).map { row.values[$0] }
                }
            }
        }
    }

    /// Lets rows be looked at that a reference of the row concerns.
    private func noteReferences(of row: RowKey, _ tracked: CatalogTable.Tracked, _ old: (Int) -> ColumnValue?) throws {
        guard tracked.isRelated else { return }
        let records = ReferenceRecords(connection: connection)
        try records.note(row)
        for reference in tracked.references {
            guard let key = old(reference.column).flatMap(reference.row(named:)) else { continue }
            if try records.isHeld(key) { try records.note(key) }
        }
    }

    // MARK: Changes

    /// Notes what has changed in columns that the table had and has.
    ///
    /// - Parameters:
    ///   - tracked: the table without columns of which peers have sent what is not shown yet.
    ///   - shown: rows that show all columns of the table, `whole`, already.
    func noteChanges(
        in table: CatalogTable, _ tracked: CatalogTable.Tracked, showing shown: Set<Int64>, _ whole: CatalogTable.Tracked
    ) throws {
        guard let copied = copied[table.number] else { return }
        let places = tracked.columns.indices.filter { copied.contains(tracked.columns[$0]) }
        let changed = places.map { Self.differ("b.c\(tracked.columns[$0])", "n.\(tracked.names[$0])") }
        defer { ledger.catalog.tables[table.number].tracked = tracked }
        try eachRow(of: table, tracked, places, where: changed) { row, id, values in
            ledger.catalog.tables[table.number].tracked = shown.contains(row) ? whole : tracked
            try note(values, table, tracked, row: row, id: id)
        }
    }

    private struct Change {
        /// Among the tracked columns.
        let place: Int
        let old: ColumnValue
        let new: ColumnValue
        /// Whether it shows what a cell shows that nobody has written.
        let isDefault: Bool
    }

    private static let rowsMax = 500

    private func eachRow(
        of table: CatalogTable, _ tracked: CatalogTable.Tracked, _ places: [Int], where conditions: [String],
        _ body: (Int64, RowID, [Change]) throws -> Void
    ) throws {
        if places.isEmpty { return }
        let defaults = ColumnDefaults(connection)
        let values = try places.map { place in
            "b.c\(tracked.columns[place]), n.\(tracked.names[place]), \(try defaults.isWritten(place, of: tracked))"
        }
        let select = try connection.statement(
            """
            SELECT b.rowid, n.rowid, \(KeyForm.anyFunction)(b.id), \(values.joined(separator: ", ")) FROM \(MigrationSteps.before(table.number)) b
            JOIN \(tracked.mainName) n ON n.\(quoted(tracked.key)) = \(key(of: tracked))
            WHERE b.rowid > ? AND (\(conditions.joined(separator: " OR "))) ORDER BY b.rowid LIMIT \(Self.rowsMax)
            """)
        var last: Int64 = 0
        while true {
            select.bind(1, last)
            var rows: [(row: Int64, id: RowID, changes: [Change])] = []
            while try select.step() {
                last = select.integer(0)
                let changes = places.indices.map { index in
                    let first = Int32(3 + 3 * index)
                    return Change(
                        place: places[index], old: select.value(first), new: select.value(first + 1), isDefault: select.int(first + 2) == 0)
                }
                rows.append((select.integer(1), try select.rowID(2), changes))
            }
            for row in rows { try body(row.row, row.id, row.changes) }
            if rows.count < Self.rowsMax { return }
        }
    }

    private func note(
        _ changes: [Change], _ table: CatalogTable, _ tracked: CatalogTable.Tracked, row: Int64, id: RowID
    ) throws {
        // A row without clocks was inserted again, and is adopted.
        guard var stored = try ledger.storedRow(table.number, row: row) else { return }
        let before = stored
        let stamp = try capture.clock.stamp(ledger.catalog).stamp
        for change in changes where change.old != change.new {
            let column = tracked.columns[change.place]
            let place = TextKey(table: table.number, id: id, column: column)
            guard let cell = try cell(of: stored, column, tracked.kinds[change.place], change, place, stamp) else { continue }
            stored.exceptions[column] = cell
        }
        if stored.exceptions == before.exceptions { return }
        let key = RowKey(table: table.number, id: id)
        for change in changes where change.old != change.new {
            try ReferenceRecords(connection: connection).stopWaiting(key, column: tracked.columns[change.place])
        }
        try noteReferences(of: key, tracked) { column in changes.first { tracked.columns[$0.place] == column }?.old }
        capture.dropUnusedBase(&stored)
        if !stored.exceptions.tombstones.isEmpty, stored.exceptions.cellDots.contains(stamp.dot) {
            stored.exceptions.tombstones = []
            try RefusedRows(connection: connection).forget(key)
        }
        try ledger.save(stored, table.number, row: row, id: id)
        try ledger.reindex(table.number, from: before.liveDots, at: row, to: stored.liveDots, at: row)
    }

    /// What a change makes of a cell; `nil` if nothing.
    private func cell(
        of stored: StoredRow, _ column: Int, _ kind: ColumnKind, _ change: Change, _ key: TextKey, _ stamp: Stamp
    ) throws -> Cell? {
        if stored.isAbsent(column) { return change.isDefault ? nil : try Cell(found: change.new, kind, stamp.adopted, connection) }
        let old = change.old
        switch kind {
        case .register:
            var register = stored.register(column)
            register.migrate(to: change.new, dot: stamp.dot, replacing: stored.written(column) ?? old)
            return .register(register)
        case .set:
            var set = stored.set(column, elements: try SetText.elements(of: old, connection))
            return set.set(to: try SetText.elements(of: change.new, connection), dot: stamp.dot) ? .set(set) : nil
        // Steps are refused that change these; but somebody may have written before the store was opened again.
        case .counter:
            if change.new.integer == old.integer { return nil }
            var counter = stored.counter(column, value: old.integer)
            counter.count(change.new.integer &- old.integer, dot: stamp.dot)
            return .counter(counter)
        case .text:
            var text = stored.text(column, value: old)
            try capture.texts.save(change.new.utf8, in: &text, at: key, stamp)
            text.text = nil
            return .text(text)
        }
    }
}

extension CatalogTable.Tracked {
    /// The copy of the table that was made before migration steps.
    fileprivate func asCopied(_ columns: [Int], of table: CatalogTable) -> CatalogTable.Tracked {
        CatalogTable.Tracked(
            sqlName: MigrationSteps.before(table.number), key: "id", form: form, deletePolicy: deletePolicy, columns: columns,
            kinds: columns.map { table.kind(of: $0) ?? .register }, names: columns.map { "c\($0)" }, naturalKey: nil,
            references: references, referrers: referrers, mayBeBrought: mayBeBrought)
    }
}
