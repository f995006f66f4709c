import GRDB
import KithLedger
import KithSQLite
import KithSync

/// Why a column shows what it shows: ``SyncedDatabase/explain(table:id:column:)-(_,UUID,_)``.
public struct Explanation: Hashable, Sendable {
    /// A write of the column.
    public struct Version: Hashable, Sendable {
        /// What it wrote.
        public let value: ColumnValue
        /// By which commit, and when.
        public let stamp: Stamp
        /// Who wrote it, as far as is known.
        public let author: Author
        /// Why it is shown, or is not.
        public let reason: Reason
    }

    /// Why a write is shown, or another one is in its place.
    public enum Reason: String, Codable, Hashable, Sendable {
        /// It is the only write that nobody has replaced.
        case only
        /// It is the latest of those that were made at the same time.
        case latest
        /// A later one is shown.
        case earlier
        /// Written in the same instant as the one that is shown, which comes first by the ids of the stores.
        case comesAfter
        /// It was found when the table was first tracked, and gives way to what was written, or was found earlier.
        case found
    }

    /// How the column's values come together.
    public let kind: ColumnKind
    /// What the column shows.
    public let shown: ColumnValue
    /// The write that is shown, and then those that are kept beside it. Empty if the column shows its default, or is a set, a counter or a
    /// text, which show all writes merged.
    public let versions: [Version]
    /// What became of the column, the newest first, as far as the journal of its table says; empty without one.
    public let history: [HistoryTransaction]
}

extension SyncedDatabase {
    /// Tells why a column of a visible row shows what it shows: who wrote it, what was written at the same time, and, with a journal,
    /// what was there before.
    ///
    /// - Throws: ``StoreError`` with code `notFound` if there is no such table, column or visible row.
    public func explain(table name: String, id: RowID, column: String) throws(StoreError) -> Explanation {
        try explain(nil, name, id, column)
    }

    /// The same as a part of what is open on `db`.
    public func explain(_ db: Database, table name: String, id: RowID, column: String) throws(StoreError) -> Explanation {
        try explain(db, name, id, column)
    }

    private func explain(_ db: Database?, _ name: String, _ id: RowID, _ column: String) throws(StoreError) -> Explanation {
        let history = try history(db, name, id, 1_000).filter { $0.changes.contains { $0.kind != .update || $0.columns[column] != nil } }
        return try read(in: db) { ledger in
            guard let (number, tracked) = ledger.tracked(name) else {
                throw StoreError(.notFound, "There is no tracked table \(name).")
            }
            let table = ledger.catalog.tables[number]
            guard let place = tracked.columns.firstIndex(where: { table.columns[$0].sqlName == column }) else {
                throw StoreError(.notFound, "Table \(name) has no tracked column \(column).")
            }
            let user = UserTable(connection: ledger.connection, table: table, tracked: tracked)
            guard let visible = try user.find(id), let stored = try ledger.storedRow(number, row: visible.row) else {
                throw StoreError(.notFound, "Table \(name) has no row \(id).")
            }
            let state = try stored.state(tracked, values: visible.values) { try SetText.elements(of: $0, ledger.connection) }
            var versions: [Explanation.Version] = []
            if case .register(let register)? = state[tracked.columns[place]] {
                versions = Self.versions(register, try Authors(ledger: ledger))
            }
            return Explanation(kind: tracked.kinds[place], shown: visible.values[place], versions: versions, history: history)
        }
    }

    private static func versions(_ register: RegisterState, _ authors: Authors) -> [Explanation.Version] {
        guard let shown = register.shown else { return [] }
        let others = register.alternatives
        func version(_ write: Write, _ reason: Explanation.Reason) -> Explanation.Version {
            Explanation.Version(value: write.value, stamp: write.stamp, author: authors[write.stamp.dot.replica], reason: reason)
        }
        return [version(shown, others.isEmpty ? .only : shown.stamp.isAdopted ? .found : .latest)]
            + others.map { other in
                let isTie = other.stamp.timestamp == shown.stamp.timestamp
                return version(other, other.stamp.isAdopted ? .found : isTie ? .comesAfter : .earlier)
            }
    }
}
