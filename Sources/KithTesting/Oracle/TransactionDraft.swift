/// A user's transaction that is not committed yet, as the oracle follows it.
struct TransactionDraft {
    private let ledger: Ledger
    /// As the user's version of the app knows them.
    private let tables: [WorkloadTable]
    private let event: EventID
    private let knowledge: (RowKey) -> Knowledge
    private var rows: [RowKey: RowDraft] = [:]
    /// In the order in which the transaction came to them.
    private var order: [RowKey] = []
    private var saved: [RowKey: RowDraft] = [:]

    init(ledger: Ledger, tables: [WorkloadTable], event: EventID, knowledge: @escaping (RowKey) -> Knowledge) {
        self.ledger = ledger
        self.tables = tables
        self.event = event
        self.knowledge = knowledge
    }

    mutating func savepoint() {
        saved = rows
    }

    mutating func undo() {
        rows = saved
    }

    /// What the statement must do; `nil` if there is no such table.
    mutating func perform(_ write: RowWrite, _ edit: TextEdit? = nil) -> Bool? {
        guard let key = key(write) else { return nil }
        if rows[key] == nil {
            let seen = knowledge(key)
            rows[key] = RowDraft(tables[key.table], ledger.view(key, seenBy: seen), event: event, seen: seen)
            if !order.contains(key) { order.append(key) }
        }
        return rows[key]?.perform(tables[key.table].known(of: write), edit)
    }

    /// What the transaction did, row by row.
    var effects: [(RowKey, RowEffect)] {
        order.compactMap { key in rows[key].map { (key, $0.effect()) } }.filter { !$0.1.isEmpty }
    }

    func describe(_ write: RowWrite) -> String {
        key(write).flatMap { rows[$0] }?.isVisible == true ? "sees" : "does not see"
    }

    private func key(_ write: RowWrite) -> RowKey? {
        tables.firstIndex { $0.isKnown && $0.name.utf8.elementsEqual(write.table.utf8) }.map { RowKey(table: $0, row: write.row) }
    }
}
