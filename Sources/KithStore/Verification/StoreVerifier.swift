import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

/// Checks within one transaction that rows, clocks and the index of commits agree.
struct StoreVerifier {
    let ledger: RowLedger

    func run() throws -> Verification {
        var result = Verification()
        func report(_ problem: String) {
            if result.problems.count < Verification.problemsMax { result.problems.append(problem) }
        }
        do {
            try checkFile(report)
            result.isFileDamaged = !result.isSound
            try checkContent(&result)
        } catch let error as SQLiteError where error.isDamage {
            result.isFileDamaged = true
            report("What comes after cannot be read: \(error.brief).")
        }
        return result
    }

    private func checkContent(_ result: inout Verification) throws {
        func report(_ problem: String) {
            if result.problems.count < Verification.problemsMax { result.problems.append(problem) }
        }
        let records = VectorRecords(connection: ledger.connection)
        let vector = try records.vector(ledger.catalog)
        for table in ledger.catalog.tables {
            if let tracked = table.tracked { try checkPairs(table, tracked, report) }
        }
        let leftOut = try tablesLeftOut()
        let digests = DigestLedger(ledger: ledger)
        let record = try DigestRecord.load(ledger)
        var damage = try DamageRecord(ledger).load()
        var entries = 0
        var histories = 0
        var noted = 0
        try TableScan(ledger: ledger).read(after: nil) { row in
            if leftOut.contains(row.table) { return true }
            result.rowCount += 1
            let name = describe(row)
            let known = row.state.context.isEmpty ? vector : vector.joined(with: row.state.context)
            for dot in row.state.liveDots {
                entries += 1
                if !known.covers(dot) { report("\(name) carries commit \(dot), which the vector does not cover.") }
                if try !isIndexed(dot, row) { report("\(name) carries commit \(dot), which the index does not list.") }
            }
            try checkShown(row, name, report)
            if row.reference > 0, row.state.hasAlternatives, try !ConflictRecords(ledger: ledger).contains(row.table, row.position.row) {
                report("\(name) keeps several versions of a value, and the list of conflicts does not have it.")
            }
            histories += try checkTexts(row, name, report)
            let digest = try digests.noted(row.table, row.position.row)
            if digest != nil { noted += 1 }
            let before = damage.removeValue(forKey: row.position)
            if digests.isCurrent(row, record), try digest != digests.digest(of: row) {
                report("\(name) was changed behind Kith's back since it was last looked at.")
                note(row.position, &result)
            } else if let before = before ?? nil, try before == digests.digest(of: row) {
                report("\(name) was changed behind Kith's back, and neither mended nor written since.")
            }
            return true
        }
        result.refusedRows = try RefusedRows(connection: ledger.connection).rows(ledger.catalog, max: Verification.problemsMax)
        let indexed = try DotIndex(ledger.connection).count(besides: leftOut)
        if indexed != entries { report("The index of commits lists \(indexed) entries where rows have \(entries).") }
        let kept = try TextArchive(ledger: ledger).count(besides: leftOut)
        if kept != histories { report("The histories of \(kept) texts are kept where rows have \(histories).") }
        let gone = try DigestRows(ledger.connection).count(besides: leftOut) - noted
        if gone > 0, record.isComplete {
            report("\(gone) rows vanished behind Kith's back since they were last looked at.")
            try noteGone(&result, besides: leftOut)
        }
        let away = damage.values.count { $0 == nil }
        if away > 0 { report("\(away) rows vanished behind Kith's back, and did not come back.") }
    }

    /// Tables that were declared once and are not now: what they hold is kept, and cannot be read without its columns.
    private func tablesLeftOut() throws -> [Int] {
        try ledger.catalog.tables.filter { table in
            try table.tracked == nil && number("SELECT count(*) FROM sqlite_master WHERE name = '\(ClockTable.name(table.number))'") > 0
        }.map(\.number)
    }

    private func note(_ position: SlicePosition, _ result: inout Verification) {
        if result.changed.count < DamageRecord.rowsMax { result.changed.append(position) }
    }

    private func noteGone(_ result: inout Verification, besides leftOut: [Int]) throws {
        let candidates = RowCandidates(ledger: ledger)
        for table in ledger.catalog.tables where !leftOut.contains(table.number) {
            try DigestRows(ledger.connection).read(of: table.number, after: nil, through: nil) { id, _ in
                if try candidates.find(table, id) == nil { note(SlicePosition(table: table.name, row: id), &result) }
            }
        }
    }

    private func checkFile(_ report: (String) -> Void) throws {
        let check = try ledger.connection.statement("PRAGMA quick_check(10)")
        while try check.step() {
            let line = String(decoding: check.blob(0), as: UTF8.self)
            if line != "ok" { report("SQLite says: \(line)") }
        }
    }

