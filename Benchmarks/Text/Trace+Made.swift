import KithCausality
import KithText

extension Trace {
    /// Where two people edit who do not see each other.
    enum Branches: String {
        case scattered = "scattered over 65,000 scalars"
        case atOnePlace = "each at the beginning of the text"
    }

    /// Two people who each make `count` changes of three scalars to the same text, then see each other's.
    init(branchesOf count: Int, _ kind: Branches) throws {
        var random = SplitMix64(seed: 5)
        func dot(_ replica: Int, _ sequence: Int) -> Dot {
            Dot(replica: ReplicaID(high: 0, low: UInt64(replica)), sequence: UInt64(sequence))
        }
        let first = TextChange(
            dot: dot(0, 1), parents: [], operations: [.insert(String(repeating: "some text ", count: 6_500), at: 0)])
        var changes = [first]
        var parents = [first.dot, first.dot]
        for sequence in 1...count {
            for replica in 0...1 {
                let position = kind == .scattered ? Int(random.next() % 65_000) : 0
                let change = TextChange(
                    dot: dot(replica + 1, sequence), parents: [parents[replica]], operations: [.insert("abc", at: position)])
                parents[replica] = change.dot
                changes.append(change)
            }
        }
        // In whatever order they arrive, the text is the same.
        var other = TextDocument()
        _ = try other.merge(changes.sorted { $0.dot < $1.dot })
        self.init(name: "branches", changes: changes, end: other.text, edits: changes.count)
    }

    /// The trace as if its author had saved the text after every so many edits.
    func saves(every edits: Int) throws -> [AppendedTextChange] {
        var document = TextDocument()
        var author = TextBuffer()
        var rows: [AppendedTextChange] = []
        for start in stride(from: 0, to: changes.count, by: edits) {
            for change in changes[start..<min(start + edits, changes.count)] { try author.apply(change.operations) }
            let operations = TextOperations(from: document.text, to: author)
            guard !operations.isEmpty else { continue }
            rows.append(
                try document.edit(operations, as: Dot(replica: ReplicaID(high: 0, low: 0), sequence: UInt64(rows.count) + 1)))
        }
        return rows
    }

    /// The text as its author saved it after every so many edits.
    func savedTexts(every edits: Int) throws -> [String] {
        var author = TextBuffer()
        return try stride(from: 0, to: changes.count, by: edits).map { start in
            for change in changes[start..<min(start + edits, changes.count)] { try author.apply(change.operations) }
            return author.string
        }
    }
}
