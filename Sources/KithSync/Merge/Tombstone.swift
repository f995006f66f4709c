import KithCausality

/// A deletion: its commit, and everything about the row that its author had seen.
package struct Tombstone: Hashable, Sendable {
    package var dot: Dot
    package var seen: VersionVector

    package init(dot: Dot, seen: VersionVector) {
        self.dot = dot
        self.seen = seen
    }
}

/// Which wins when a row is deleted and edited concurrently.
public enum DeletePolicy: UInt8, Hashable, Sendable {
    /// An edit that did not know of the deletion brings the whole row back.
    case updateWins = 0
    /// A row with a tombstone stays invisible.
    case deleteWins = 1
}
