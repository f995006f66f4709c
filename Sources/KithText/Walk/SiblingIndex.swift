/// Where the spans of a walk hang in the tree of FugueMax: all children of a character in order, to be searched.
///
/// A left child hangs on its right origin, a right child on its left one. The order among the children of a character is the caller's; it is
/// that of the document.
struct SiblingIndex {
    struct Entry {
        /// See ``left(of:)`` and ``right(of:)``.
        let parent: Int
        /// The span's first character.
        let id: Int
        /// What it is called everywhere.
        let name: Authorship.EventName
    }

    /// What the left children of a character have as parent.
    static func left(of id: Int) -> Int { 2 * id }
    /// What the right children of a character have as parent.
    static func right(of id: Int) -> Int { 2 * id + 1 }

    private static let leafCapacity = 256

    private var leaves: ContiguousArray<ContiguousArray<Entry>> = []

    init() {}

    /// - Parameter entries: in order.
    init(_ entries: ContiguousArray<Entry>) {
        let fill = Self.leafCapacity / 2
        for start in stride(from: 0, to: entries.count, by: fill) {
            leaves.append(ContiguousArray(entries[start..<min(start + fill, entries.count)]))
        }
    }

    /// The last child of `parent` that comes before what is looked for; `isBefore` says so of a child.
    func last(of parent: Int, where isBefore: (Entry) throws(TextError) -> Bool) throws(TextError) -> Int? {
        guard let place = try last(parent, isBefore) else { return nil }
        let entry = leaves[place.leaf][place.slot]
        return entry.parent == parent ? entry.id : nil
    }

    /// The first child of `parent`.
    func first(of parent: Int) -> Int? {
        var place = (try? last(parent) { _ in false }) ?? (leaf: 0, slot: -1)
        place.slot += 1
        if place.leaf < leaves.count, place.slot == leaves[place.leaf].count { place = (place.leaf + 1, 0) }
        guard place.leaf < leaves.count, leaves[place.leaf][place.slot].parent == parent else { return nil }
        return leaves[place.leaf][place.slot].id
    }

    /// Adds a child behind those that come before it.
    mutating func insert(_ entry: Entry, where isBefore: (Entry) throws(TextError) -> Bool) throws(TextError) {
        if leaves.isEmpty { leaves.append([]) }
        let place = try last(entry.parent, isBefore) ?? (0, -1)
        leaves[place.leaf].insert(entry, at: place.slot + 1)
        if leaves[place.leaf].count == Self.leafCapacity {
            let half = Self.leafCapacity / 2
            leaves.insert(ContiguousArray(leaves[place.leaf][half...]), at: place.leaf + 1)
            leaves[place.leaf].removeSubrange(half...)
        }
    }

    /// The last entry that is a child of a lesser parent, or of this one and before what is looked for.
    private func last(_ parent: Int, _ isBefore: (Entry) throws(TextError) -> Bool) throws(TextError) -> (leaf: Int, slot: Int)? {
        func isBeforeOrLess(_ entry: Entry) throws(TextError) -> Bool {
            if entry.parent != parent { return entry.parent < parent }
            return try isBefore(entry)
        }
        var (low, high) = (-1, leaves.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if let first = leaves[middle].first, try isBeforeOrLess(first) { low = middle } else { high = middle }
        }
        guard low >= 0 else { return nil }
        let leaf = leaves[low]
        var (slot, end) = (0, leaf.count)
        while end - slot > 1 {
            let middle = (slot + end) / 2
            if try isBeforeOrLess(leaf[middle]) { slot = middle } else { end = middle }
        }
        return (low, slot)
    }
}
