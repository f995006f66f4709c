/// Finds elements that occur once in each of two sequences and stand in the same order in both (patience diff,
/// B. Cohen).
final class UniqueAnchors {
    /// For each number how often it occurs in each stretch, and where last. Cleared after each use.
    private var seen: ContiguousArray<(oldCount: Int32, newCount: Int32, newIndex: Int32)>

    init(pieceCount: Int) {
        seen = ContiguousArray(repeating: (0, 0, 0), count: pieceCount)
    }

    /// The longest chain of anchors inside `part`, ascending in both sequences.
    func find(
        _ old: ContiguousArray<Int32>, _ new: ContiguousArray<Int32>, _ part: Edit
    ) -> [(old: Int, new: Int)] {
        for index in part.old { seen[Int(old[index])].oldCount += 1 }
        for index in part.new {
            seen[Int(new[index])].newCount += 1
            seen[Int(new[index])].newIndex = Int32(index)
        }
        var pairs: [(old: Int, new: Int)] = []
        for index in part.old {
            let entry = seen[Int(old[index])]
            if entry.oldCount == 1, entry.newCount == 1 { pairs.append((index, Int(entry.newIndex))) }
        }
        for index in part.old { seen[Int(old[index])] = (0, 0, 0) }
        for index in part.new { seen[Int(new[index])] = (0, 0, 0) }
        return Self.longestAscending(pairs)
    }

    /// Patience sorting: the pile each pair lands on, with a link to the top of the pile before.
    private static func longestAscending(_ pairs: [(old: Int, new: Int)]) -> [(old: Int, new: Int)] {
        var tops: [Int] = []
        var links = [Int?](repeating: nil, count: pairs.count)
        for index in pairs.indices {
            var low = 0
            var high = tops.count
            while low < high {
                let middle = (low + high) / 2
                if pairs[tops[middle]].new < pairs[index].new { low = middle + 1 } else { high = middle }
            }
            links[index] = low > 0 ? tops[low - 1] : nil
            if low == tops.count { tops.append(index) } else { tops[low] = index }
        }
        var chain: [(old: Int, new: Int)] = []
        var next = tops.last
        while let index = next {
            chain.append(pairs[index])
            next = links[index]
        }
        return chain.reversed()
    }
}
