/// The difference of two sequences of numbers, bounded by work and not by time: the same on every machine.
///
/// Myers' algorithm in linear space ("An O(ND) Difference Algorithm and Its Variations", 1986). Where the sequences
/// differ too much for it, elements that are unique in both serve as anchors (patience diff), and where there are none,
/// the stretch is replaced.
struct SequenceDiff {
    /// Insertions and deletions that one run of Myers' algorithm looks for.
    static let editsMax = 4_000
    /// Steps for a whole comparison.
    static let workMax = 20_000_000
    /// How deep anchors are looked for between anchors.
    private static let depthMax = 60

    private let old: ContiguousArray<Int32>
    private let new: ContiguousArray<Int32>
    private let anchors: UniqueAnchors
    /// Steps left.
    private(set) var work: Int
    private(set) var hunks: [Edit] = []
    private var forward: ContiguousArray<Int> = []
    private var backward: ContiguousArray<Int> = []

    /// - Parameter pieceCount: all numbers are smaller.
    init(_ old: ContiguousArray<Int32>, _ new: ContiguousArray<Int32>, pieceCount: Int, work: Int) {
        self.old = old
        self.new = new
        self.work = work
        anchors = UniqueAnchors(pieceCount: pieceCount)
        compare(Edit(old: old.indices, new: new.indices), depth: 0)
    }

    private mutating func compare(_ whole: Edit, depth: Int) {
        let part = trimmed(whole)
        guard !part.old.isEmpty, !part.new.isEmpty, depth < Self.depthMax else { return emit(part) }
        if let snake = middleSnake(part) {
            compare(
                Edit(old: part.old.lowerBound..<snake.old.lowerBound, new: part.new.lowerBound..<snake.new.lowerBound),
                depth: depth + 1)
            compare(
                Edit(old: snake.old.upperBound..<part.old.upperBound, new: snake.new.upperBound..<part.new.upperBound),
                depth: depth + 1)
            return
        }
        var rest = part
        for (oldIndex, newIndex) in anchors.find(old, new, part) where oldIndex >= rest.old.lowerBound {
            compare(
                Edit(old: rest.old.lowerBound..<oldIndex, new: rest.new.lowerBound..<newIndex), depth: depth + 1)
            rest = Edit(old: oldIndex + 1..<part.old.upperBound, new: newIndex + 1..<part.new.upperBound)
        }
        if rest == part { emit(part) } else { compare(rest, depth: depth + 1) }
    }

    private func trimmed(_ part: Edit) -> Edit {
        var (old0, old1) = (part.old.lowerBound, part.old.upperBound)
        var (new0, new1) = (part.new.lowerBound, part.new.upperBound)
        while old0 < old1, new0 < new1, old[old0] == new[new0] {
            old0 += 1
            new0 += 1
        }
        while old0 < old1, new0 < new1, old[old1 - 1] == new[new1 - 1] {
            old1 -= 1
            new1 -= 1
        }
        return Edit(old: old0..<old1, new: new0..<new1)
    }

    private mutating func emit(_ edit: Edit) {
        guard !edit.isEmpty else { return }
        if let last = hunks.last, last.old.upperBound == edit.old.lowerBound, last.new.upperBound == edit.new.lowerBound {
            hunks[hunks.count - 1] = last.joined(with: edit)
        } else {
            hunks.append(edit)
        }
    }

    // MARK: Myers

    /// "No path ends here."
    private static let unreached = -(1 << 40)

    /// The equal stretch in the middle of a shortest edit script; `nil` when the script would be too long.
    private mutating func middleSnake(_ part: Edit) -> Edit? {
        let (n, m) = (part.old.count, part.new.count)
        guard abs(n - m) <= Self.editsMax else { return nil }
        let limit = min((n + m + 1) / 2, Self.editsMax / 2)
        let middle = limit + 1
        forward = ContiguousArray(repeating: Self.unreached, count: 2 * limit + 3)
        backward = forward
        forward[middle + 1] = 0
        backward[middle + 1] = 0
        let delta = n - m
        let isOdd = delta & 1 != 0
        for distance in 0...limit {
            work -= 2 * distance + 2
            guard work >= 0 else { return nil }
            for k in stride(from: -distance, through: distance, by: 2) {
                let (start, end) = advance(forward, middle + k, k, n, m) { old[part.old.lowerBound + $0] == new[part.new.lowerBound + $1] }
                forward[middle + k] = end
                let other = delta - k
                if isOdd, abs(other) < distance, end + backward[middle + other] >= n {
                    return Edit(
                        old: part.old.lowerBound + start..<part.old.lowerBound + end,
                        new: part.new.lowerBound + start - k..<part.new.lowerBound + end - k)
                }
            }
            for k in stride(from: -distance, through: distance, by: 2) {
                let (start, end) = advance(backward, middle + k, k, n, m) {
                    old[part.old.upperBound - 1 - $0] == new[part.new.upperBound - 1 - $1]
                }
                backward[middle + k] = end
                let other = delta - k
                if !isOdd, abs(other) <= distance, end + forward[middle + other] >= n {
                    return Edit(
                        old: part.old.upperBound - end..<part.old.upperBound - start,
                        new: part.new.upperBound - (end - k)..<part.new.upperBound - (start - k))
                }
            }
        }
        return nil
    }

    /// The farthest point on diagonal `k` that one more edit reaches, before and after its equal stretch.
    @inline(__always)
    private func advance(
        _ reached: ContiguousArray<Int>, _ index: Int, _ k: Int, _ n: Int, _ m: Int,
        _ isEqual: (Int, Int) -> Bool
    ) -> (start: Int, end: Int) {
        let right = reached[index - 1] < n ? reached[index - 1] + 1 : Self.unreached
        let down = reached[index + 1] - k <= m ? reached[index + 1] : Self.unreached
        let start = max(right, down)
        guard start >= 0 else { return (Self.unreached, Self.unreached) }
        var end = start
        while end < n, end - k < m, isEqual(end, end - k) { end += 1 }
        return (start, end)
    }
}
