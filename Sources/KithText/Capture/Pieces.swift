/// Numbers equal pieces of two texts alike, so that a diff compares numbers.
struct PieceTable {
    private var numbers: [UInt64: Int32] = [:]
    /// For each number a piece: which text, and where.
    private var samples: ContiguousArray<(isNew: Bool, range: Range<Int>)> = []
    private let old: ContiguousArray<Unicode.Scalar>
    private let new: ContiguousArray<Unicode.Scalar>

    init(old: ContiguousArray<Unicode.Scalar>, new: ContiguousArray<Unicode.Scalar>) {
        self.old = old
        self.new = new
    }

    /// How many different pieces there are.
    var count: Int { samples.count }

    /// The numbers of pieces that begin at `starts` and end where the next one begins, the last one at `end`.
    mutating func numbers(of starts: ContiguousArray<Int>, end: Int, isNew: Bool) -> ContiguousArray<Int32> {
        var result = ContiguousArray<Int32>()
        result.reserveCapacity(starts.count)
        for index in starts.indices {
            let upper = index + 1 < starts.count ? starts[index + 1] : end
            result.append(number(of: starts[index]..<upper, isNew))
        }
        return result
    }

    private mutating func number(of range: Range<Int>, _ isNew: Bool) -> Int32 {
        // FNV-1a, over scalars. Equal hashes are compared and, if need be, moved on.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in range { hash = (hash ^ UInt64(scalar(index, isNew).value)) &* 0x100_0000_01B3 }
        while let number = numbers[hash] {
            if equal(samples[Int(number)], range, isNew) { return number }
            hash &+= 1
        }
        let number = Int32(samples.count)
        numbers[hash] = number
        samples.append((isNew, range))
        return number
    }

    private func scalar(_ index: Int, _ isNew: Bool) -> Unicode.Scalar { isNew ? new[index] : old[index] }

    private func equal(_ sample: (isNew: Bool, range: Range<Int>), _ range: Range<Int>, _ isNew: Bool) -> Bool {
        guard sample.range.count == range.count else { return false }
        return zip(sample.range, range).allSatisfy { scalar($0, sample.isNew) == scalar($1, isNew) }
    }
}

extension ContiguousArray<Unicode.Scalar> {
    /// Where the lines of a stretch begin; a line ends after its LF.
    func lineStarts(in range: Range<Int>) -> ContiguousArray<Int> {
        var starts = ContiguousArray<Int>()
        var start = range.lowerBound
        for index in range where self[index] == "\n" {
            starts.append(start)
            start = index + 1
        }
        if start < range.upperBound { starts.append(start) }
        return starts
    }

    /// Where the tokens of a stretch begin: a run of letters and digits, a run of white space, any other scalar; each
    /// with the marks that belong to it.
    func tokenStarts(in range: Range<Int>) -> ContiguousArray<Int> {
        var starts = ContiguousArray<Int>()
        var previous: Unicode.Scalar.TokenClass?
        for index in range {
            if index > range.lowerBound, !isTokenBoundary(index) { continue }
            let current = self[index].tokenClass
            if current == .single || current != previous { starts.append(index) }
            previous = current
        }
        return starts
    }
}
