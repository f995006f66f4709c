import KithSync

/// What a node must show that has seen so much.
struct Expectation {
    private let ledger: Ledger
    /// As the node's version of the app knows them.
    private let tables: [WorkloadTable]
    private let known: NodeKnowledge
    /// Made when a row is asked for whose table refers to others, or is referred to.
    private var references: ReferenceRule?

    init(_ ledger: Ledger, _ tables: [WorkloadTable], _ known: NodeKnowledge) {
        self.ledger = ledger
        self.tables = tables
        self.known = known
    }

    /// What is known of the row, and the values it shows; `nil` if it is not shown.
    mutating func row(_ key: RowKey) -> (view: RowView, values: [ColumnValue]?) {
        let view = ledger.view(key, seenBy: known.of(key))
        let table = tables[key.table]
        guard table.isRelated else { return (view, view.isVisible(table.deletePolicy) ? view.shown(table) : nil) }
        let rule = references ?? ledger.references(tables, known)
        references = rule
        guard rule.isShown(key) else { return (view, nil) }
        var values = view.shown(table)
        for (column, value) in rule.standIns(key, parent: ledger.key) { values[column] = value }
        return (view, values)
    }
}
