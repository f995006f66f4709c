import KithCausality
import KithLedger
import KithText

/// The merge of a save whose editor had loaded a text that has changed since, from the three texts alone.
package struct ThreeWayText {
    package let current: [UInt8]
    /// `current` with what was changed from `base` to `new`. What others wrote meanwhile stays.
    package let merged: [UInt8]
    /// What makes `merged` of `current`. A comparison of the two would not tell: it may write anew what others wrote.
    package let operations: TextOperations

    package init(_ new: [UInt8], base: [UInt8], current: [UInt8]) throws {
        self.current = current
        let (new, base, now) = (try TextBuffer(utf8: new), try TextBuffer(utf8: base), try TextBuffer(utf8: current))
        // Nobody ever sees these names; the order of insertions at one place follows from them.
        func dot(_ number: UInt64) -> Dot { Dot(replica: ReplicaID(high: 0, low: number), sequence: 1) }
        var document = TextDocument()
        if !base.isEmpty { try document.edit([.insert(base.string, at: 0)], as: dot(0)) }
        let loaded = document.version
        let theirs = TextOperations(from: base, to: now, joining: false)
        if !theirs.isEmpty { try document.edit(theirs, as: dot(1)) }
        operations = try document.transform(
            TextOperations(from: base, to: new), from: loaded, as: dot(2), history: PastOfText.inMemory)
        var text = now
        try text.apply(operations)
        merged = text.utf8
    }
}
