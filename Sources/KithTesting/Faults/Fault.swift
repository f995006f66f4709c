/// What can go wrong in a run. Each seed has its own choice of them, and its own rate for each.
public enum Fault: String, Hashable, Sendable, CaseIterable {
    /// A connection is lost at any byte, and dialled again.
    case lostConnection = "lost-connection"
    /// A link is cut for a while.
    case partition
    /// One direction of a link lets nothing through for a while.
    case clog
    /// A process dies and is started again later.
    case crash
    /// A wall clock is set wrong.
    case wrongClock = "wrong-clock"
    /// A wall clock runs fast, slow or not at all.
    case driftingClock = "drifting-clock"
    /// A disk is full for a while.
    case fullDisk = "full-disk"
    /// All machines sleep for hours or months.
    case absence
    /// A database is replaced by an older copy of itself.
    case restore
    /// A database is replaced by a copy of another node's.
    case clone
    /// A peer sends frames that are damaged. Nothing can be promised about contents in such a run, but that nobody traps.
    case damage

    /// Whether databases must be files, which makes a run slower.
    var needsDisks: Bool { self == .restore || self == .clone }

    /// The faults after which every promise holds.
    public static let honest = allCases.filter { $0 != .damage }
}
