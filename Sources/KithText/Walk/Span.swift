/// A run of characters in document order that were inserted together and are in the same state.
///
/// The character k > 0 of a span has the number `id + k`, the one before it as its left origin, and the same right
/// origin as the first.
struct Span {
    /// The event that inserted the first character, or ``older`` plus an offset.
    var id: Int
    var length: Int
    /// The character to the left when the first one was inserted; ``EventGraph/root`` for the beginning of the text.
    var leftOrigin: Int
    /// The next character to the right, deleted ones included, when the span was inserted.
    var rightOrigin: Int
    /// In the version that the walker stands at: ``inserted`` if it was, and ``deletedOnce`` for each change that deleted it. Without the
    /// former, only restarts have: their version does not contain what they deleted.
    var prepareState: Int32
    /// Visible after all changes walked so far. A character never comes back.
    var isVisible: Bool
    /// Whether it hangs on its right origin in the tree of FugueMax, and not on the left one: when that stood before it without anything between.
    var isLeftChild: Bool

    /// The number of the first character of the text that is older than the walk.
    static let older = 1 << 60
    /// The length that stands for "all older text", whatever its length: longer than any text.
    static let olderLength = 1 << 52

    static let inserted: Int32 = 1
    static let deletedOnce: Int32 = 2

    var end: Int { id + length }
    var isInserted: Bool { prepareState & Self.inserted != 0 }
    /// Inserted and not deleted.
    var isPrepared: Bool { prepareState == Self.inserted }

    /// What it adds to the sums of its block.
    var sum: BlockSums.Sum {
        BlockSums.Sum(prepared: isPrepared ? length : 0, visible: isVisible ? length : 0, inserted: isInserted ? 1 : 0)
    }
}
