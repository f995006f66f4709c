/// The largest things this module accepts, from a local caller as from a peer.
package enum TextLimits {
    /// Scalars of a text, at the version of the change that made it so long. Two such texts may merge to a longer
    /// one: a limit on the merged text would be obeyed by one device and not by another. A text beyond the limit can
    /// still shrink.
    package static let textScalarsMax = 16 << 20
    /// Operations of one change.
    package static let operationsMax = 1 << 18
    /// Scalars that one change inserts and deletes together.
    package static let changeEventsMax = 32 << 20
    /// Parents of one change. A text with more current versions cannot be edited; each edit makes one of all there are.
    package static let parentsMax = 1 << 18
    /// Events of one history. Far from any real one; it keeps all sums exact.
    package static let historyEventsMax = 1 << 48
    /// Bytes of the encoded operations of one change, or of one column of a packed chunk.
    package static let encodedBytesMax = 64 << 20
    /// Changes of one packed chunk.
    package static let chunkChangesMax = 1 << 18
    /// Conflicts of a text that are remembered beyond the change that brings all concurrent ones together: the first ones in the text.
    static let conflictsOpenMax = 256
    /// Pairs of versions with a conflict in one part of the history that is concurrent. Beyond it those of that part are not listed.
    static let conflictPairsMax = 1_024
    /// How many changes that only one of two versions had seen are compared, for all pairs of versions that were brought together in a
    /// part of the history with this many concurrent changes. Beyond it no conflicts are looked for in that part.
    static func conflictComparisonsMax(changes: Int) -> Int { max(1 << 16, changes << 8) }

    static func check(_ value: Int, _ maximum: Int, _ limit: String) throws(TextError) {
        guard value <= maximum else { throw .limitExceeded(limit: limit, value: value, maximum: maximum) }
    }
}
