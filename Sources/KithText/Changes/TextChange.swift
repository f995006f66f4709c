import KithCausality

/// What one commit did to one text: atomic, immutable, the unit that travels and is stored.
public struct TextChange: Hashable, Sendable {
    /// The commit. A commit changes a text at most once; its operations are put in a row.
    public let dot: Dot
    /// The version the author saw: the changes with no child among those seen, sorted by dot. Empty: the empty text.
    public let parents: [Dot]
    /// Whether the change is a *restart*: it begins by deleting all that its author saw, and what it inserts stands in the order of the
    /// text as if nothing had been there. So it stands in one place where the history before it is known and where it was forgotten.
    public let isRestart: Bool
    /// What was done to the text at ``parents``.
    public let operations: TextOperations
    /// Length in scalars of the text the author saw. Checked where the change is applied: a cheap alarm.
    public let lengthBefore: Int?
    /// A fingerprint of the text the author had afterwards, chosen by the caller (8 bytes of SHA-256, say). Carried,
    /// not checked here: whenever a document's version is this change alone, its text must have this fingerprint.
    public let hashAfter: UInt64?

    public init(
        dot: Dot, parents: [Dot], isRestart: Bool = false, operations: TextOperations, lengthBefore: Int? = nil,
        hashAfter: UInt64? = nil
    ) {
        self.dot = dot
        self.parents = parents
        self.isRestart = isRestart
        self.operations = operations
        self.lengthBefore = lengthBefore
        self.hashAfter = hashAfter
    }

    /// What can be checked without the text: sizes, order of the parents, a real dot.
    func validateShape() throws(TextError) {
        guard dot.sequence > 0 else { throw .invalidDot(dot) }
        guard !operations.isEmpty else { throw .emptyChange }
        try TextLimits.check(operations.count, TextLimits.operationsMax, "The number of operations")
        try TextLimits.check(operations.eventCount, TextLimits.changeEventsMax, "The size of a change")
        try TextLimits.check(parents.count, TextLimits.parentsMax, "The number of parents")
        for (left, right) in zip(parents, parents.dropFirst()) where left >= right { throw .parentsNotSorted }
        if parents.contains(dot) { throw .cycle }
        if isRestart, let lengthBefore, operations.scalarsDeletedFirst != lengthBefore { throw .restartKeepsText }
    }

    /// Checks that the change fits a text of `length` scalars.
    func check(length: Int) throws(TextError) {
        if isRestart, operations.scalarsDeletedFirst != length { throw .restartKeepsText }
        _ = try Self.lengthAfter(operations, operations.steps.indices, before: length, stated: lengthBefore)
    }

    /// The length of a text of `length` scalars after operations, which must fit it by their positions, the stated length and the limit.
    static func lengthAfter(
        _ operations: TextOperations, _ steps: Range<Int>, before length: Int, stated: Int?
    ) throws(TextError) -> Int {
        if let stated, stated != length { throw .lengthMismatch(stated: stated, actual: length) }
        let after = try operations.length(after: length, steps)
        try TextLimits.check(after, max(length, TextLimits.textScalarsMax), "The length of a text")
        return after
    }
}
