import KithCausality
import KithSQLite
import KithSync

extension StoredRow {
    /// Whether the column has no write: then the app's table shows its default.
    package func isAbsent(_ column: Int) -> Bool { exceptions[column].map(\.dots.isEmpty) ?? (column >= baseColumns) }

    /// Adopts the default that a set, counter or text shows, before its first change: without it, other devices could not tell what it
    /// began with. One that shows nothing begins with nothing.
    package mutating func findDefault(
        of column: Int, _ kind: ColumnKind, showing value: ColumnValue, _ stamp: Stamp, _ connection: DatabaseConnection
    ) throws {
        guard isAbsent(column), kind != .register, !value.isNothing(kind) else { return }
        exceptions[column] = try Cell(found: value, kind, stamp.adopted, connection)
    }
}

extension ColumnValue {
    /// Whether a set, counter or text shows this if it begins with nothing.
    fileprivate func isNothing(_ kind: ColumnKind) -> Bool {
        switch kind {
        case .counter: integer == 0
        case .text: utf8?.isEmpty ?? true
        case .set: utf8.map { $0 == Array("[]".utf8) } ?? true
        case .register: false
        }
    }
}

extension Cell {
    /// What was found in the app's table, which shows it.
    package init(found value: ColumnValue, _ kind: ColumnKind, _ stamp: Stamp, _ connection: DatabaseConnection) throws {
        switch kind {
        case .register: self = .register(RegisterState(writes: [Write(stamp: stamp, value: value)]))
        case .set: self = .set(SetState(try SetText.elements(of: value, connection), stamp: stamp))
        case .counter: self = .counter(CounterState(value.integer, stamp: stamp))
        case .text:
            var text = TextState(value.utf8, stamp: stamp)
            text.text = nil
            self = .text(text)
        }
    }
}
