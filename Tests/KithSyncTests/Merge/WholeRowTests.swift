import KithCausality
import KithSync
import Testing

/// Risk: of a row that was sent whole, what its sender never had or let go of is taken for removed, or what was removed stays.
@Suite struct WholeRowTests {
    private static let replica = ReplicaID(high: 1, low: 1)
    private static let (first, second) = (Dot(replica: replica, sequence: 1), Dot(replica: replica, sequence: 2))
    private static let kinds: [ColumnKind] = [.register, .set, .text]

    private static func cell(_ kind: ColumnKind, _ dot: Dot) -> Cell {
        switch kind {
        case .register: .register(RegisterState(writes: [Write(stamp: Stamp(dot: dot, timestamp: .zero), value: .integer(1))]))
        case .set: .set(SetState(elements: [[0x31]], dot: dot))
        case .counter: .counter(CounterState(totals: [.init(dot: dot, amount: 1)]))
        case .text: .text(TextState(text: [0x31], stamp: Stamp(dot: dot, timestamp: .zero)))
        }
    }

    /// A row with a title in column 0 and a cell of `kind` in column 1 merges with one whose sender has only the title.
    private static func merged(_ kind: ColumnKind, _ incomplete: [Int], theirs: VersionVector) -> RowState {
        let title = RowState.Entry(column: 0, cell: cell(.register, first))
        var row = RowState(cells: [title, RowState.Entry(column: 1, cell: cell(kind, first))])
        let part = RowState(cells: [RowState.Entry(column: 0, cell: cell(.register, second))])
        row.merge(part, isWhole: true, incomplete: incomplete, knowing: VersionVector([first]), theirs: theirs)
        return row
    }

    @Test(arguments: kinds) func `a cell that its sender knew and has not is removed, but in an incomplete column`(kind: ColumnKind) {
        let theirs = VersionVector([Self.second])
        #expect(Self.merged(kind, [], theirs: theirs)[1] == nil)
        #expect(Self.merged(kind, [0], theirs: theirs)[1] == nil)
        #expect(Self.merged(kind, [1], theirs: theirs)[1] == Self.cell(kind, Self.first))
        for incomplete in [[], [0, 1]] {
            #expect(Self.merged(kind, incomplete, theirs: theirs)[0] == Self.cell(.register, Self.second))
        }
    }

    @Test(arguments: kinds + [.counter]) func `a cell that its sender did not know stays, and so does a counter`(kind: ColumnKind) {
        let theirs = kind == .counter ? VersionVector([Self.second]) : VersionVector()
        for incomplete in [[], [1]] { #expect(Self.merged(kind, incomplete, theirs: theirs)[1] == Self.cell(kind, Self.first)) }
    }
}
