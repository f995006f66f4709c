/// Finds the edits that turn one text into another, as a person would describe them.
struct TextComparison {
    /// How far a common beginning or end is given back to reach the border of a line.
    private static let lineBorderMax = 1_024
    /// How many scalars more a replacement takes so that it begins and ends with whole words.
    private static let wordMax = 64

    private let old: ContiguousArray<Unicode.Scalar>
    private let new: ContiguousArray<Unicode.Scalar>
    private let joins: Bool
    private var work = SequenceDiff.workMax

    init(old: ContiguousArray<Unicode.Scalar>, new: ContiguousArray<Unicode.Scalar>, joins: Bool) {
        self.joins = joins
        self.old = old
        self.new = new
    }

    /// The edits, from left to right: first whole lines are compared, then words inside the lines that differ.
    mutating func edits() -> [Edit] {
        let middle = differingMiddle()
        var edits: [Edit] = []
        for hunk in compare(middle, old.lineStarts(in: middle.old), new.lineStarts(in: middle.new)) {
            guard !hunk.old.isEmpty, !hunk.new.isEmpty else {
                edits.append(hunk)
                continue
            }
            edits += joined(compare(hunk, old.tokenStarts(in: hunk.old), new.tokenStarts(in: hunk.new)))
        }
        return edits.map(trimmed).filter { !$0.isEmpty }
    }

    /// What lies between the common beginning and the common end, widened to the borders of lines if they are near.
    private func differingMiddle() -> Edit {
        let whole = Edit(old: old.indices, new: new.indices)
        let middle = trimmed(whole)
        var start = middle.old.lowerBound
        while start > 0, old[start - 1] != "\n", middle.old.lowerBound - start < Self.lineBorderMax { start -= 1 }
        if start > 0, old[start - 1] != "\n" { start = middle.old.lowerBound }
        var end = middle.old.upperBound
        let isAtBorder = end == start || old[end - 1] == "\n"
        if !isAtBorder {
            while end < old.count, old[end] != "\n", end - middle.old.upperBound < Self.lineBorderMax { end += 1 }
            if end < old.count, old[end] == "\n" { end += 1 } else if end < old.count { end = middle.old.upperBound }
        }
        let lead = middle.old.lowerBound - start
        let tail = end - middle.old.upperBound
        return Edit(
            old: start..<end, new: middle.new.lowerBound - lead..<middle.new.upperBound + tail)
    }

    private mutating func compare(
        _ part: Edit, _ oldStarts: ContiguousArray<Int>, _ newStarts: ContiguousArray<Int>
    ) -> [Edit] {
        guard !part.old.isEmpty, !part.new.isEmpty else { return part.isEmpty ? [] : [part] }
        var pieces = PieceTable(old: old, new: new)
        let oldNumbers = pieces.numbers(of: oldStarts, end: part.old.upperBound, isNew: false)
        let newNumbers = pieces.numbers(of: newStarts, end: part.new.upperBound, isNew: true)
        let diff = SequenceDiff(oldNumbers, newNumbers, pieceCount: pieces.count, work: work)
        work = diff.work
        func border(_ starts: ContiguousArray<Int>, _ index: Int, _ end: Int) -> Int {
            index < starts.count ? starts[index] : end
        }
        return diff.hunks.map { hunk in
            Edit(
                old: border(
                    oldStarts, hunk.old.lowerBound, part.old.upperBound)..<border(oldStarts, hunk.old.upperBound, part.old.upperBound),
                new: border(
                    newStarts, hunk.new.lowerBound, part.new.upperBound)..<border(newStarts, hunk.new.upperBound, part.new.upperBound))
        }
    }

    /// Joins edits with less in common between them than each of them changes.
    private func joined(_ edits: [Edit]) -> [Edit] {
        var result: [Edit] = []
        for edit in edits {
            if joins, let last = result.last {
                let between = edit.old.lowerBound - last.old.upperBound
                if between < last.size, between < edit.size {
                    result[result.count - 1] = last.joined(with: edit)
                    continue
                }
            }
            result.append(edit)
        }
        return result
    }

    /// The edit without what its two sides begin and end with, as far as no character is torn.
    ///
    /// A replacement takes the whole word, so that two people's replacements of one word both stay readable; what is
    /// only inserted into a word, or only deleted from it, does not.
    private func trimmed(_ edit: Edit) -> Edit {
        let tight = trimmed(edit) { $0.isTokenBoundary($1) }
        guard !tight.old.isEmpty, !tight.new.isEmpty else { return tight }
        let words = trimmed(edit) { $0.isWordBoundary($1) }
        return words.size - tight.size <= Self.wordMax ? words : tight
    }

    private func trimmed(
        _ edit: Edit, where isBoundary: (ContiguousArray<Unicode.Scalar>, Int) -> Bool
    ) -> Edit {
        let shorter = min(edit.old.count, edit.new.count)
        let (old0, new0) = (edit.old.lowerBound, edit.new.lowerBound)
        let (old1, new1) = (edit.old.upperBound, edit.new.upperBound)
        var lead = 0
        while lead < shorter, old[old0 + lead] == new[new0 + lead] { lead += 1 }
        while lead > 0, !isBoundary(old, old0 + lead) || !isBoundary(new, new0 + lead) { lead -= 1 }
        var tail = 0
        while tail < shorter - lead, old[old1 - 1 - tail] == new[new1 - 1 - tail] { tail += 1 }
        while tail > 0, !isBoundary(old, old1 - tail) || !isBoundary(new, new1 - tail) { tail -= 1 }
        return Edit(old: old0 + lead..<old1 - tail, new: new0 + lead..<new1 - tail)
    }
}
