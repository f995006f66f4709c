import KithCausality
import KithSync

/// Brings to life, when a store is opened after a migration, what peers had sent of tables and columns that the app's schema did
/// not know. Nothing of it is a write: no commit is made, and clocks stay as they are.
struct SchemaArrival {
    let ledger: RowLedger
    let clock: CommitClock

    private var records: VectorRecords { VectorRecords(connection: ledger.connection) }

    /// - Parameter columnsBefore: how many columns of the table were known, from here or from peers, before this opening.
    func take(_ table: CatalogTable, _ tracked: CatalogTable.Tracked, columnsBefore: Int) throws {
        let name = "columns:\(table.number)"
        let current = tracked.columns.map(String.init).joined(separator: ",")
        var before: Set<Int>?
        if case .text(let bytes)? = try records.meta(name) {
            if bytes == Array(current.utf8) { return }
            before = Set(String(decoding: bytes, as: UTF8.self).split(separator: ",").compactMap { Int($0) })
        }
        try records.setMeta(name, .text(current))
        try settleHiddenRows(table)
        guard let before else { return }
        let appeared = tracked.columns.filter { !before.contains($0) && $0 < columnsBefore }
        let vanished = before.subtracting(tracked.columns).sorted()
        if appeared.isEmpty, vanished.isEmpty { return }
        try adjustRows(table, appeared: appeared, vanished: vanished)
    }

    /// Rows that no table could show, or a rule of the table did not let in.
    private func settleHiddenRows(_ table: CatalogTable) throws {
        let select = try ledger.connection.statement(
            "SELECT id FROM kith_hidden WHERE tbl = ? AND reason IN (\(HiddenReason.unknownTable.rawValue), \(HiddenReason.refused.rawValue))"
        )
        select.bind(1, table.number)
        var hidden: [RowID] = []
        while try select.step() { hidden.append(try select.rowID(0)) }
        let merger = try RowMerger(ledger: ledger, clock: clock)
        for id in hidden { try merger.settle(table.number, id) }
    }

    /// Rows with cells of columns that the table has only now, or has no longer.
    private func adjustRows(_ table: CatalogTable, appeared: [Int], vanished: [Int]) throws {
        // SQLite, too, writes a whole table anew to drop a column of it. To add one takes no time.
        let rest = vanished.isEmpty ? "WHERE exceptions IS NOT NULL" : ""
        let select = try ledger.connection.statement("SELECT row, id FROM \(Sidecar.clockTable(table.number)) \(rest)")
        var rows: [(row: Int64, id: RowID)] = []
        while try select.step() { rows.append((select.integer(0), try select.rowID(1))) }
        let merger = try RowMerger(ledger: ledger, clock: clock)
        for (row, id) in rows {
            guard var stored = try ledger.storedRow(table.number, row: row) else { continue }
            let (dots, exceptions) = (stored.liveDots, stored.exceptions)
            // What the table showed in a column that was dropped is gone here; peers have it.
            for column in vanished {
                let kind = column < stored.baseColumns ? table.kind(of: column) : nil
                stored.exceptions[column] = kind.map { Cell(empty: $0) }
            }
            if stored.exceptions != exceptions {
                try ledger.save(stored, table.number, row: row, id: id)
                try ledger.reindex(table.number, from: dots, at: row, to: stored.liveDots, at: row)
            }
            if appeared.contains(where: { stored.exceptions[$0] != nil }) { try merger.settle(table.number, id, revealing: appeared) }
        }
    }
}
