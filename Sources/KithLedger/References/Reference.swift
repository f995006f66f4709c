import KithCausality
import KithSync

/// What becomes of a row whose parent is not shown.
package enum ReferenceRule: Sendable, Equatable {
    /// It is not shown either.
    case cascade
    /// The parent is shown again, if it is known; else the row waits for it.
    case restrict
    /// The column shows this row's id if that is shown, or NULL.
    case substitute(RowID?)
}

/// A foreign key from a column of one tracked table to the rows of another.
package struct Reference: Sendable {
    package let child: Int
    package let parent: Int
    /// Number of the column, and its place among the child's tracked columns.
    package let column: Int
    package let position: Int
    /// The column as an SQL identifier.
    package let name: String
    /// How the column names a row of the parent.
    package let parentForm: KeyForm
    package let rule: ReferenceRule

    package init(child: Int, parent: Int, column: Int, position: Int, name: String, parentForm: KeyForm = .blob, rule: ReferenceRule) {
        self.child = child
        self.parent = parent
        self.column = column
        self.position = position
        self.name = name
        self.parentForm = parentForm
        self.rule = rule
    }

    /// What the column shows in place of a parent that is not there, as it stands in the table.
    package var substituteValue: ColumnValue? { substitute.map(parentForm.value) }

    /// The row that a value of the column names.
    package func row(named value: ColumnValue) -> RowKey? {
        parentForm.id(of: value).map { RowKey(table: parent, id: $0) }
    }

    /// Whether a row is only shown together with its parent.
    package var isHard: Bool { rule == .cascade || rule == .restrict }
    /// What the column shows in place of a parent that is not there, if that is.
    package var substitute: RowID? { if case .substitute(let id) = rule { id } else { nil } }

    /// As the sidecar keeps it, to tell when it changes.
    package var signature: String {
        let rule =
            switch rule {
            case .cascade: "cascade"
            case .restrict: "restrict"
            case .substitute(let id): id?.description ?? "null"
            }
        return "\(column)>\(parent) \(rule)" + (parentForm == .blob ? "" : " by \(parentForm.rawValue)")
    }
}

/// A row by table and id.
package struct RowKey: Hashable, Comparable {
    package let table: Int
    package let id: RowID

    package init(table: Int, id: RowID) {
        self.table = table
        self.id = id
    }

    package static func < (left: RowKey, right: RowKey) -> Bool {
        left.table == right.table ? left.id < right.id : left.table < right.table
    }
}

extension Catalog {
    /// Notes which tracked tables refer to which, as they are declared.
    package mutating func connect(_ declared: [Declarations.Table]) {
        var (references, referrers): ([Int: [Reference]], [Int: [Reference]]) = ([:], [:])
        for table in declared {
            guard let child = self.table(named: Array(table.name.utf8)), let tracked = child.tracked else { continue }
            for reference in table.references {
                guard let parent = self.table(named: Array(reference.parent.utf8)), let parentTracked = parent.tracked,
                    let position = tracked.columns.firstIndex(where: { child.columns[$0].sqlName == reference.column })
                else { continue }
                let reference = Reference(
                    child: child.number, parent: parent.number, column: tracked.columns[position], position: position,
                    name: tracked.names[position], parentForm: parentTracked.form, rule: reference.rule)
                references[child.number, default: []].append(reference)
                referrers[parent.number, default: []].append(reference)
            }
        }
        if references.isEmpty { return }
        let brought = Self.brought(references)
        for number in tables.indices where references[number] != nil || referrers[number] != nil {
            tables[number].tracked = tables[number].tracked?.related(
                references[number] ?? [], referrers[number] ?? [], mayBeBrought: brought.contains(number))
        }
    }

    /// The tables of which rows may be shown for the sake of others, and with them all that they refer to.
    private static func brought(_ references: [Int: [Reference]]) -> Set<Int> {
        var brought: Set<Int> = []
        var stack = references.values.joined().filter { $0.rule == .restrict }.map(\.parent)
        while let table = stack.popLast() {
            guard brought.insert(table).inserted else { continue }
            stack += references[table]?.filter(\.isHard).map(\.parent) ?? []
        }
        return brought
    }
}

extension CatalogTable.Tracked {
    /// Whether rows of this table can depend on others, or others on them.
    package var isRelated: Bool { !references.isEmpty || !referrers.isEmpty }
    package var hasSubstitutes: Bool { references.contains { !$0.isHard } }
}
