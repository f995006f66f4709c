/// What can go wrong in a run. Each seed has its own choice of them, and its own rate for each.
public enum Fault: String, Hashable, Sendable, CaseIterable {
    /// A connection is lost at any byte of what is under way, and dialled again.
    case lostConnection = "lost-connection"
    /// A link is cut for a while.
    case partition
    /// The machines fall into two groups that do not hear of each other for a while.
    case split
    /// The network of several machines stops, one after the other, and goes on in another order.
    case swizzle
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
    /// One machine sleeps for a month or longer, while the others go on.
    case nap
    /// A database is replaced by an older copy of itself.
    case restore
    /// A whole machine goes back to an earlier state, with all that lies beside its database.
    case revert
    /// A database is replaced by a copy of another node's.
    case clone
    /// Some machines run an older version of the app, and are updated in the middle. Only for schemas that have one.
    case oldVersion = "old-version"
    /// Some machines begin with rows in their tables, equal, overlapping or different ones; some of these machines begin later.
    case foundRows = "found-rows"
    /// Deleted rows are thrown away for good once all members have heard of them.
    case garbage
    /// A machine is no longer a member.
    case revocation
    /// Changes are carried from machine to machine by files, late, several times, in any order, or lost, while the two do not meet.
    case stick
    /// A member sends frames of good form that are false. Whatever a store then takes from them, the rest is judged as ever.
    case forgery
    /// A peer sends frames that are damaged. Those that can be read all the same are judged as false ones are.
    case damage

    /// Whether databases must be files, which makes a run slower.
    var needsDisks: Bool {
        switch self {
        case .restore, .revert, .clone, .fullDisk, .brokenDisk, .powerLoss: true
        default: false
        }
    }

    /// Whether it concerns one link, and needs one.
    var befallsLink: Bool {
        switch self {
        case .lostConnection, .clog, .slowLink, .forgery, .damage: true
        default: false
        }
    }

    /// Whether seeds draw it from a stream of its own.
    var isLater: Bool {
        switch self {
        case .nap, .split, .swizzle, .stick: true
        default: false
        }
    }

    /// Of 100 seeds so many have this fault among others.
    var percent: Int {
        switch self {
        case _ where needsDisks: 10
        case .garbage, .revocation, .oldVersion, .nap, .split, .swizzle, .foundRows, .stick: 15
        default: 50
        }
    }

    /// Whether rows may then be collected that somebody has not heard of: by clocks that run ahead of the trash, or by machines
    /// that have forgotten. What remains of edits of such rows is tried elsewhere.
    public var confusesGarbage: Bool {
        switch self {
        case .wrongClock, .driftingClock, .restore, .revert, .clone: true
        default: false
        }
    }

    /// The faults after which every promise holds.
    public static let honest = allCases.filter { $0 != .damage && $0 != .forgery }
}
