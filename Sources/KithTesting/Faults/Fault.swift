/// What can go wrong in a run. Each seed has its own choice of them, and its own rate for each.
public enum Fault: String, Hashable, Sendable, CaseIterable {
    /// A connection is lost at any byte, and dialled again.
    case lostConnection = "lost-connection"
    /// A link is cut for a while.
    case partition
    /// One direction of a link lets nothing through for a while.
    case clog
    /// What one direction of a link carries takes seconds longer for a while.
    case slowLink = "slow-link"
    /// A process dies and is started again later.
    case crash
    /// A wall clock is set wrong.
    case wrongClock = "wrong-clock"
    /// A wall clock runs fast, slow or not at all.
    case driftingClock = "drifting-clock"
    /// A disk is full for a while.
    case fullDisk = "full-disk"
    /// A disk answers writes and syncs with errors for a while.
    case brokenDisk = "broken-disk"
    /// A machine loses its power in the middle of whatever it does: of what was not synced its disk loses some, all or nothing, in
    /// whole writes or torn.
    case powerLoss = "power-loss"
    /// All machines sleep for hours or months.
    case absence
    /// A database is replaced by an older copy of itself.
    case restore
    /// A database is replaced by a copy of another node's.
    case clone
    /// Some machines run an older version of the app, and are updated in the middle. Only for schemas that have one.
    case oldVersion = "old-version"
    /// Deleted rows are thrown away for good once all members have heard of them.
    case garbage
    /// A machine is no longer a member.
    case revocation
    /// A member sends frames of good form that are false. Nothing can be promised about contents in such a run, but that nobody
    /// traps and all stores stay sound.
    case forgery
    /// A peer sends frames that are damaged. Nothing can be promised about contents in such a run, but that nobody traps.
    case damage

    /// Whether databases must be files, which makes a run slower.
    var needsDisks: Bool {
        switch self {
        case .restore, .clone, .brokenDisk, .powerLoss: true
        default: false
        }
    }

    /// Of 100 seeds so many have this fault among others.
    var percent: Int {
        switch self {
        case _ where needsDisks: 10
        case .garbage, .revocation, .oldVersion: 15
        default: 50
        }
    }

    /// Whether rows may then be collected that somebody has not heard of: by clocks that run ahead of the trash, or by machines
    /// that have forgotten. What remains of edits of such rows is tried elsewhere.
    public var confusesGarbage: Bool {
        switch self {
        case .wrongClock, .driftingClock, .restore, .clone: true
        default: false
        }
    }

    /// The faults after which every promise holds.
    public static let honest = allCases.filter { $0 != .damage && $0 != .forgery }
}
