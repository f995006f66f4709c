/// Where a Markdown text is code: fenced blocks, and spans between backticks (CommonMark 0.31, sections 4.5 and 6.1). What is indented is
/// not told from lists, so it counts as text; so does what is doubtful. Takes time in proportion to the text.
struct MarkdownCode {
    /// In order.
    private var ranges: [Range<Int>] = []
    /// Runs of backticks since the last place that no span goes beyond.
    private var runs: [(range: Range<Int>, isEscaped: Bool)] = []

    init(_ bytes: [UInt8]) {
        if !bytes.contains(where: { $0 == Self.backtick || $0 == Self.tilde }) { return }
        var fence: (sign: UInt8, count: Int, start: Int)?
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let rest = line.drop { " \t>".utf8.contains($0) }
            let mark = rest.prefix { $0 == rest.first }
            if let open = fence {
                guard rest.first == open.sign, mark.count >= open.count, rest[mark.endIndex...].allSatisfy(Self.isSpace) else { continue }
                ranges.append(open.start..<line.endIndex)
                fence = nil
            } else if let sign = rest.first, Self.opensFence(rest, mark) {
                endSpans()
                fence = (sign, mark.count, line.startIndex)
            } else {
                if Self.beginsBlock(rest) { endSpans() }
                findRuns(in: line)
            }
        }
        endSpans()
        if let fence { ranges.append(fence.start..<bytes.count) }
    }

    func contains(_ place: Int) -> Bool {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound <= place { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(place)
    }

    private static let (backtick, tilde) = (UInt8(ascii: "`"), UInt8(ascii: "~"))

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0D].contains(byte) }

    private static func opensFence(_ line: ArraySlice<UInt8>, _ mark: ArraySlice<UInt8>) -> Bool {
        guard mark.count >= 3 else { return false }
        return line.first == tilde || line.first == backtick && !line[mark.endIndex...].contains(backtick)
    }

    /// Whether a line ends what stands before it: it is empty, a heading, a row of a table, or an item of a list.
    private static func beginsBlock(_ line: ArraySlice<UInt8>) -> Bool {
        guard let first = line.first, !line.allSatisfy(isSpace) else { return true }
        if "#|-*+".utf8.contains(first) { return true }
        let digits = line.prefix { (0x30...0x39).contains($0) }
        return !digits.isEmpty && line[digits.endIndex...].first.map { ".)".utf8.contains($0) } ?? false
    }

    private mutating func findRuns(in line: ArraySlice<UInt8>) {
        var index = line.startIndex
        while let start = line[index...].firstIndex(of: Self.backtick) {
            index = line[start...].firstIndex { $0 != Self.backtick } ?? line.endIndex
            let backslashes = line[..<start].reversed().prefix { $0 == UInt8(ascii: "\\") }.count
            runs.append((start..<index, backslashes % 2 == 1))
        }
    }

    /// A span goes from a run to the next one of the same length.
    private mutating func endSpans() {
        var next = [Int?](repeating: nil, count: runs.count)
        var lengths: [Int: Int] = [:]
        for index in runs.indices.reversed() {
            next[index] = lengths.updateValue(index, forKey: runs[index].range.count)
        }
        var index = 0
        while index < runs.count {
            if !runs[index].isEscaped, let end = next[index] {
                ranges.append(runs[index].range.lowerBound..<runs[end].range.upperBound)
                index = end
            }
            index += 1
        }
        runs = []
    }
}
