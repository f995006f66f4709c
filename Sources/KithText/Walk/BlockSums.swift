/// What the blocks of a ``SpanList`` hold, in document order, and the same of groups of blocks, so that a position is found without
/// a look at each block.
struct BlockSums {
    struct Sum: Equatable {
        /// Characters that stand in the version that the walker stands at.
        var prepared = 0
        /// Characters that stand after all changes walked.
        var visible = 0
        /// Spans that exist in the version that the walker stands at, deleted or not.
        var inserted = 0

        static func += (left: inout Sum, right: Sum) {
            left.prepared += right.prepared
            left.visible += right.visible
            left.inserted += right.inserted
        }

        static func -= (left: inout Sum, right: Sum) {
            left.prepared -= right.prepared
            left.visible -= right.visible
            left.inserted -= right.inserted
        }
    }

    private static let groupSize = 64

    private var blocks: ContiguousArray<Sum> = []
    /// Of ``groupSize`` blocks each.
    private var groups: ContiguousArray<Sum> = []
    private(set) var total = Sum()

    mutating func removeAll() {
        blocks.removeAll(keepingCapacity: true)
        groups.removeAll(keepingCapacity: true)
        total = Sum()
    }

    subscript(block: Int) -> Sum { blocks[block] }

    @inline(__always)
    mutating func add(_ sum: Sum, to block: Int) {
        blocks[block] += sum
        groups[block / Self.groupSize] += sum
        total += sum
    }

    @inline(__always)
    mutating func subtract(_ sum: Sum, from block: Int) {
        blocks[block] -= sum
        groups[block / Self.groupSize] -= sum
        total -= sum
    }

    /// Puts a block with nothing in it at `place`.
    mutating func insertBlock(at place: Int) {
        blocks.insert(Sum(), at: place)
        if blocks.count > groups.count * Self.groupSize { groups.append(Sum()) }
        // The last block of each group from there on has become the first of the next one.
        for group in place / Self.groupSize + 1..<max(groups.count, place / Self.groupSize + 1) {
            let moved = blocks[group * Self.groupSize]
            groups[group - 1] -= moved
            groups[group] += moved
        }
    }

    /// The block with the prepared character number `position`, how many come before it in that block, and how many visible ones come
    /// before the block.
    func seek(_ position: Int) -> (block: Int, remaining: Int, visible: Int)? {
        guard position < total.prepared else { return nil }
        var remaining = position
        var visible = 0
        var group = 0
        while remaining >= groups[group].prepared {
            remaining -= groups[group].prepared
            visible += groups[group].visible
            group += 1
        }
        var block = group * Self.groupSize
        while remaining >= blocks[block].prepared {
            remaining -= blocks[block].prepared
            visible += blocks[block].visible
            block += 1
        }
        return (block, remaining, visible)
    }

    /// What the blocks before `block` hold.
    func before(_ block: Int) -> Sum {
        var sum = Sum()
        let group = block / Self.groupSize
        for earlier in 0..<group { sum += groups[earlier] }
        for earlier in group * Self.groupSize..<block { sum += blocks[earlier] }
        return sum
    }

    /// The first block from `block` on that has a span that is inserted.
    func firstInserted(from block: Int) -> Int? {
        var block = block
        while block < blocks.count {
            if block % Self.groupSize == 0, groups[block / Self.groupSize].inserted == 0 {
                block += Self.groupSize
            } else if blocks[block].inserted > 0 {
                return block
            } else {
                block += 1
            }
        }
        return nil
    }
}
