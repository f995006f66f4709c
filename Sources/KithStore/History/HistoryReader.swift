import Foundation
import KithCausality
import KithLedger
import KithSQLite
import KithSync

/// Makes of the journal what an app sees.
struct HistoryReader {
    let ledger: RowLedger
    let records: JournalRecords
    private let authors: Authors

    init(_ ledger: RowLedger) throws {
        self.ledger = ledger
        records = JournalRecords(ledger: ledger)
        authors = try Authors(ledger: ledger)
    }

    /// The number of the transaction that a token names; 0 for the beginning.
    ///
    /// - Parameter tables: the tables of which no change after the token may be forgotten; `nil` for all.
    /// - Throws: ``StoreError`` with code `tokenExpired`, or `notFound` if the token is another file's.
    func number(_ token: HistoryToken?, for tables: Set<String>? = nil) throws -> Int64 {
        guard let token else { return 0 }
        let number = try knownNumber(token)
        let forgotten = ForgottenChanges(ledger.connection)
        let marks = try ledger.catalog.tables.compactMap { table -> Int64? in
            guard tables?.contains(String(decoding: table.name, as: UTF8.self)) ?? true else { return nil }
            return try forgotten.number(of: table.number)
        }
        if let last = marks.max(), number < last { throw Self.expired }
        // An earlier version leaves no mark of what it forgets.
        if tables == nil || marks.isEmpty, let oldest = try records.bounds()?.lowerBound, number < oldest - 1 { throw Self.expired }
        return number
    }

    /// The number of the transaction that a token names, whatever is left of those that came later.
    func knownNumber(_ token: HistoryToken) throws -> Int64 {
        if let entry = try records.entry(token.number) {
            guard replica(entry.replica) == token.replica else { throw Self.foreign }
            return token.number
        }
        guard let known = try self.token(token.number) else { throw Self.foreign }
        // The journal has forgotten the transaction, and with it whether a token of another replica came from this file.
        guard known == token else { throw Self.expired }
        return token.number
    }

    /// The token of a transaction, also of one that is no longer kept; `nil` if it is none before the newest.
    func token(_ number: Int64) throws -> HistoryToken? {
        if let entry = try records.entry(number) { return token(entry) }
        return try records.entries(after: number, max: 1).first.map { next in
            HistoryToken(replica: replica(next.replica), number: number)
        }
    }

    func token(_ entry: JournalRecords.Entry) -> HistoryToken {
        HistoryToken(replica: replica(entry.replica), number: entry.number)
    }

    private func replica(_ number: Int) -> String {
        let ids = ledger.catalog.replicas.ids
        return ids.indices.contains(number) ? ids[number].description : ""
    }

    private static let expired = StoreError(
        .tokenExpired,
        "What this token stands for is no longer in the journal, so changes after it may be missing. Read everything anew, and go on with the newest token. A named cursor keeps changes longer."
    )
    private static let foreign = StoreError(
        .notFound,
        "This token is of another file, or of one that was restored since. Read everything anew, and go on with the newest token.")

    /// - Parameter isWanted: asked by table.
    func transaction(_ entry: JournalRecords.Entry, _ isWanted: (String) -> Bool) throws -> HistoryTransaction {
        let changes = try records.changes(of: entry.number).compactMap { change -> HistoryChange? in
            guard let name = name(of: change.row.table), isWanted(name) else { return nil }
            return self.change(change, entry, name)
        }
        return HistoryTransaction(
            token: token(entry), date: Date(timeIntervalSince1970: Double(entry.milliseconds) / 1_000),
            origin: entry.process.map { .process($0) } ?? .merge, author: entry.label.author, changes: changes)
    }

    func name(of table: Int) -> String? {
        ledger.catalog[table].map { String(decoding: $0.name, as: UTF8.self) }
    }

    func change(_ change: JournalChange, _ entry: JournalRecords.Entry, _ table: String) -> HistoryChange {
        var columns: [String: HistoryChange.Column] = [:]
        for (number, content) in change.columns {
            guard let column = ledger.catalog[change.row.table]?.columns[checked: number] else { continue }
            if change.kind == .delete, case .values(.null, _) = content { continue }
            let name = column.sqlName ?? String(decoding: column.key.name, as: UTF8.self)
            columns[name] =
                switch content {
                case .values(let old, let new): .value(old: old, new: new)
                case .splice(let place, let removed, let inserted):
                    .text(
                        offset: place, removed: String(decoding: removed, as: UTF8.self),
                        inserted: String(decoding: inserted, as: UTF8.self))
                }
        }
        return HistoryChange(
            table: table, row: change.row.id, kind: [.insert, .update, .delete][change.kind.rawValue], columns: columns,
            device: device(change, entry))
    }

    func author(_ replica: ReplicaID) -> Author { authors[replica] }

    func device(_ change: JournalChange, _ entry: JournalRecords.Entry) -> Author? {
        if entry.process != nil { return .own }
        guard let replica = change.replica, ledger.catalog.replicas.ids.indices.contains(replica) else { return nil }
        return authors[ledger.catalog.replicas.ids[replica]]
    }

    /// Who wrote the value that a column shows; `nil` of what is no register, and if the row is not there.
    func writer(of row: RowKey, column: Int) throws -> Author? {
        guard case .register(let register)? = try state(of: row)?[column] else { return nil }
        return register.shown.map { authors[$0.stamp.dot.replica] }
    }

    /// The author beside `devices` who wrote the same value into a row that is shown as one of these did, without having seen it; `nil` if
    /// there is none. A merge that shows nothing new is not in the journal.
    func author(ofSameAs devices: Set<Author>, in row: RowKey) throws -> Author? {
        for entry in try state(of: row)?.cells ?? [] {
            guard case .register(let register) = entry.cell, register.writes.count > 1 else { continue }
            let parts = Dictionary(grouping: register.writes.filter { !$0.stamp.isAdopted }) {
                devices.contains(authors[$0.stamp.dot.replica])
            }
            let same = parts[false]?.first { other in parts[true]?.contains { $0.value == other.value } ?? false }
            if let same { return authors[same.stamp.dot.replica] }
        }
        return nil
    }

    /// What a row that is shown holds.
    private func state(of row: RowKey) throws -> RowState? {
        guard let table = ledger.catalog[row.table], let tracked = table.tracked,
            let visible = try UserTable(connection: ledger.connection, table: table, tracked: tracked).find(row.id),
            let stored = try ledger.storedRow(row.table, row: visible.row)
        else { return nil }
        return try stored.state(tracked, values: visible.values) { try SetText.elements(of: $0, ledger.connection) }
    }
}

extension Array {
    /// The element there; `nil` where there is none.
    subscript(checked index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
