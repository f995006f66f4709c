import KithCausality
import KithSync

/// A user's transaction that is not committed yet, as the oracle follows it.
struct TransactionDraft {
    private let ledger: Ledger
    /// As the user's version of the app knows them.
    private let tables: [WorkloadTable]
    private let event: EventID
    private let known: NodeKnowledge
    /// Rows of which the store kept nothing when the transaction began.
    private let withoutPast: Set<RowKey>
    /// What columns of a deleted row showed when it went, by the store; `nil` if it is not deleted.
    private let trashed: (RowKey) throws -> [String: ColumnValue]?
    /// Which rows of tables that refer to each other are shown; made when it is needed.
    private var references: ReferenceRule?
    private var rows: [RowKey: RowDraft] = [:]
    /// In the order in which the transaction came to them.
    private var order: [RowKey] = []
    private var saved: [RowKey: RowDraft] = [:]

    init(
        ledger: Ledger, tables: [WorkloadTable], event: EventID, known: NodeKnowledge, withoutPast: Set<RowKey> = [],
        trashed: @escaping (RowKey) throws -> [String: ColumnValue]? = { _ in nil }
    ) {
        self.ledger = ledger
        self.tables = tables
        self.event = event
        self.known = known
        self.withoutPast = withoutPast
        self.trashed = trashed
    }

    mutating func savepoint() {
        saved = rows
    }

    mutating func undo() {
        rows = saved
    }

    /// What the statement must do; `nil` if there is no such table.
    ///
    /// - Parameter outcome: what it did: which characters it typed, and whether it took effect, where that is SQLite's to say.
    mutating func perform(_ write: RowWrite, _ outcome: WriteOutcome? = nil) throws -> Bool? {
        guard let key = key(write) else { return nil }
        _ = load(key)
        let write = tables[key.table].known(of: write)
        if tables[key.table].isRelated { return try performRelated(write, key, outcome) }
        return rows[key]?.perform(write, outcome?.edit)
    }

    /// The row as the transaction has left it.
    private mutating func load(_ key: RowKey) -> RowDraft {
        if let draft = rows[key] { return draft }
        let seen = known.of(key)
        var draft = RowDraft(
            tables[key.table], ledger.view(key, seenBy: seen), event: event, seen: seen, hasPast: !withoutPast.contains(key))
        if tables[key.table].isRelated {
            let rule = references ?? ledger.references(tables, known)
            references = rule
            draft = RowDraft(
                tables[key.table], draft.view, event: event, seen: seen, isShown: rule.isShown(key),
                standIns: rule.standIns(key, parent: ledger.key))
        }
        rows[key] = draft
        if !order.contains(key) { order.append(key) }
        return draft
    }

    /// What the statement must do: `false` if there is no such table.
    ///
    /// - Parameter positions: what it wrote, where that is the store's to say.
    mutating func perform(_ pair: RowPair, of node: Int, positions: [Int: ColumnValue] = [:]) throws -> Bool {
        guard let index = tables.firstIndex(where: { $0.isKnown && $0.name == pair.table }),
            let column = tables[index].column(named: pair.column)
        else { return false }
        func write(_ verb: RowWrite.Verb, _ row: Int, _ value: ColumnValue) -> RowWrite {
            RowWrite(verb, pair.table, row, [Assignment(pair.column, Literal(value))])
        }
        switch pair.verb {
        case .move:
            for (row, amount) in [(pair.first, -pair.amount), (pair.second, pair.amount)] {
                let isThere = load(RowKey(table: index, row: row)).isVisible
                _ = try perform(write(isThere ? .count : .insert, row, .integer(Int64(amount))))
            }
        case .place:
            if !load(RowKey(table: index, row: pair.first)).isVisible { _ = try perform(RowWrite(.insert, pair.table, pair.first)) }
            for (row, position) in positions.sorted(by: { $0.key < $1.key }) { _ = try perform(write(.update, row, position)) }
        case .relink:
            let rows = (0..<Ring.size).map { Ring.row($0, of: node) }
            let drafts = rows.map { load(RowKey(table: index, row: $0)) }
            var ring = Ring(of: node, tables[index], values: drafts.map { $0.isVisible ? $0.view.shown(tables[index])[column] : nil })
            let verb = ring.isThere ? RowWrite.Verb.update : .upsert
            for item in ring.change(pair) { _ = try perform(write(verb, rows[item], ring.value(of: item, of: node, tables[index]))) }
        }
        return true
    }

    // MARK: References

