/// How much is done for one text before others can write.
///
/// A function of the changes, not of time, so that every store that holds the same takes the same.
package struct TextBudget: Hashable, Sendable {
    /// Changes of a text that one transaction takes. More of them wait for their turn.
    package var changesMax = 2_048
    /// Changes of all texts that one transaction takes.
    package var changesOfAllMax = 8_192
    /// Current versions that a text may have. If it would have more, what came for it stays as it came, and is passed on.
    package var headsMax = 16_384
    /// How many times it reads an older change for that. If more, or more steps, would be needed, the merge is computed beside the writers, and only written in transactions.
    package var readMax = 8_192
    /// Older changes of which anything is read in a transaction to tell what is left of a text that a peer has collected. Of a longer text
    /// all that was collected is shown again.
    package var readCollectedMax = 32_768
    /// Steps that the merge takes: spans of text that are undone, redone and looked at.
    package var stepsMax = 1 << 17
    /// Older changes of which anything is read, changes that are merged, and steps, beside the writers. If more would be needed, the changes stay
    /// as they came, and are passed on.
    package var readAsideMax = 131_072
    package var changesAsideMax = 32_768
    package var stepsAsideMax = 1 << 26

    package init() {}
}
