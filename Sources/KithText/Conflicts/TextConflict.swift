import KithCausality

/// A line of a text that was changed at one place by people who had not seen each other's change. The text holds what the merge made
/// of it, which may make no sense. See `docs/text.md`, "Places in conflict".
public struct TextConflict: Hashable, Sendable {
    /// One of the versions that were brought together.
    public struct Version: Hashable, Sendable {
        /// The line as it was in this version; what stands there now may have been several lines then.
        public let text: String
        /// The changes that made it so, sorted.
        public let changes: [Dot]

        public init(text: String, changes: [Dot]) {
            self.text = text
            self.changes = changes
        }
    }

    /// From the first to the last scalar that is left of what was inserted, in the current text.
    public let place: Range<Int>
    /// The lines with the place, without the line break at the end. An edit in here ends the conflict.
    public let line: Range<Int>
    /// The line as it was before, as far as all versions knew it.
    public let before: String
    /// At least two, in an order that is the same everywhere.
    public let versions: [Version]
}

/// What a search for conflicts found in a text.
public struct TextConflicts: Hashable, Sendable {
    /// In the order of the text; none are on the same line.
    public internal(set) var conflicts: [TextConflict] = []
    /// Whether everything could be looked at: see ``TextLimits/conflictComparisonsMax(changes:)`` and ``TextLimits/conflictsOpenMax``.
    public internal(set) var isComplete = true
}

extension Unicode.Scalar {
    /// Whether a line ends here. Between the two of CR LF lies an empty line, which does no harm.
    var isLineBreak: Bool { self == "\n" || self == "\r" }
}
