/// A conflict that no change has ended so far.
struct OpenConflict {
    /// What was inserted at the place: events during a walk, positions in the text between walks. In the order of the text.
    var inserted: [Range<Int>]
    let before: String
    /// Two.
    let versions: [TextConflict.Version]
    /// An order that is the same everywhere: by the place in the text, then by what the versions say.
    func precedes(_ other: OpenConflict) -> Bool {
        let (first, second) = (inserted.first?.lowerBound ?? 0, other.inserted.first?.lowerBound ?? 0)
        return first == second ? saysLess(than: other) : first < second
    }

    func saysLess(than other: OpenConflict) -> Bool {
        for (left, right) in zip(versions, other.versions) {
            if left.changes != right.changes { return left.changes.lexicographicallyPrecedes(right.changes) }
            if !left.text.utf8.elementsEqual(right.text.utf8) { return left.text.utf8.lexicographicallyPrecedes(right.text.utf8) }
        }
        return before.utf8.lexicographicallyPrecedes(other.before.utf8)
    }
}

/// The lines of a conflict while a change is applied to the text.
struct ConflictLines {
    private(set) var bounds: Range<Int>
    /// Whether a line break next to them was deleted, so that they are longer now.
    private(set) var isJoined = false

    init(_ bounds: Range<Int>) {
        self.bounds = bounds
    }

    /// Whether operations leave these lines as they are; ``bounds`` are where they stand then.
    mutating func survive(_ operations: TextOperations, _ steps: Range<Int>) -> Bool {
        for index in steps {
            let step = operations.steps[index]
            let count = step.magnitude
            if step.isInsert {
                let first = operations.inserted[step.textStart]
                let last = operations.inserted[step.textStart + count - 1]
                if step.position < bounds.lowerBound || (step.position == bounds.lowerBound && last.isLineBreak) {
                    bounds = bounds.lowerBound + count..<bounds.upperBound + count
                } else if step.position < bounds.upperBound || (step.position == bounds.upperBound && !first.isLineBreak) {
                    return false
                }
            } else if step.position + count <= bounds.lowerBound {
                if step.position + count == bounds.lowerBound { isJoined = true }
                bounds = bounds.lowerBound - count..<bounds.upperBound - count
            } else if step.position < bounds.upperBound {
                return false
            } else if step.position == bounds.upperBound {
                isJoined = true
            }
        }
        return true
    }
}

extension TextBuffer {
    /// The lines that hold the scalars number `place`, which are not none.
    func lines(around place: Range<Int>) -> Range<Int> {
        let start = lastLineBreak(in: 0..<place.lowerBound).map { $0 + 1 } ?? 0
        return start..<(firstLineBreak(in: place.upperBound..<count) ?? count)
    }

    func firstLineBreak(in range: Range<Int>) -> Int? {
        var start = range.lowerBound
        while start < range.upperBound {
            let part = start..<min(start + Self.searchLength, range.upperBound)
            if let found = scalars(in: part).firstIndex(where: \.isLineBreak) { return start + found }
            start = part.upperBound
        }
        return nil
    }

    func lastLineBreak(in range: Range<Int>) -> Int? {
        var end = range.upperBound
        while end > range.lowerBound {
            let part = max(end - Self.searchLength, range.lowerBound)..<end
            if let found = scalars(in: part).lastIndex(where: \.isLineBreak) { return part.lowerBound + found }
            end = part.lowerBound
        }
        return nil
    }

    private static var searchLength: Int { 256 }
}
