/// A sorted map from numbers to values, for look-ups of the nearest key at or below a number.
///
/// Keys lie in leaves of fixed room; an insertion moves one leaf at most and, rarely, the list of leaves.
struct RunIndex<Value> {
    struct Place {
        let leaf: Int
        let slot: Int
    }

    private static var leafCapacity: Int { 64 }

    private var keys: ContiguousArray<Int> = []
    private var values: ContiguousArray<Value> = []
    /// The first key of each leaf, in order.
    private var firstKeys: ContiguousArray<Int> = []
    /// Where in ``keys`` and ``values`` each leaf lies, and how many entries it has.
    private var leaves: ContiguousArray<(start: Int, count: Int)> = []
    private let filler: Value

    init(filler: Value) {
        self.filler = filler
    }

    mutating func removeAll() {
        keys.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
        firstKeys.removeAll(keepingCapacity: true)
        leaves.removeAll(keepingCapacity: true)
    }

    /// Where the largest key that is at most `key` lies.
    func floor(_ key: Int) -> Place? {
        guard let first = firstKeys.first, first <= key else { return nil }
        let leaf = firstKeys.lastIndex(startingAtOrBefore: key) { $0 }
        return Place(leaf: leaf, slot: lastSlot(atOrBefore: key, leaf))
    }

    /// The place after `place`; without one, the first.
    func next(_ place: Place?) -> Place? {
        guard let place else { return leaves.isEmpty ? nil : Place(leaf: 0, slot: 0) }
        if place.slot + 1 < leaves[place.leaf].count { return Place(leaf: place.leaf, slot: place.slot + 1) }
        return place.leaf + 1 < leaves.count ? Place(leaf: place.leaf + 1, slot: 0) : nil
    }

    func key(at place: Place) -> Int { keys[leaves[place.leaf].start + place.slot] }

    subscript(place: Place) -> Value {
        get { values[leaves[place.leaf].start + place.slot] }
        set { values[leaves[place.leaf].start + place.slot] = newValue }
    }

    /// Adds a key that is not there yet.
    mutating func insert(_ key: Int, _ value: Value) {
        if leaves.isEmpty { addLeaf(at: 0, firstKey: key) }
        var leaf = firstKeys.lastIndex(startingAtOrBefore: key) { $0 }
        if leaves[leaf].count == Self.leafCapacity {
            splitLeaf(leaf, appending: key)
            if leaf + 1 < firstKeys.count, firstKeys[leaf + 1] <= key { leaf += 1 }
        }
        let (start, count) = leaves[leaf]
        var slot = start + count
        while slot > start, keys[slot - 1] > key {
            keys[slot] = keys[slot - 1]
            values[slot] = values[slot - 1]
            slot -= 1
        }
        keys[slot] = key
        values[slot] = value
        leaves[leaf].count += 1
        if slot == start { firstKeys[leaf] = key }
    }

    private func lastSlot(atOrBefore key: Int, _ leaf: Int) -> Int {
        let (start, count) = leaves[leaf]
        var low = 0
        var high = count
        while high - low > 1 {
            let middle = (low + high) / 2
            if keys[start + middle] <= key { low = middle } else { high = middle }
        }
        return low
    }

    private mutating func addLeaf(at index: Int, firstKey: Int) {
        leaves.insert((keys.count, 0), at: index)
        firstKeys.insert(firstKey, at: index)
        keys.append(contentsOf: repeatElement(0, count: Self.leafCapacity))
        values.append(contentsOf: repeatElement(filler, count: Self.leafCapacity))
    }

    /// Makes room in a full leaf: the upper half, or nothing when `key` belongs behind all, goes to a new one.
    private mutating func splitLeaf(_ leaf: Int, appending key: Int) {
        let (start, count) = leaves[leaf]
        if key > keys[start + count - 1] {
            addLeaf(at: leaf + 1, firstKey: key)
            return
        }
        let half = count / 2
        addLeaf(at: leaf + 1, firstKey: keys[start + half])
        let target = leaves[leaf + 1].start
        for offset in 0..<count - half {
            keys[target + offset] = keys[start + half + offset]
            values[target + offset] = values[start + half + offset]
        }
        leaves[leaf + 1].count = count - half
        leaves[leaf].count = half
    }
}