    /// A statement on a table that refers to others or is referred to: SQLite's own rule, statement by statement.
    private mutating func performRelated(_ write: RowWrite, _ key: RowKey, _ outcome: WriteOutcome?) throws -> Bool {
        let before = rows
        guard let wasThere = rows[key]?.isVisible else { return false }
        let isReplaced = write.verb == .replace || write.verb == .rewrite
        if wasThere, write.verb == .delete || isReplaced {
            switch try removal(of: key, isReplaced: isReplaced) {
            case nil: return false
            case .some(let isSure):
                if !isSure, outcome?.tookEffect == false {
                    rows = before
                    return false
                }
            }
        }
        if write.verb == .delete, wasThere { return true }
        guard rows[key]?.perform(write, outcome?.edit) == true else {
            rows = before
            return false
        }
        let mayRefer = tables[key.table].defersReferences && outcome?.tookEffect == true
        guard mayRefer || refersToWhatIsThere(key, since: isReplaced ? nil : before[key]) else {
            rows = before
            return false
        }
        return true
    }

    /// Deletes a row, unless it is only replaced, with all that must go with it.
    ///
    /// - Returns: `nil` if a row that stays forbids it; else whether that is sure: whether a row forbids its parent's deletion that goes
    ///   with it is a matter of the order in which SQLite does things.
    private mutating func removal(of key: RowKey, isReplaced: Bool) throws -> Bool? {
        let before = rows
        var gone: [RowKey] = [key]
        var isSure = true
        var index = 0
        while index < gone.count {
            let row = gone[index]
            for (child, action) in children(of: row) where child != row {
                if case .cascade = action, !gone.contains(child) { gone.append(child) }
            }
            index += 1
        }
        for row in gone {
            for (child, action) in children(of: row) where child != row {
                switch action {
                case .restrict where gone.contains(child): isSure = false
                case .restrict:
                    rows = before
                    return nil
                case .noAction where tables[child.table].defersReferences: isSure = false
                case .noAction where !gone.contains(child) && !(isReplaced && row == key):
                    rows = before
                    return nil
                case .cascade, .noAction, .setNull, .setDefault: break
                }
            }
        }
        for row in gone {
            for (child, action, column) in columns(referringTo: row) {
                let name = tables[child.table].columns[column].name
                // A row that refers to itself is gone with its reference before SQLite looks for such rows.
                let stays = !gone.contains(child) || (isReplaced && child == key && row != key)
                func set(_ value: ColumnValue) throws {
                    // Whether SQLite sets a reference of a row that goes as well, before that goes, is a matter of the order in which it does
                    // things: https://www.sqlite.org/foreignkeys.html names none.
                    guard try stays || trashed(child)?[name] == value else { return }
                    _ = rows[child]?.perform(RowWrite(.update, tables[child.table].name, child.row, [Assignment(name, Literal(value))]))
                }
                switch action {
                case .setNull: try set(.null)
                case .setDefault(let value): try set(value)
                case .cascade, .restrict, .noAction: break
                }
            }
        }
        for row in gone where !(isReplaced && row == key) {
            _ = rows[row]?.perform(RowWrite(.delete, tables[row.table].name, row.row))
        }
        return isSure
    }

    private mutating func children(of key: RowKey) -> [(RowKey, WorkloadReference.Action)] {
        columns(referringTo: key).map { ($0.0, $0.1) }
    }

    /// The columns of rows that are there in which this row stands.
    private mutating func columns(referringTo key: RowKey) -> [(RowKey, WorkloadReference.Action, Int)] {
        let id = tables[key.table].key(of: key.row)
        var result: [(RowKey, WorkloadReference.Action, Int)] = []
        for child in ledger.rows + order.filter({ !ledger.rows.contains($0) })
        where tables[child.table].isRelated && tables[child.table].isKnown {
            let references = tables[child.table].columns.indices.filter { column in
                tables[child.table].columns[column].isKnown && tables[child.table].columns[column].reference?.parent == key.table
            }
            if references.isEmpty { continue }
            let draft = load(child)
            if !draft.isVisible { continue }
            let shown = draft.shown
            for column in references where shown[column] == id {
                if let reference = tables[child.table].columns[column].reference { result.append((child, reference.action, column)) }
            }
        }
        return result
    }

    /// Whether the references that a statement has changed name rows that are there.
    private mutating func refersToWhatIsThere(_ key: RowKey, since before: RowDraft?) -> Bool {
        guard let draft = rows[key] else { return true }
        let old = before?.isVisible == true ? before?.shown : nil
        let new = draft.shown
        for (index, column) in tables[key.table].columns.enumerated() where column.isKnown {
            guard let reference = column.reference, new[index] != .null, old?[index] != new[index] else { continue }
            guard let parent = ledger.key(reference.parent, new[index], orOneOf: order) else { return false }
            if parent != key, !load(parent).isVisible { return false }
        }
        return true
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
