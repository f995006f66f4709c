import KithSync

/// A counter as it must be for somebody with a certain knowledge: what was counted, on top of one of the values that were found.
struct CounterView {
    /// A value that stood in a table before it was tracked.
    struct Found {
        let event: EventID
        let stamp: Stamp
        let amount: Int64
    }

    /// Of all increments.
    private(set) var sum: Int64 = 0
    private(set) var touched: [EventID] = []
    /// Whether the row was also inserted: then no value that was found counts.
    private(set) var isBorn = false
    private(set) var found: [Found] = []
    /// Values that were found and that somebody has replaced or dismissed.
    private(set) var dismissed: Set<Int64> = []

    init() {}

    /// What commits made of a column.
    init(_ effects: [RowEffect], _ column: Int) {
        for effect in effects {
            switch effect.changes[column] {
            case .counter(let increment, let isBorn, let dismissed)?:
                sum &+= increment
                touched.append(effect.event)
                self.isBorn = self.isBorn || isBorn
                self.dismissed.formUnion(dismissed)
            case .found(.integer(let amount))?:
                found.append(Found(event: effect.event, stamp: effect.stamp, amount: amount))
            default: continue
            }
        }
    }

    var value: Int64 { sum &+ (base ?? 0) }

    /// The value that was found and counts: the earliest.
    private var base: Int64? { isBorn ? nil : Self.earliest(found)?.amount }

    private static func earliest(_ found: [Found]) -> Found? {
        found.min { left, right in
            left.stamp.timestamp == right.stamp.timestamp
                ? left.stamp.dot < right.stamp.dot : left.stamp.timestamp < right.stamp.timestamp
        }
    }

    /// The values that were found and do not count, each once and none that is shown, with the earliest that has it.
    var alternatives: [Found] {
        let others = found.filter { $0.amount != value && $0.amount != base && !dismissed.contains($0.amount) }
        return Dictionary(grouping: others, by: \.amount).values.compactMap(Self.earliest)
    }

    /// A plain save: the difference to what is shown is counted. A value that was found and is equal to that goes with it.
    mutating func save(_ new: Int64, _ event: EventID) {
        let shown = value
        if base != shown, found.contains(where: { $0.amount == shown }) { dismissed.insert(shown) }
        sum &+= new &- shown
        touched.append(event)
    }

    /// The value of a new life.
    mutating func begin(with new: Int64, _ event: EventID) {
        isBorn = true
        dismissed.formUnion(found.map(\.amount))
        sum = new
        touched.append(event)
    }

    /// Writes what is shown anew, in a new life that is begun by who does not know the column.
    mutating func writeAnew(_ event: EventID) {
        begin(with: value, event)
    }

    /// What a commit did to the counter.
    func change(since before: CounterView, by event: EventID) -> RowEffect.Change? {
        guard touched.contains(event) else { return nil }
        return .counter(increment: sum &- before.sum, isBorn: isBorn, dismissed: dismissed.subtracting(before.dismissed).sorted())
    }
}
