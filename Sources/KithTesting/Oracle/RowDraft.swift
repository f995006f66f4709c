import KithSync

/// A row within a transaction that is not committed yet: what its user sees, statement by statement.
struct RowDraft {
    let table: WorkloadTable
    /// The commit under way.
    let event: EventID
    /// What the author has seen of the row.
    let seen: Knowledge
    private let before: RowView
    private(set) var view: RowView
    /// Of tables that refer to others, or are referred to: whether the row is there for its user, whatever its own state says.
    private var isShown: Bool?
    /// Whether the store keeps what the row was in an earlier life.
    private let hasPast: Bool
    /// What columns show in place of rows that are not there.
    private var standIns: [Int: ColumnValue]

    init(
        _ table: WorkloadTable, _ view: RowView, event: EventID, seen: Knowledge, isShown: Bool? = nil, standIns: [Int: ColumnValue] = [:],
        hasPast: Bool = true
    ) {
        self.table = table
        self.event = event
        self.seen = seen
        before = view
        self.view = view
        self.isShown = isShown
        self.standIns = standIns
        self.hasPast = hasPast
    }

    var isVisible: Bool { isShown ?? view.isVisible(table.deletePolicy) }

    /// What its user sees in each column.
    var shown: [ColumnValue] {
        var values = view.shown(table)
        for (column, value) in standIns { values[column] = value }
        return values
    }

    // MARK: Statements

    /// What the statement must do: `false` if it fails or finds no row.
    ///
    /// - Parameter edit: what it has typed and deleted, if it edits a text.
    mutating func perform(_ write: RowWrite, _ edit: TextEdit? = nil) -> Bool {
        let given = write.assignments.compactMap { assignment in
            table.column(named: assignment.column).map { (column: $0, value: assignment.value.value.stored) }
        }
        switch write.verb {
        case .insert, .upsert, .replace:
            // SQLite looks at NOT NULL first.
            if lacksValue(given) { return false }
        default: break
        }
        switch write.verb {
        case .insert:
            if isVisible { return false }
            begin(given)
        case .upsert:
            if isVisible { save(given) } else { begin(given) }
        case .replace:
            if isVisible { save(wholeRow(given)) } else { begin(given) }
        case .update, .rewrite:
            if !isVisible { return false }
            save(given)
        case .resolve:
            if !isVisible { return false }
            for (column, value) in given { view.columns[column] = .register([written(value)]) }
            view.deletions = []
        case .delete:
            if !isVisible { return false }
            var known = seen
            known.insert(event)
            view.deletions = [RowView.Deletion(event: event, seen: known)]
            if isShown != nil { isShown = false }
        case .add, .remove, .count:
            if !isVisible { return false }
            save(given.compactMap { column, value in changed(column, write.verb, value).map { (column, $0) } })
        case .type, .erase, .save:
            if !isVisible { return false }
            guard let edit, case .text(var text)? = given.first.map({ view.columns[$0.column] }) else { break }
            if text.apply(edit, event) {
                view.columns[given[0].column] = .text(text)
                view.deletions = []
            }
        case .open:
            return isVisible
        }
        return true
    }

    /// Whether a column has no value that must have one.
    private func lacksValue(_ given: [(column: Int, value: ColumnValue)]) -> Bool {
        table.columns.enumerated().contains { index, column in
            column.isKnown && !column.isNullable && column.defaultValue == .null && !given.contains { $0.column == index }
        }
    }

    private func wholeRow(_ given: [(column: Int, value: ColumnValue)]) -> [(column: Int, value: ColumnValue)] {
        table.columns.indices.filter { table.columns[$0].isKnown }.map { column in
            (column, given.last { $0.column == column }?.value ?? table.columns[column].defaultValue)
        }
    }

    /// A new life: nothing of what was known of the row remains.
    private mutating func begin(_ given: [(column: Int, value: ColumnValue)]) {
        if isShown != nil { isShown = true }
        standIns = [:]
        for (column, value) in wholeRow(given) {
            switch view.columns[column] {
            case .register:
                view.columns[column] = .register([written(value)])
            case .set(_, let touched):
                view.columns[column] = .set(Self.elements(of: value).map { .init(json: $0, events: [event]) }, touched: touched + [event])
            case .counter(var counter):
                counter.begin(with: Self.number(value), event)
                view.columns[column] = .counter(counter)
            case .text(let text):
                view.columns[column] = .text(text.replaced(by: value, event))
            }
        }
        for column in table.columns.indices where !table.columns[column].isKnown {
            if hasPast { writeAnew(column) } else { forget(column) }
        }
        view.deletions = []
    }

    /// A column that this version of the app does not know keeps what it showed in the row's new life, as written by who began that:
    /// the old life may be thrown away for good.
    private mutating func writeAnew(_ column: Int) {
        switch view.columns[column] {
        case .register(let writes):
            guard let winner = RowView.winner(writes) else { return }
            view.columns[column] = .register([written(winner.value)])
        case .set(let elements, let touched):
            if touched.isEmpty, elements.isEmpty { return }
            view.columns[column] = .set(elements.map { .init(json: $0.json, events: [event]) }, touched: touched + [event])
        case .counter(var counter):
            if counter.touched.isEmpty, counter.found.isEmpty { return }
            counter.writeAnew(event)
            view.columns[column] = .counter(counter)
        case .text:
            return
        }
    }

