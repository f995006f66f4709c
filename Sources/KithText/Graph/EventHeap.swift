/// A binary max-heap of numbers.
struct EventHeap {
    private var items: ContiguousArray<Int> = []

    var isEmpty: Bool { items.isEmpty }
    var top: Int? { items.first }

    mutating func removeAll() { items.removeAll(keepingCapacity: true) }

    mutating func push(_ item: Int) {
        items.append(item)
        var child = items.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard items[parent] < items[child] else { return }
            items.swapAt(parent, child)
            child = parent
        }
    }

    mutating func pop() -> Int? {
        guard let last = items.popLast() else { return nil }
        guard let top = items.first else { return last }
        items[0] = last
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < items.count else { return top }
            if child + 1 < items.count, items[child + 1] > items[child] { child += 1 }
            guard items[child] > items[parent] else { return top }
            items.swapAt(parent, child)
            parent = child
        }
    }
}
