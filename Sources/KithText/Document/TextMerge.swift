import KithCausality

/// What merging changes did to a document.
public struct TextMerge: Sendable {
    /// The changes that are part of the document now, in the order of their events: rows to be stored.
    public internal(set) var appended: [AppendedTextChange] = []
    /// What happened to the text, in order.
    public internal(set) var patch = TextOperations()
    /// Changes that were part of it before.
    public internal(set) var known: [Dot] = []
    /// Changes that can never be applied, with the reason: to be quarantined, with what builds on them.
    public internal(set) var rejected: [RejectedTextChange] = []
    /// Changes of which a parent is missing or was rejected; to be given again once the parent is there.
    public internal(set) var pending: [TextChange] = []
    /// Whether the merge was given up because it took more steps than it may. Then the document is not to be used further.
    package internal(set) var isTooLong = false
    /// How many runs of characters the replay of concurrent changes held at most, about 60 bytes each: in proportion to
    /// what is concurrent, whatever the length of text and history. 0 when nothing had to be replayed.
    package internal(set) var peakRuns = 0
}

/// A change that was refused, with the reason; others of the same portion are applied all the same.
public struct RejectedTextChange: Error, Hashable, Sendable {
    /// The change.
    public let change: TextChange
    /// Why it was refused.
    public let reason: TextError
}
