import Foundation
import GRDB
import KithLedger
import KithMerge
import KithSQLite
import KithSync

extension SyncedDatabase {
    /// Rows that were written somewhere and that the app's tables do not show as they are, with their reasons: of unknown tables, refused
    /// by a rule of the app, or waiting for rows that they refer to. By table and id, at most `limit`. Deleted rows are in ``trash(table:max:)``.
    ///
    /// Takes time in proportion to the rows that are hidden, deleted ones included.
    public func unshownRows(max limit: Int = 1_000) throws(StoreError) -> [UnshownRow] {
        try read(rows: false) { ledger in try UnshownRows(ledger).all(max: limit) }
    }

    /// The same as a part of what is open on `db`.
    public func unshownRows(_ db: Database, max limit: Int = 1_000) throws(StoreError) -> [UnshownRow] {
        try read(in: db, rows: false) { ledger in try UnshownRows(ledger).all(max: limit) }
    }
}

/// Gathers the rows that the app's tables do not show as they are.
private struct UnshownRows {
    let ledger: RowLedger

    init(_ ledger: RowLedger) {
        self.ledger = ledger
    }

    func all(max limit: Int) throws -> [UnshownRow] {
        let refused = try RefusedRows(connection: ledger.connection).rows(ledger.catalog, max: .max)
        let messages = Dictionary(refused.map { (Key($0.table, $0.id), $0) }, uniquingKeysWith: { first, _ in first })
        let references = ReferenceRecords(connection: ledger.connection)
        var found: [UnshownRow] = refused.filter(\.isDeletion).map {
            UnshownRow(table: $0.table, id: $0.id, reason: .deletionRefused($0.reason), since: $0.since)
        }
        for table in ledger.catalog.tables {
            let name = String(decoding: table.name, as: UTF8.self)
            var hidden: Set<RowID> = []
            for (id, reason, since) in try hiddenRows(of: table) {
                hidden.insert(id)
                let row = RowKey(table: table.number, id: id)
                let why: UnshownRow.Reason? =
                    switch reason {
                    case .deleted, .contextOnly: nil
                    case .unknownTable: .unknownTable
                    case .refused, .wrongKey: .refused(messages[Key(name, id)]?.reason ?? "")
                    case .reference: .waiting(columns: try columns(table, try references.waiting(row).map(\.column)))
                    }
                if let why { found.append(UnshownRow(table: name, id: id, reason: why, since: since)) }
            }
            for row in try references.waiting(in: table.number) where !hidden.contains(row.id) {
                let columns = try columns(table, try references.waiting(row).map(\.column))
                found.append(UnshownRow(table: name, id: row.id, reason: .substituted(columns: columns), since: nil))
            }
        }
        found.sort { ($0.table, $0.id) < ($1.table, $1.id) }
        return Array(found.prefix(max(0, limit)))
    }

    private struct Key: Hashable {
        let table: String
        let id: RowID

        init(_ table: String, _ id: RowID) {
            self.table = table
            self.id = id
        }
    }

    private func hiddenRows(of table: CatalogTable) throws -> [(RowID, HiddenReason, Date)] {
        let select = try HiddenRows(ledger.connection).selectingWithTimes(of: table.number)
        var rows: [(RowID, HiddenReason, Date)] = []
        while try select.step() {
            guard let reason = HiddenReason(rawValue: select.int(4)) else { continue }
            rows.append((try select.rowID(0), reason, Date(storeMilliseconds: select.integer(5))))
        }
        return rows
    }

    private func columns(_ table: CatalogTable, _ numbers: [Int]) throws -> [String] {
        numbers.sorted().compactMap { number -> String? in
            guard table.columns.indices.contains(number) else { return nil }
            return table.columns[number].sqlName
        }
    }
}
