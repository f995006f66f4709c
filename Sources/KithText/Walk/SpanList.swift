/// The spans of a walk in document order, in blocks that cache how much of them is visible.
///
/// Sums for each block, of each of the two versions a walk deals with, turn a position into a span; an index by number
/// turns a character into a span.
struct SpanList {
    /// Where a span lies: the block's place in the document and the span's index in the block.
    struct Place: Comparable {
        var block: Int
        var index: Int

        var previous: Place { Place(block: block, index: index - 1) }
        var next: Place { Place(block: block, index: index + 1) }

        static func < (left: Place, right: Place) -> Bool {
            left.block == right.block ? left.index < right.index : left.block < right.block
        }
    }

    static let blockCapacity = 64

    /// All blocks in order of creation, each with room for ``blockCapacity`` spans.
    private var spans: ContiguousArray<Span> = []
    /// For each place in the document: which block, how many spans, and what they hold.
    private var slots: ContiguousArray<Int32> = []
    private var counts: ContiguousArray<Int32> = []
    private var sums = BlockSums()
    /// For each block its place in the document.
    private var places: ContiguousArray<Int32> = []
    /// From the number of a span's first character to its block.
    private var index = RunIndex<Int32>(filler: 0)
    /// The number of spans.
    private(set) var count = 0
    /// For each place in the document what ``knownOrigins(of:)`` has found; `nil` if no search has looked at the block as it is. Empty before
    /// ``noteOrigins()``.
    private var origins: ContiguousArray<Origins?> = []

    /// Of the spans of a block the left origin that comes first, and of those that have it the right origin that comes last.
    private struct Origins: Equatable {
        var left: Int
        var right: Int
    }

    private static let filler = Span(
        id: 0, length: 0, leftOrigin: EventGraph.root, rightOrigin: 0, prepareState: 0, isVisible: false, isLeftChild: false)

    init() {
        reset()
    }

    /// Forgets everything: one span of unknown older text.
    mutating func reset() {
        spans.removeAll(keepingCapacity: true)
        slots.removeAll(keepingCapacity: true)
        counts.removeAll(keepingCapacity: true)
        sums.removeAll()
        places.removeAll(keepingCapacity: true)
        origins.removeAll()
        index.removeAll()
        count = 0
        addBlock(at: 0)
        insert(
            Span(
                id: Span.older, length: Span.olderLength, leftOrigin: EventGraph.root,
                rightOrigin: Span.older + Span.olderLength, prepareState: Span.inserted, isVisible: true, isLeftChild: false),
            at: Place(block: 0, index: 0))
    }

    // MARK: Reading

    /// The length of the text in the version that the walker stands at, older text counted as ``Span/olderLength``.
    var preparedLength: Int { sums.total.prepared }
    /// The same after all changes walked.
    var visibleLength: Int { sums.total.visible }

    subscript(place: Place) -> Span {
        @inline(__always) get { spans[slot(place)] }
    }

    @inline(__always)
    private func slot(_ place: Place) -> Int {
        Int(slots[place.block]) * Self.blockCapacity + place.index
    }

    var first: Place { Place(block: 0, index: 0) }

    /// The place, or the beginning of the next block when it is the end of one.
    @inline(__always)
    func normalised(_ place: Place) -> Place {
        place.index < Int(counts[place.block]) ? place : Place(block: place.block + 1, index: 0)
    }

    /// The place before, at whatever end of a block; `nil` for the first.
    func before(_ place: Place) -> Place? {
        if place.index > 0 { return place.previous }
        return place.block > 0 ? Place(block: place.block - 1, index: Int(counts[place.block - 1]) - 1) : nil
    }

    /// The place after; `nil` for the last.
    func after(_ place: Place) -> Place? {
        let next = normalised(place.next)
        return next.block < slots.count ? next : nil
    }

    /// The first span from `place` on that exists, deleted or not, in the version that the walker stands at.
    func firstInserted(from place: Place) -> Place {
        var place = normalised(place)
        while place.index < Int(counts[place.block]), !self[place].isInserted { place.index += 1 }
        if place.index < Int(counts[place.block]) { return place }
        // Older text ends the list and always exists.
        guard let block = sums.firstInserted(from: place.block + 1) else {
            return Place(block: slots.count - 1, index: Int(counts[slots.count - 1]) - 1)
        }
        place = Place(block: block, index: 0)
        while !self[place].isInserted { place.index += 1 }
        return place
    }

    /// How many characters before a span stand in the version that the walker stands at.
    func preparedBefore(_ place: Place) -> Int {
        var sum = sums.before(place.block).prepared
        for index in 0..<place.index {
            let span = self[Place(block: place.block, index: index)]
            if span.isPrepared { sum += span.length }
        }
        return sum
    }

