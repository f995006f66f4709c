extension String {
    /// Whether all lines of `earlier` are here, in their order: each, without the white space around it, begins or ends a line, and no word
    /// of it goes on there. Empty lines do not count.
    package func keepsLines(of earlier: String) -> Bool {
        var open = earlier.contentLines[...]
        for line in contentLines where open.first.map(line.keepsWhole) == true { open.removeFirst() }
        return open.isEmpty
    }

    private var contentLines: [ContiguousArray<Unicode.Scalar>] {
        unicodeScalars.split { $0 == "\n" || $0 == "\r" }.compactMap { line in
            let start = line.drop { $0.tokenClass == .space }
            guard let last = start.lastIndex(where: { $0.tokenClass != .space }) else { return nil }
            return ContiguousArray(start[...last])
        }
    }
}

extension ContiguousArray<Unicode.Scalar> {
    fileprivate func keepsWhole(_ line: Self) -> Bool {
        starts(with: line) && isWordBoundary(line.count)
            || count >= line.count && suffix(line.count).elementsEqual(line) && isWordBoundary(count - line.count)
    }
}
