import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

/// Brings to life, when a store is opened after a migration, what peers had sent of tables and columns that the app's schema did
/// not know. Nothing of it is a write: no commit is made, and clocks stay as they are. What stands in a new column is adopted.
struct SchemaArrival {
    let ledger: RowLedger
    let clock: CommitClock

    private var records: VectorRecords { VectorRecords(connection: ledger.connection) }

    /// The columns that the app's table has only now, or that synchronise only now: all of a table that was never tracked are not.
    ///
    /// - Parameter dropped: those that a migration step has dropped, whether or not a later one has added some of the same name.
    func new(in table: CatalogTable, _ tracked: CatalogTable.Tracked, dropped: Set<Int>) throws -> Set<Int> {
        guard let before = try schema(of: table).map(numbers(in:)) else { return [] }
        return Set(tracked.columns).subtracting(before.subtracting(dropped))
    }

    /// - Parameters:
    ///   - new: the columns that the table has only now.
    ///   - appeared: those of them that were known, from here or from peers, before this opening.
    ///   - shown: rows that show them already.
    ///   - steps: what migration steps have written.
    /// - Returns: whether values were adopted.
    func take(
        _ table: CatalogTable, _ tracked: CatalogTable.Tracked, _ new: Set<Int>, _ appeared: [Int], besides shown: Set<Int64>,
        _ steps: StepChanges?
    ) throws -> Bool {
        try noteNames(of: table, tracked)
        let columns = tracked.columns.map(String.init).joined(separator: ",")
        let policy = tracked.deletePolicy == .updateWins ? "" : ";\(tracked.deletePolicy)"
        let current = columns + ";" + tracked.references.map(\.signature).joined(separator: ",") + policy
        let dropped = steps?.dropped(from: table.number) ?? []
        var before: Set<Int>?
        var isOtherPolicy = false
        if let schema = try schema(of: table) {
            if schema == current, dropped.isEmpty {
                try steps?.noteChanges(in: table, tracked, showing: shown, tracked)
                return false
            }
            before = numbers(in: schema)
            let parts = schema.split(separator: ";", omittingEmptySubsequences: false)
            isOtherPolicy = parts.count == 1 || (parts.count > 2 ? ";\(parts[2])" : "") != policy
        }
        try records.setMeta(name(of: table), .text(current))
        let vanished = before?.subtracting(tracked.columns).union(dropped).sorted() ?? []
        if steps?.hasCopy(of: table.number) != true { try refuseOtherKinds(vanished, of: table, tracked) }
        // Until it is revealed, what peers sent of a column stands in the clocks and not in the app's table: whatever is written anew
        // before must not take it for shown.
        ledger.catalog.tables[table.number].tracked = appeared.isEmpty ? tracked : tracked.without(appeared)
        if !vanished.isEmpty { try forget(vanished, of: table, besides: shown, tracked) }
        if let known = ledger.catalog[table.number]?.tracked { try steps?.noteChanges(in: table, known, showing: shown, tracked) }
        try renewReferences(of: table)
        ledger.catalog.tables[table.number].tracked = tracked
        // A row that was hidden shows its columns at once, and must not be looked at again for what it does not show yet.
        if !appeared.isEmpty { try reveal(appeared, of: table, tracked, besides: shown) }
        if isOtherPolicy { try settleDeletedRows(table) }
        try settleHiddenRows(table)
        return try NewColumns(ledger: ledger, clock: clock).adopt(new, of: table, tracked)
    }

    /// A column of the same name and another kind is another column, of which no commit knows what the table shows. A register made a text
    /// is carried over: ``RegistersMadeTexts``; and a migration step writes what stands there.
    private func refuseOtherKinds(_ vanished: [Int], of table: CatalogTable, _ tracked: CatalogTable.Tracked) throws {
        for column in vanished where table.columns.indices.contains(column) {
            let before = table.columns[column].key
            let declared = tracked.columns.map { table.columns[$0].key }
            guard let now = declared.first(where: { $0.name == before.name && $0.kind != before.kind }),
                before.kind != .register || now.kind != .text,
                try !rows(of: table, "LIMIT 1").isEmpty || !HiddenRows(ledger.connection).deleted(of: table.number).isEmpty
            else { continue }
            throw StoreError(
                .tableRejected,
                "Column \(String(decoding: before.name, as: UTF8.self)) of \(tracked.sqlName) was declared as a \(before.kind) until now, and is "
                    + "declared as a \(now.kind), so other machines could not tell what its values are. Register a migration step with this "
                    + "version, even an empty one: then the values that stand there are taken over.")
        }
    }

    /// By these names the columns are found when the app's next migration begins.
    private func noteNames(of table: CatalogTable, _ tracked: CatalogTable.Tracked) throws {
        let names = tracked.columns.map { table.columns[$0].sqlName ?? "" }.joined(separator: String(MigrationSteps.nameSeparator))
        let key = MigrationSteps.namesKey(table.number)
        if case .text(let known)? = try records.meta(key), known.elementsEqual(names.utf8) { return }
        try records.setMeta(key, .text(names))
    }

    /// Whether the table was declared when the store was opened last, by whomever.
    func isDeclared(_ table: CatalogTable) throws -> Bool { try schema(of: table)?.contains(";") == true }