    /// A column that this version of the app does not know has nothing in the row's new life, if the old one was collected. What a counter
    /// counted is kept for good.
    private mutating func forget(_ column: Int) {
        switch view.columns[column] {
        case .register: view.columns[column] = .register([])
        case .set(let elements, let touched):
            if touched.isEmpty, elements.isEmpty { return }
            view.columns[column] = .set([], touched: touched + [event])
        case .counter: writeAnew(column)
        case .text: return
        }
    }

    /// A plain save: columns that change, and of their concurrent writes only those of the value that was shown.
    private mutating func save(_ given: [(column: Int, value: ColumnValue)]) {
        var hasChanged = false
        let shown = shown
        for (column, value) in given {
            switch view.columns[column] {
            case .register(let writes):
                if shown[column] == value { continue }
                let winner = RowView.winner(writes)?.value
                view.columns[column] = .register(writes.filter { $0.value != winner && $0.event != event } + [written(value)])
                standIns[column] = nil
            case .set(let old, let touched):
                let wanted = Self.elements(of: value)
                if wanted == old.map(\.json) { continue }
                let new = wanted.map { json in old.first { $0.json == json } ?? .init(json: json, events: [event]) }
                view.columns[column] = .set(new, touched: touched + [event])
            case .counter(var counter):
                if Self.number(value) == counter.value { continue }
                counter.save(Self.number(value), event)
                view.columns[column] = .counter(counter)
            case .text(let text):
                if shown[column] == TextView.normal(value) { continue }
                view.columns[column] = .text(text.replaced(by: value, event))
            }
            hasChanged = true
        }
        if hasChanged { view.deletions = [] }
    }

    private func changed(_ column: Int, _ verb: RowWrite.Verb, _ value: ColumnValue) -> ColumnValue? {
        switch (view.columns[column], verb) {
        case (.set(let elements, _), .add):
            let json = Self.json(value)
            return .text(RowView.text(Self.sorted(elements.map(\.json) + [json])))
        case (.set(let elements, _), .remove):
            let json = Self.json(value)
            return .text(RowView.text(elements.map(\.json).filter { $0 != json }))
        case (.counter(let counter), .count):
            return .integer(counter.value &+ Self.number(value))
        default:
            return nil
        }
    }

    /// A write of this commit, later than everything its author has seen.
    private func written(_ value: ColumnValue) -> RowView.RegisterWrite {
        RowView.RegisterWrite(event: event, stamp: .latest, value: value)
    }

    // MARK: Values

    private static func number(_ value: ColumnValue) -> Int64 {
        if case .integer(let number) = value { number } else { 0 }
    }

    /// A text as JSON. Scripts only put strings into sets that need no escapes.
    static func json(_ value: ColumnValue) -> [UInt8] {
        guard case .text(let bytes) = value else { return Array("null".utf8) }
        return Array("\"".utf8) + bytes + Array("\"".utf8)
    }

    private static func sorted(_ elements: [[UInt8]]) -> [[UInt8]] {
        var result: [[UInt8]] = []
        for json in elements.sorted(by: { $0.lexicographicallyPrecedes($1) }) where result.last != json { result.append(json) }
        return result
    }

    /// The elements of a JSON array of plain strings, sorted.
    static func elements(ofArray text: [UInt8]) -> [[UInt8]] {
        let items = text.dropFirst().dropLast().split(separator: UInt8(ascii: ","))
        return sorted(items.map { Array($0.drop { $0 == UInt8(ascii: " ") }) })
    }

    static func elements(of value: ColumnValue) -> [[UInt8]] {
        if case .text(let bytes) = value { elements(ofArray: bytes) } else { [] }
    }

    // MARK: The result

    /// What the transaction did to the row as a whole.
    func effect() -> RowEffect {
        let changes = view.columns.indices.map { change(before.columns[$0], view.columns[$0]) }
        let own = view.deletions.first { $0.event == event }
        let revoked = before.deletions.map(\.event).filter { old in !view.deletions.contains { $0.event == old } }
        return RowEffect(
            event: event, stamp: .latest, changes: changes, deletion: own?.seen, revoked: revoked)
    }

    private func change(_ before: RowView.Column, _ after: RowView.Column) -> RowEffect.Change? {
        switch (before, after) {
        case (.register(let old), .register(let new)):
            let replaced = old.map(\.event).filter { event in !new.contains { $0.event == event } }
            let own = new.first { $0.event == event }
            return own == nil && replaced.isEmpty ? nil : .register(wrote: own?.value, replaced: replaced)
        case (.set(let old, _), .set(let new, let touched)):
            let added = new.filter { $0.events.contains(event) }.map(\.json)
            let removed = old.flatMap { element in
                let kept = new.first { $0.json == element.json }?.events ?? []
                return element.events.filter { !kept.contains($0) }.map { (json: element.json, event: $0) }
            }
            return touched.contains(event) ? .set(added: added, removed: removed) : nil
        case (.counter(let old), .counter(let new)):
            return new.change(since: old, by: event)
        case (.text(let old), .text(let new)):
            return new.touched.contains(event) ? .text(TextEffect(from: old, to: new, event)) : nil
        default:
            return nil
        }
    }
}
