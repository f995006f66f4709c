import KithSync

/// A foreign key of a workload's table.
struct WorkloadReference: Sendable {
    enum Action: Sendable {
        case cascade, restrict, noAction, setNull
        case setDefault(ColumnValue)

        /// Whether a row is only shown together with its parent.
        var isHard: Bool {
            switch self {
            case .cascade, .restrict, .noAction: true
            case .setNull, .setDefault: false
            }
        }

        /// Whether a row that is shown keeps its parent.
        var holdsParent: Bool {
            switch self {
            case .restrict, .noAction: true
            case .cascade, .setNull, .setDefault: false
            }
        }
    }

    /// Among the workload's tables.
    let parent: Int
    let action: Action
}

/// Which rows are shown where tables refer to each other: what docs/store.md says under "Foreign keys", from all that is known and
/// from scratch.
struct ReferenceRule {
    /// As the node's version of the app knows them.
    private let tables: [WorkloadTable]
    private let views: [RowKey: RowView]
    /// What the rows' references are, as they were written.
    private let parents: [RowKey: [(column: Int, action: WorkloadReference.Action, parent: RowKey?)]]
    private(set) var shown: Set<RowKey> = []

    /// - Parameter parent: the row of a table that a value names.
    init(_ tables: [WorkloadTable], _ views: [RowKey: RowView], parent: (_ table: Int, ColumnValue) -> RowKey?) {
        self.tables = tables
        // A row without contents can never be shown.
        self.views = views.filter { tables[$0.key.table].isKnown && $0.value.hasContents }
        parents = self.views.reduce(into: [:]) { parents, entry in
            let values = entry.value.shown(tables[entry.key.table])
            parents[entry.key] = tables[entry.key.table].columns.indices.compactMap { column in
                let column = (index: column, column: tables[entry.key.table].columns[column])
                guard column.column.isKnown, let reference = column.column.reference, values[column.index] != .null else { return nil }
                // There is no row that such a row could be shown with.
                if column.column.isRequired, entry.value.isUnwritten(column.index) { return (column.index, reference.action, nil) }
                return (column.index, reference.action, parent(reference.parent, values[column.index]))
            }
        }
        shown = shownRows()
    }

    func isShown(_ key: RowKey) -> Bool { shown.contains(key) }

    /// What columns of a shown row hold in place of a row that is not shown.
    func standIns(_ key: RowKey, parent: (_ table: Int, ColumnValue) -> RowKey?) -> [Int: ColumnValue] {
        var result: [Int: ColumnValue] = [:]
        for (column, action, target) in parents[key] ?? [] where !action.isHard {
            if let target, shown.contains(target) { continue }
            result[column] = .null
            if case .setDefault(let value) = action, let reference = tables[key.table].columns[column].reference,
                let row = parent(reference.parent, value), shown.contains(row)
            {
                result[column] = value
            }
        }
        return result
    }

    private func shownRows() -> Set<RowKey> {
        func targets(_ key: RowKey, _ isMeant: (WorkloadReference.Action) -> Bool) -> [RowKey?] {
            (parents[key] ?? []).filter { isMeant($0.action) }.map(\.parent)
        }
        let possible = largest(Set(views.keys)) { key, set in
            targets(key, \.isHard).allSatisfy { parent in parent.map { set.contains($0) } ?? false }
        }
        let alive = possible.filter { key in views[key]?.isVisible(tables[key.table].deletePolicy) ?? false }
        var brought: Set<RowKey> = []
        while true {
            let own = largest(alive) { key, set in
                targets(key) { if case .cascade = $0 { true } else { false } }
                    .allSatisfy { parent in parent.map { set.contains($0) || brought.contains($0) } ?? false }
            }
            var more = brought
            for key in own { more.formUnion(targets(key, \.holdsParent).compactMap(\.self)) }
            for key in brought { more.formUnion(targets(key, \.isHard).compactMap(\.self)) }
            if more == brought { return own.union(brought) }
            brought = more
        }
    }

    /// The largest part of `rows` in which `keep` holds for each.
    private func largest(_ rows: Set<RowKey>, _ keep: (RowKey, Set<RowKey>) -> Bool) -> Set<RowKey> {
        var rows = rows
        while true {
            let part = rows.filter { keep($0, rows) }
            if part.count == rows.count { return rows }
            rows = part
        }
    }
}