    /// The table is not declared, so that rows of it are kept as they come. Once it is again, they are looked at, whatever its columns.
    func leave(_ table: CatalogTable) throws {
        guard let schema = try schema(of: table) else { return }
        if let end = schema.firstIndex(of: ";") { try records.setMeta(name(of: table), .text(String(schema[..<end]))) }
        try LostRows(ledger: ledger).forgetTable(table)
    }

    private func name(of table: CatalogTable) -> String { "columns:\(table.number)" }

    /// Columns and foreign keys of a table as its rows follow them, such as "0,1,2;2>0 cascade"; after it was not declared, the columns.
    private func schema(of table: CatalogTable) throws -> String? {
        guard case .text(let bytes)? = try records.meta(name(of: table)) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func numbers(in schema: String) -> Set<Int> {
        Set(schema.prefix { $0 != ";" }.split(separator: ",").compactMap { Int($0) })
    }

    /// Undoes what references of the table have hidden, brought or shown otherwise than it was written, by whatever rules, and lets
    /// those that there are now act anew.
    private func renewReferences(of table: CatalogTable) throws {
        let references = ReferenceRecords(connection: ledger.connection)
        let merger = try RowMerger(ledger: ledger, clock: clock)
        for row in try references.waiting(in: table.number) {
            try merger.showWritten(row)
            try references.stopWaiting(row)
            try references.note(row)
        }
        try references.noteDependent(in: table.number)
    }

    /// Rows that were deleted and edited at once, of which another rule says now whether they are shown.
    private func settleDeletedRows(_ table: CatalogTable) throws {
        let merger = try RowMerger(ledger: ledger, clock: clock)
        for (row, id) in try rows(of: table, "WHERE exceptions IS NOT NULL") {
            guard let stored = try ledger.storedRow(table.number, row: row), !stored.exceptions.tombstones.isEmpty else { continue }
            try merger.settle(table.number, id)
        }
        for id in try HiddenRows(ledger.connection).deleted(of: table.number) { try merger.settle(table.number, id) }
    }

    /// Rows that no table could show, or a rule of the table did not let in.
    private func settleHiddenRows(_ table: CatalogTable) throws {
        let hidden = try HiddenRows(ledger.connection).toBeTriedAgain(of: table.number)
        let merger = try RowMerger(ledger: ledger, clock: clock)
        for id in hidden { try merger.settle(table.number, id) }
    }

    /// What the table showed in columns that were dropped is gone here; peers have it.
    ///
    /// - Parameter shown: rows that show all columns of the table, `whole`, already; the others do not show those that it has only now.
    private func forget(
        _ vanished: [Int], of table: CatalogTable, besides shown: Set<Int64>, _ whole: CatalogTable.Tracked
    ) throws {
        let known = ledger.catalog[table.number]?.tracked
        defer { ledger.catalog.tables[table.number].tracked = known }
        let lost = vanished.compactMap { table.columns.indices.contains($0) ? table.columns[$0].key : nil }
        try IncompleteColumns(connection: ledger.connection).add(lost, of: table.number)
        for column in vanished where table.kind(of: column) == .text {
            try TextArchive(ledger: ledger).forgetShown(column, of: table.number)
        }
        var isChanged = false
        for (row, id) in try rows(of: table) {
            ledger.catalog.tables[table.number].tracked = shown.contains(row) ? whole : known
            guard var stored = try ledger.storedRow(table.number, row: row) else { continue }
            let (dots, exceptions, before) = (stored.liveDots, stored.exceptions, stored.visibility)
            for column in vanished {
                let kind = column < stored.baseColumns ? table.kind(of: column) : nil
                stored.exceptions[column] = kind.map { Cell(empty: $0) }
            }
            if stored.exceptions == exceptions { continue }
            // An edit of such a column may be what had brought the row back.
            let policy = ledger.catalog[table.number]?.tracked?.deletePolicy ?? .updateWins
            if before.isVisible(policy), !stored.visibility.isVisible(policy) { stored.exceptions.tombstones = [] }
            try ledger.save(stored, table.number, row: row, id: id)
            try ledger.reindex(table.number, from: dots, at: row, to: stored.liveDots, at: row)
            isChanged = true
        }
        // No commit tells of it.
        if isChanged { try DigestLedger(ledger: ledger).distrust() }
    }

    /// Rows with cells of columns that the table has only now. They are exceptions, so that to add a column takes no time.
    private func reveal(
        _ appeared: [Int], of table: CatalogTable, _ tracked: CatalogTable.Tracked, besides shown: Set<Int64>
    ) throws {
        let merger = try RowMerger(ledger: ledger, clock: clock)
        let steps = try StepValues(appeared, of: tracked, ledger, clock)
        for (row, id) in try rows(of: table, "WHERE exceptions IS NOT NULL") where !shown.contains(row) {
            guard let stored = try ledger.storedRow(table.number, row: row) else { continue }
            if appeared.contains(where: { stored.exceptions[$0] != nil }) {
                try merger.settle(table.number, id, revealing: appeared, beside: steps.cells)
            }
        }
    }

    private func rows(of table: CatalogTable, _ condition: String = "") throws -> [(row: Int64, id: RowID)] {
        let select = try ledger.connection.statement("SELECT row, id FROM \(ClockTable.name(table.number)) \(condition)")
        var rows: [(row: Int64, id: RowID)] = []
        while try select.step() { rows.append((select.integer(0), try select.rowID(1))) }
        return rows
    }
}