    /// Every row has its clocks, and every clock its row.
    private func checkPairs(_ table: CatalogTable, _ tracked: CatalogTable.Tracked, _ report: (String) -> Void) throws {
        let clocks = ClockTable.name(table.number)
        let name = tracked.mainName
        let key = quoted(tracked.key)
        var questions = [
            ("SELECT count(*) FROM \(name) n LEFT JOIN \(clocks) c ON c.row = n.rowid WHERE c.row IS NULL", "rows have no clocks"),
            ("SELECT count(*) FROM \(clocks) c LEFT JOIN \(name) n ON c.row = n.rowid WHERE n.rowid IS NULL", "clocks have no row"),
            (
                "SELECT count(*) FROM \(name) n JOIN \(clocks) c ON c.row = n.rowid WHERE n.\(key) IS NOT \(tracked.form.keySQL("c.id"))",
                "rows have another row's clocks"
            ),
            (
                "SELECT count(*) FROM \(name) n JOIN \(HiddenRows.table) h ON h.tbl = \(table.number) AND n.\(key) = \(tracked.form.keySQL("h.id"))",
                "rows are there and deleted at once"
            ),
        ]
        for reference in tracked.references {
            guard let parent = ledger.catalog[reference.parent]?.tracked else { continue }
            questions.append(
                (
                    """
                    SELECT count(*) FROM \(name) n WHERE n.\(reference.name) NOT NULL AND NOT EXISTS (
                        SELECT 1 FROM \(parent.mainName) p WHERE p.\(quoted(parent.key)) = n.\(reference.name))
                    """, "rows refer by \(reference.name) to rows that are not there"
                ))
        }
        for (sql, problem) in questions {
            let count = try number(sql)
            if count > 0 { report("Table \(tracked.sqlName): \(count) \(problem).") }
        }
    }

    private func isIndexed(_ dot: Dot, _ row: ReadRow) throws -> Bool {
        let replica = ledger.catalog.replicas.ids.firstIndex(of: dot.replica) ?? -1
        return try DotIndex(ledger.connection).contains(dot, replica: replica, row.table, row.reference)
    }

    /// What the table shows is what the merged state says.
    private func checkShown(_ row: ReadRow, _ name: String, _ report: (String) -> Void) throws {
        guard let table = ledger.catalog[row.table], let tracked = table.tracked else { return }
        let isShown = row.reference > 0
        if !isShown, row.state.isVisible(tracked.deletePolicy), try reason(row) == .deleted {
            report("\(name) should be visible and is not.")
        }
        guard isShown else { return }
        let key = RowKey(table: row.table, id: row.position.row)
        // A row of a table without columns has no cells.
        if !row.state.isEmpty, !row.state.isVisible(tracked.deletePolicy), try !ReferenceRecords(connection: ledger.connection).isHeld(key),
            try !RefusedRows(connection: ledger.connection).has(key)
        {
            report("\(name) should not be visible and is.")
        }
        let user = UserTable(connection: ledger.connection, table: table, tracked: tracked)
        guard let found = try user.find(row.position.row) else { return }
        if let key = tracked.naturalKey, !key.names(row.position.row, showing: found.values) {
            report("\(name) has an id that does not follow from its key.")
        }
        for (index, expected) in row.state.shownValues(tracked).enumerated() {
            guard let expected, try !isSame(found.values[index], expected, tracked.kinds[index]) else { continue }
            let column = table.columns[tracked.columns[index]].sqlName ?? ""
            report("\(name) shows a value in column \(column) that its clocks do not explain.")
        }
    }

    /// A register's value stands in the table only; a set may be written there in any order.
    private func isSame(_ shown: ColumnValue, _ expected: ColumnValue, _ kind: ColumnKind) throws -> Bool {
        switch kind {
        case .register, .text: true
        case .counter: shown.integer == expected.integer
        case .set:
            try Set(SetText.elements(of: shown, ledger.connection)) == Set(SetText.elements(of: expected, ledger.connection))
        }
    }

    /// What a text shows is what its history gives. Returns how many histories the row has.
    private func checkTexts(_ row: ReadRow, _ name: String, _ report: (String) -> Void) throws -> Int {
        var histories = 0
        for entry in row.state.cells {
            guard case .text(let state) = entry.cell else { continue }
            for number in state.adopted?.documents.map(\.number) ?? [0] where state.part(number).past == .kept { histories += 1 }
            let key = TextKey(table: row.table, id: row.position.row, column: entry.column)
            guard let problem = try TextCells(ledger).problem(of: state, at: key) else { continue }
            let column = String(decoding: ledger.catalog.tables[row.table].columns[entry.column].key.name, as: UTF8.self)
            report("\(name), text \(column): \(problem).")
        }
        return histories
    }

    private func reason(_ row: ReadRow) throws -> HiddenReason? {
        try ledger.hiddenRow(row.table, row.position.row)?.reason
    }

    private func number(_ sql: String) throws -> Int {
        let select = try ledger.connection.statement(sql)
        defer { select.reset() }
        return try select.step() ? select.int(0) : 0
    }

    private func describe(_ row: ReadRow) -> String {
        "Row \(row.position.row) of \(String(decoding: row.position.table, as: UTF8.self))"
    }
}
