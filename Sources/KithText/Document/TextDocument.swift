import KithCausality

/// One text with the graph of changes that made it: edits, merges, stale saves, old versions.
///
/// A value without I/O. It holds the text and as much of the newest history as it was given or had to load; older
/// changes come from a ``TextHistory``. A new document (``init()``) holds all its history itself.
///
///     var mine = TextDocument()
///     try mine.edit([.insert("Milk", at: 0)], as: Dot(replica: me, sequence: 1))
///
/// All documents that have the same changes have the same text, byte for byte, in whatever order and in whatever
/// portions the changes arrived. See `docs/text.md`.
public struct TextDocument: Sendable {
    /// The current text.
    public internal(set) var text: TextBuffer
    var log: ChangeLog

    /// The empty text without any change.
    public init() {
        self.init(text: TextBuffer(), heads: [], nextEvent: 0)
    }

    /// A text whose changes lie in a ``TextHistory``.
    ///
    /// - Parameters:
    ///   - text: the text at the current version.
    ///   - heads: the current version (``heads`` when the document was stored).
    ///   - nextEvent: the number of events stored (``nextEvent`` then).
    public init(text: TextBuffer, heads: [TextHead], nextEvent: Int) {
        self.text = text
        log = ChangeLog(graph: EventGraph(heads: heads, nextEvent: nextEvent))
    }

    /// The current version: the changes without children, ascending by event number.
    public var heads: [TextHead] { log.graph.heads }

    /// The current version as dots, sorted: the parents of the next edit.
    public var version: [Dot] { heads.count == 1 ? [heads[0].dot] : heads.map(\.dot).sorted() }

    /// The number the next event gets: how many scalars were ever inserted and deleted.
    public var nextEvent: Int { log.graph.nextEvent }

    // MARK: Editing

    /// Applies a local edit to the current text.
    ///
    /// - Returns: the change, to be stored and sent.
    /// - Throws: ``TextError``; then nothing changed.
    @discardableResult
    public mutating func edit(_ operations: TextOperations, as dot: Dot) throws(TextError) -> AppendedTextChange {
        try append(TextChange(dot: dot, parents: version, operations: operations, lengthBefore: text.count))
    }

    /// Replaces the whole text by one that stands as if nothing had been there: a *restart*, which can be understood by those who have
    /// forgotten the history before it.
    ///
    /// - Returns: the change, to be stored and sent.
    /// - Throws: ``TextError``; then nothing changed.
    @discardableResult
    public mutating func restart(with newText: String, as dot: Dot) throws(TextError) -> AppendedTextChange {
        var operations = TextOperations()
        operations.delete(text.count, at: 0)
        operations.insert(newText, at: 0)
        // Who has forgotten what is deleted needs something else that the change did.
        if newText.isEmpty { operations.append([.insert(" ", at: 0), .delete(count: 1, at: 0)]) }
        return try append(
            TextChange(dot: dot, parents: version, isRestart: true, operations: operations, lengthBefore: text.count))
    }

    private mutating func append(_ change: TextChange) throws(TextError) -> AppendedTextChange {
        try checkNew(change.dot)
        try change.validateShape()
        try change.check(length: text.count)
        return appendVerbatim(change, log.graph.version)
    }

    /// Replaces the scalars number `range` of the current text: the cheapest edit, one keystroke say.
    ///
    /// - Throws: ``TextError``; then nothing changed.
    public mutating func replace(_ range: Range<Int>, with newText: String, as dot: Dot) throws(TextError) {
        guard range.lowerBound >= 0, range.upperBound <= text.count else {
            throw .positionOutOfRange(position: range.upperBound, length: text.count)
        }
        var operations = TextOperations()
        operations.delete(range.count, at: range.lowerBound)
        operations.insert(newText, at: range.lowerBound)
        guard !operations.isEmpty else { throw .emptyChange }
        try checkNew(dot)
        _ = try TextChange.lengthAfter(operations, operations.steps.indices, before: text.count, stated: nil)
        text.applyChecked(operations, operations.steps.indices)
        log.append(dot, operations, parents: log.graph.version)
    }

    /// A dot names one change for ever; this finds a reuse within what is loaded.
    private func checkNew(_ dot: Dot) throws(TextError) {
        guard dot.sequence > 0, log.graph.lastEvent(of: dot) == nil else { throw .invalidDot(dot) }
        try TextLimits.check(nextEvent, TextLimits.historyEventsMax, "The number of events of a text")
    }

    /// Appends a change that was made at the current version.
    mutating func appendVerbatim(_ change: TextChange, _ parents: EventVersion) -> AppendedTextChange {
        text.applyChecked(change.operations, change.operations.steps.indices)
        return append(change, parents)
    }

    mutating func append(_ change: TextChange, _ parents: EventVersion) -> AppendedTextChange {
        let firstEvent = log.graph.nextEvent
        log.append(change.dot, change.operations, parents: parents, isRestart: change.isRestart)
        let header = TextChangeHeader(
            firstEvent: firstEvent, length: log.graph.nextEvent - firstEvent, dot: change.dot, parents: parents,
            isRestart: change.isRestart)
        return AppendedTextChange(header: header, change: change)
    }
}

/// A change together with the numbers this device gave it: one row to be stored.
public struct AppendedTextChange: Hashable, Sendable {
    /// The change's place in the graph, as this device numbers it.
    public let header: TextChangeHeader
    /// What the change does.
    public let change: TextChange
}