    /// How many visible characters stand before a span.
    func visibleBefore(_ place: Place) -> Int {
        var sum = sums.before(place.block).visible
        for index in 0..<place.index {
            let span = self[Place(block: place.block, index: index)]
            if span.isVisible { sum += span.length }
        }
        return sum
    }

    /// Where the character number `id` lies.
    func find(_ id: Int) -> Place? {
        guard let entry = index.floor(id) else { return nil }
        let slot = Int(index[entry])
        let start = slot * Self.blockCapacity
        let block = Int(places[slot])
        for offset in 0..<Int(counts[block]) {
            let span = spans[start + offset]
            if id >= span.id, id < span.end { return Place(block: block, index: offset) }
        }
        return nil
    }

    /// The span that has the prepared character number `position`, the offset in it, and the number of visible
    /// characters before it.
    func seek(_ position: Int) -> (place: Place, offset: Int, visibleBefore: Int)? {
        guard let found = sums.seek(position) else { return nil }
        var (remaining, visible) = (found.remaining, found.visible)
        let block = found.block
        let start = Int(slots[block]) * Self.blockCapacity
        for offset in 0..<Int(counts[block]) {
            let span = spans[start + offset]
            if span.isPrepared {
                if remaining < span.length {
                    let place = Place(block: block, index: offset)
                    return (place, remaining, visible + (span.isVisible ? remaining : 0))
                }
                remaining -= span.length
            }
            if span.isVisible { visible += span.length }
        }
        return nil
    }

    // MARK: Changing

    mutating func setState(_ place: Place, prepare: Int32, visible: Bool) {
        let slot = slot(place)
        sums.subtract(spans[slot].sum, from: place.block)
        spans[slot].prepareState = prepare
        spans[slot].isVisible = visible
        sums.add(spans[slot].sum, to: place.block)
    }

    /// Makes the span longer by `count` visible characters at its end.
    mutating func extend(_ place: Place, by count: Int) {
        let slot = slot(place)
        sums.subtract(spans[slot].sum, from: place.block)
        spans[slot].length += count
        sums.add(spans[slot].sum, to: place.block)
    }

    /// Cuts a span so that another one begins `offset` characters into it; where that one lies. The first part is
    /// always in front of it in the same block.
    mutating func split(_ place: Place, at offset: Int) -> Place {
        let slot = slot(place)
        var right = spans[slot]
        sums.subtract(right.sum, from: place.block)
        spans[slot].length = offset
        sums.add(spans[slot].sum, to: place.block)
        right.id += offset
        right.length -= offset
        right.leftOrigin = right.id - 1
        right.isLeftChild = false
        return insert(right, at: place.next)
    }

    /// Puts a span in front of the one at `place`, or behind the last one of the block; where it lies.
    @discardableResult
    mutating func insert(_ span: Span, at place: Place) -> Place {
        var place = place
        if Int(counts[place.block]) == Self.blockCapacity {
            splitBlock(place.block)
            let half = Int(counts[place.block])
            if place.index > half { place = Place(block: place.block + 1, index: place.index - half) }
        }
        let start = Int(slots[place.block]) * Self.blockCapacity
        let count = Int(counts[place.block])
        spans.withUnsafeMutableBufferPointer { all in
            guard let base = all.baseAddress else { return }
            (base + start + place.index + 1).update(from: base + start + place.index, count: count - place.index)
            base[start + place.index] = span
        }
        counts[place.block] += 1
        self.count += 1
        sums.add(span.sum, to: place.block)
        index.insert(span.id, slots[place.block])
        if !origins.isEmpty, let known = origins[place.block] { origins[place.block] = joined(known, span) }
        return place
    }

    private mutating func addBlock(at place: Int) {
        slots.insert(Int32(places.count), at: place)
        counts.insert(0, at: place)
        sums.insertBlock(at: place)
        places.append(0)
        for later in place..<slots.count { places[Int(slots[later])] = Int32(later) }
        spans.append(contentsOf: repeatElement(Self.filler, count: Self.blockCapacity))
    }

    /// Moves the second half of a block to a new one behind it.
    private mutating func splitBlock(_ block: Int) {
        addBlock(at: block + 1)
        let half = Self.blockCapacity / 2
        let source = Int(slots[block]) * Self.blockCapacity + half
        let target = Int(slots[block + 1]) * Self.blockCapacity
        for offset in 0..<half {
            let span = spans[source + offset]
            spans[target + offset] = span
            sums.subtract(span.sum, from: block)
            sums.add(span.sum, to: block + 1)
            if let entry = index.floor(span.id) { index[entry] = slots[block + 1] }
        }
        counts[block] = Int32(half)
        counts[block + 1] = Int32(half)
        guard !origins.isEmpty else { return }
        origins[block] = nil
        origins.insert(nil, at: block + 1)
    }

