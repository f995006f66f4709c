extension TextConflict {
    /// What ends the conflict so that its lines say `text`, for the text that it was found in: an edit of the lines, also when they
    /// say that already.
    public func resolution(_ text: String, in current: TextBuffer) -> TextOperations {
        let old = TextBuffer(scalars: current.scalars(in: line))
        var operations = TextOperations()
        for operation in TextOperations(from: old, to: TextBuffer(text)) {
            switch operation {
            case .insert(let inserted, let position): operations.insert(inserted, at: position + line.lowerBound)
            case .delete(let count, let position): operations.delete(count, at: position + line.lowerBound)
            }
        }
        var lines = ConflictLines(line)
        guard lines.survive(operations, operations.steps.indices), let last = old.scalars.last else { return operations }
        // Nothing of the lines changes: what they end with is written once more.
        var rewritten = TextOperations()
        rewritten.delete(1, at: line.upperBound - 1)
        rewritten.insert(scalars: [last], at: line.upperBound - 1)
        rewritten.append(operations)
        return rewritten
    }
}

extension TextBuffer {
    /// A part of the text.
    public func string(in range: Range<Int>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars(in: range))
        return String(view)
    }
}
