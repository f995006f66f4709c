/// How many slips of the hand lie between two texts: characters that are missing, too many, wrong or swapped with their neighbours
/// (Damerau, "A technique for computer detection and correction of spelling errors", 1964).
enum EditDistance {
    /// More than these are no slip.
    static let max = 2

    /// Whether there are at most ``max``, and fewer than a third of the letters.
    static func isSmall(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Bool {
        guard abs(left.count - right.count) <= max else { return false }
        let limit = min(max, Swift.max(left.count, right.count) / 3)
        var before: [Int] = []
        var row = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var next = [i + 1]
            for (j, b) in right.enumerated() {
                var least = min(row[j] + (a == b ? 0 : 1), row[j + 1] + 1, next[j] + 1)
                if i > 0, j > 0, a == right[j - 1], left[i - 1] == b { least = min(least, before[j - 1] + 1) }
                next.append(least)
            }
            (before, row) = (row, next)
        }
        return row[right.count] <= limit
    }
}
