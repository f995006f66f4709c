/// What will happen, ordered by time, and within one time by the order in which it was planned.
struct EventQueue<Event> {
    private struct Entry {
        let time: Int64
        let number: Int
        let event: Event

        func isBefore(_ other: Entry) -> Bool {
            time == other.time ? number < other.number : time < other.time
        }
    }

    /// A binary heap: no entry is before its parent, which stands at half its index.
    private var heap: [Entry] = []
    private var planned = 0

    /// When the next event takes place.
    var nextTime: Int64? { heap.first?.time }

    mutating func plan(_ event: Event, at time: Int64) {
        planned += 1
        heap.append(Entry(time: time, number: planned, event: event))
        var child = heap.count - 1
        while child > 0, heap[child].isBefore(heap[(child - 1) / 2]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func popFirst() -> (time: Int64, event: Event)? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        if !heap.isEmpty {
            heap[0] = last
            var parent = 0
            while true {
                var least = parent
                for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].isBefore(heap[least]) {
                    least = child
                }
                if least == parent { break }
                heap.swapAt(parent, least)
                parent = least
            }
        }
        return (first.time, first.event)
    }
}
