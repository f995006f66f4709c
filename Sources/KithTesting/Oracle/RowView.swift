import KithCausality
import KithStore
import KithSync

/// What a row must be for somebody with a certain knowledge.
struct RowView {
    struct RegisterWrite {
        let event: EventID
        let stamp: Stamp
        let value: ColumnValue
    }

    struct Element {
        let json: [UInt8]
        var events: [EventID]
    }

    enum Column {
        /// The writes that nobody known has overwritten.
        case register([RegisterWrite])
        case set([Element], touched: [EventID])
        case counter(CounterView)
        case text(TextView)
    }

    struct Deletion {
        let event: EventID
        /// What of the row its author had seen.
        let seen: Knowledge
    }

    var columns: [Column]
    var deletions: [Deletion] = []
    /// The commits that found the row in a table, and did not write it.
    var adoptions: [EventID] = []

    init(_ table: WorkloadTable) {
        columns = table.columns.map { column in
            switch column.kind {
            case .register: .register([])
            case .text: .text(TextView())
            case .set: .set([], touched: [])
            case .counter: .counter(CounterView())
            }
        }
    }

    /// The commits that the row's cells carry and that wrote them.
    var liveEvents: [EventID] {
        columns.flatMap { column in
            switch column {
            case .register(let writes): writes.filter { !$0.stamp.isAdopted }.map(\.event)
            case .set(_, let touched): touched
            case .counter(let counter): counter.touched
            case .text(let text): text.touched
            }
        }
    }

    /// Whether anything is known of what the row holds.
    var hasContents: Bool { !adoptions.isEmpty || !liveEvents.isEmpty }

    /// Whether readers see the row: nobody known deleted it, or (`updateWins`) a write remains that no deletion had seen. What was found
    /// is no write.
    func isVisible(_ policy: DeletePolicy) -> Bool {
        if deletions.isEmpty { return hasContents }
        if policy == .deleteWins { return false }
        return liveEvents.contains { event in !deletions.contains { $0.seen.covers(event) } }
    }

    /// Whether nobody known has written a column that is a register.
    func isUnwritten(_ column: Int) -> Bool {
        if case .register(let writes) = columns[column] { writes.isEmpty } else { false }
    }

    /// What the app's table shows, in the order of the workload's columns; NULL for those that the app's version does not have.
    func shown(_ table: WorkloadTable) -> [ColumnValue] {
        columns.indices.map { index in
            if !table.columns[index].isKnown { return .null }
            return switch columns[index] {
            case .register(let writes): Self.winner(writes)?.value ?? table.columns[index].defaultValue
            case .set(let elements, _): .text(Self.text(elements.map(\.json)))
            case .counter(let counter): .integer(counter.value)
            case .text(let text): text.shown
            }
        }
    }

    /// The write that is shown: the latest timestamp, then the highest replica id, then the highest sequence. Of values that were found,
    /// which give way to all that were written, it is the first in this order.
    static func winner(_ writes: [RegisterWrite]) -> RegisterWrite? {
        if writes.count < 2 { return writes.first }
        let written = writes.filter { !$0.stamp.isAdopted }
        func isEarlier(_ left: RegisterWrite, _ right: RegisterWrite) -> Bool {
            left.stamp.timestamp == right.stamp.timestamp
                ? left.stamp.dot < right.stamp.dot : left.stamp.timestamp < right.stamp.timestamp
        }
        return written.isEmpty ? writes.min(by: isEarlier) : written.max(by: isEarlier)
    }

    /// The array that shows these elements, which are sorted.
    static func text(_ elements: [[UInt8]]) -> [UInt8] {
        Array("[".utf8) + elements.joined(separator: Array(",".utf8)) + Array("]".utf8)
    }
}