    // MARK: Subtrees

    /// Keeps from now on what ``endOfSubtree(_:at:_:)`` and ``neighbour(before:_:_:)`` need.
    mutating func noteOrigins() {
        origins = ContiguousArray(repeating: nil, count: slots.count)
    }

    private mutating func knownOrigins(of block: Int) -> Origins {
        if let known = origins[block] { return known }
        let found = origins(of: block)
        origins[block] = found
        return found
    }

    private func origins(of block: Int) -> Origins {
        let first = self[Place(block: block, index: 0)]
        var result = Origins(left: first.leftOrigin, right: first.rightOrigin)
        for index in 1..<max(1, Int(counts[block])) { result = joined(result, self[Place(block: block, index: index)]) }
        return result
    }

    private func joined(_ origins: Origins, _ span: Span) -> Origins {
        if span.leftOrigin == origins.left {
            return isBefore(origins.right, span.rightOrigin) ? Origins(left: origins.left, right: span.rightOrigin) : origins
        }
        return isBefore(span.leftOrigin, origins.left) ? Origins(left: span.leftOrigin, right: span.rightOrigin) : origins
    }

    /// Whether the character `first` stands before `second`; the beginning of the text before all, its end behind all.
    func isBefore(_ first: Int, _ second: Int) -> Bool {
        if first == second || second == EventGraph.root { return false }
        if first == EventGraph.root { return true }
        guard let left = find(first) else { return false }
        guard let right = find(second) else { return true }
        return left == right ? first < second : left < right
    }

    /// The first span behind the one that begins with `id`, at `place`, that does not hang below it to the right: the first one whose left
    /// origin stands before it. ``noteOrigins()`` must have been called.
    ///
    /// - Parameter steps: is increased by the number of spans and blocks that were looked at.
    mutating func endOfSubtree(_ id: Int, at place: Place, _ steps: inout Int) -> Place {
        let end = self[place].end
        func ends(_ origin: Int) -> Bool {
            if origin >= id, origin < end { return false }
            guard origin != EventGraph.root, let other = find(origin) else { return true }
            return other < place
        }
        var next = normalised(place.next)
        while next.block < slots.count {
            steps += 1
            if next.index == 0, !ends(knownOrigins(of: next.block).left) {
                next = Place(block: next.block + 1, index: 0)
            } else if ends(self[next].leftOrigin) {
                return next
            } else {
                next = normalised(next.next)
            }
        }
        return next
    }

    /// The last span before the one at `place` with the same left origin and a right origin behind it: what hangs before it, or before
    /// something that it hangs on. ``noteOrigins()`` must have been called.
    mutating func neighbour(before place: Place, _ steps: inout Int) -> Place? {
        let (id, origin) = (self[place].id, self[place].leftOrigin)
        var next = place
        while let place = before(next) {
            steps += 1
            if place.index == Int(counts[place.block]) - 1 {
                let all = knownOrigins(of: place.block)
                if isBefore(origin, all.left) || all.left == origin && !isBefore(id, all.right) {
                    next = Place(block: place.block, index: 0)
                    continue
                }
            }
            let span = self[place]
            if span.leftOrigin == origin {
                if isBefore(id, span.rightOrigin) { return place }
            } else if isBefore(span.leftOrigin, origin) {
                return nil
            }
            next = place
        }
        return nil
    }
}

extension SpanList {
    /// All spans in document order; for checks.
    var all: [Span] {
        slots.indices.flatMap { block in (0..<Int(counts[block])).map { self[Place(block: block, index: $0)] } }
    }

    /// Where all spans lie, in document order.
    func forEach(_ body: (Place, Span) -> Void) {
        for block in slots.indices {
            for index in 0..<Int(counts[block]) {
                let place = Place(block: block, index: index)
                body(place, self[place])
            }
        }
    }

    /// Whether all sums, places and index entries equal a recount; for checks.
    var isConsistent: Bool {
        guard count == all.count else { return false }
        var before = BlockSums.Sum()
        for block in slots.indices {
            let spans = (0..<Int(counts[block])).map { self[Place(block: block, index: $0)] }
            var sum = BlockSums.Sum()
            for span in spans { sum += span.sum }
            guard sum == sums[block], sums.before(block) == before, Int(places[Int(slots[block])]) == block,
                origins.isEmpty || origins[block].map({ $0 == origins(of: block) }) ?? true
            else { return false }
            before += sum
            for (index, span) in spans.enumerated() {
                let place = Place(block: block, index: index)
                guard span.length > 0, span.prepareState >= 0, find(span.id) == place, find(span.end - 1) == place
                else { return false }
            }
        }
        return before == sums.total
    }
}
