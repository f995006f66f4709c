/// The spans of a walk in document order, in blocks that cache how much of them is visible.
///
/// Two sums for each block, one for each of the two versions a walk deals with, turn a position into a span; an index
/// by number turns a character into a span.
struct SpanList {
    /// Where a span lies: the block's place in the document and the span's index in the block.
    struct Place: Comparable {
        var block: Int
        var index: Int

        var previous: Place { Place(block: block, index: index - 1) }

        static func < (left: Place, right: Place) -> Bool {
            left.block == right.block ? left.index < right.index : left.block < right.block
        }
    }

    static let blockCapacity = 64

    /// All blocks in order of creation, each with room for ``blockCapacity`` spans.
    private var spans: ContiguousArray<Span> = []
    /// For each place in the document: which block, how many spans, and the two sums.
    private var slots: ContiguousArray<Int32> = []
    private var counts: ContiguousArray<Int32> = []
    private var preparedSums: ContiguousArray<Int> = []
    private var visibleSums: ContiguousArray<Int> = []
    /// For each block its place in the document.
    private var places: ContiguousArray<Int32> = []
    /// From the number of a span's first character to its block.
    private var index = RunIndex<Int32>(filler: 0)
    /// The length of the text in the version that the walker stands at, older text counted as ``Span/olderLength``.
    private(set) var preparedLength = 0
    /// The same after all changes walked.
    private(set) var visibleLength = 0
    /// The number of spans.
    private(set) var count = 0

    private static let filler = Span(
        id: 0, length: 0, leftOrigin: EventGraph.root, rightOrigin: 0, prepareState: 0, isVisible: false)

    init() {
        reset()
    }

    /// Forgets everything: one span of unknown older text.
    mutating func reset() {
        spans.removeAll(keepingCapacity: true)
        slots.removeAll(keepingCapacity: true)
        counts.removeAll(keepingCapacity: true)
        preparedSums.removeAll(keepingCapacity: true)
        visibleSums.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
        index.removeAll()
        preparedLength = 0
        visibleLength = 0
        count = 0
        addBlock(at: 0)
        insert(
            Span(
                id: Span.older, length: Span.olderLength, leftOrigin: EventGraph.root,
                rightOrigin: Span.older + Span.olderLength, prepareState: Span.inserted, isVisible: true),
            at: Place(block: 0, index: 0))
    }

    // MARK: Reading

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
        let next = normalised(Place(block: place.block, index: place.index + 1))
        return next.block < slots.count ? next : nil
    }

    /// How many characters before a span stand in the version that the walker stands at.
    func preparedBefore(_ place: Place) -> Int {
        var sum = preparedSums[..<place.block].reduce(0, +)
        for index in 0..<place.index {
            let span = self[Place(block: place.block, index: index)]
            if span.isPrepared { sum += span.length }
        }
        return sum
    }

    /// How many visible characters stand before a span.
    func visibleBefore(_ place: Place) -> Int {
        var sum = visibleSums[..<place.block].reduce(0, +)
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
        var remaining = position
        var visible = 0
        var block = 0
        while block < preparedSums.count, remaining >= preparedSums[block] {
            remaining -= preparedSums[block]
            visible += visibleSums[block]
            block += 1
        }
        guard block < preparedSums.count else { return nil }
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
        let span = spans[slot]
        let preparedDelta = (prepare == Span.inserted ? span.length : 0) - (span.isPrepared ? span.length : 0)
        let visibleDelta = (visible ? span.length : 0) - (span.isVisible ? span.length : 0)
        preparedSums[place.block] += preparedDelta
        visibleSums[place.block] += visibleDelta
        preparedLength += preparedDelta
        visibleLength += visibleDelta
        spans[slot].prepareState = prepare
        spans[slot].isVisible = visible
    }

    /// Makes the span longer by `count` visible characters at its end.
    mutating func extend(_ place: Place, by count: Int) {
        spans[slot(place)].length += count
        addToSums(place.block, prepared: count, visible: count)
    }

    /// Cuts a span so that another one begins `offset` characters into it; where that one lies. The first part is
    /// always in front of it in the same block.
    mutating func split(_ place: Place, at offset: Int) -> Place {
        var right = self[place]
        right.id += offset
        right.length -= offset
        right.leftOrigin = right.id - 1
        addToSums(
            place.block, prepared: right.isPrepared ? -right.length : 0,
            visible: right.isVisible ? -right.length : 0)
        spans[slot(place)].length = offset
        return insert(right, at: Place(block: place.block, index: place.index + 1))
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
        addToSums(
            place.block, prepared: span.isPrepared ? span.length : 0, visible: span.isVisible ? span.length : 0)
        index.insert(span.id, slots[place.block])
        return place
    }

    @inline(__always)
    private mutating func addToSums(_ block: Int, prepared: Int, visible: Int) {
        preparedSums[block] += prepared
        visibleSums[block] += visible
        preparedLength += prepared
        visibleLength += visible
    }

    private mutating func addBlock(at place: Int) {
        slots.insert(Int32(places.count), at: place)
        counts.insert(0, at: place)
        preparedSums.insert(0, at: place)
        visibleSums.insert(0, at: place)
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
            if span.isPrepared {
                preparedSums[block] -= span.length
                preparedSums[block + 1] += span.length
            }
            if span.isVisible {
                visibleSums[block] -= span.length
                visibleSums[block + 1] += span.length
            }
            if let entry = index.floor(span.id) { index[entry] = slots[block + 1] }
        }
        counts[block] = Int32(half)
        counts[block + 1] = Int32(half)
    }
}

extension SpanList {
    /// All spans in document order; for checks.
    var all: [Span] {
        slots.indices.flatMap { block in (0..<Int(counts[block])).map { self[Place(block: block, index: $0)] } }
    }

    /// Whether all sums, places and index entries equal a recount; for checks.
    var isConsistent: Bool {
        let all = all
        guard count == all.count, preparedLength == all.reduce(0, { $0 + ($1.isPrepared ? $1.length : 0) }),
            visibleLength == all.reduce(0, { $0 + ($1.isVisible ? $1.length : 0) })
        else { return false }
        for block in slots.indices {
            let spans = (0..<Int(counts[block])).map { self[Place(block: block, index: $0)] }
            guard preparedSums[block] == spans.reduce(0, { $0 + ($1.isPrepared ? $1.length : 0) }),
                visibleSums[block] == spans.reduce(0, { $0 + ($1.isVisible ? $1.length : 0) }),
                Int(places[Int(slots[block])]) == block
            else { return false }
            for (index, span) in spans.enumerated() {
                let place = Place(block: block, index: index)
                guard span.length > 0, span.prepareState >= 0, find(span.id) == place,
                    find(span.end - 1) == place
                else { return false }
            }
        }
        return true
    }
}
