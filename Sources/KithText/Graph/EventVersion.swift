/// A version as the numbers of its events, ascending: nearly always one, which needs no array.
enum EventVersion: Hashable, Sendable {
    case one(Int)
    /// None, or at least two.
    case several(ContiguousArray<Int>)

    /// - Parameter events: ascending.
    init(_ events: some Collection<Int>) {
        if events.count == 1, let event = events.first {
            self = .one(event)
        } else {
            self = .several(ContiguousArray(events))
        }
    }
}

extension EventVersion: RandomAccessCollection {
    var startIndex: Int { 0 }

    var endIndex: Int {
        switch self {
        case .one: 1
        case .several(let events): events.count
        }
    }

    subscript(index: Int) -> Int {
        switch self {
        case .one(let event): event
        case .several(let events): events[index]
        }
    }
}

extension EventVersion: ExpressibleByArrayLiteral {
    init(arrayLiteral events: Int...) {
        self.init(events)
    }
}
