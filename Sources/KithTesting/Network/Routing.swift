import KithSync

/// How long it takes from what a node's router is told to what its sessions hear: what threads decide where there are any.
struct Routing {
    private var random: SplitMix64
    private let storeMilliseconds: ClosedRange<Int64>
    /// Of a hundred commits, how many another process of the machine makes.
    private let foreignPercent: Int

    /// How long a session may be busy with something else, such as a large slice.
    private static let busyMilliseconds: Int64 = 1_000
    /// How long it may take until the commit of another process is noticed: usually at once, or when the file is looked at again.
    private static let noticeMilliseconds: Int64 = 50
    private static let pollMilliseconds: Int64 = 1_000
    /// Until what could not be read is read again.
    static let retryMilliseconds: Int64 = 1_000

    init(seed: UInt64, _ conditions: NetworkConditions) {
        random = SplitMix64(seed: seed, .routing)
        storeMilliseconds = conditions.storeMilliseconds
        foreignPercent = random.pick([0, 0, 20, 100]) ?? 0
    }

    /// Until a session that was woken takes what waits for it.
    mutating func wakeMilliseconds() -> Int64 {
        random.chance(percent: 5) ? random.int64(in: 0...Self.busyMilliseconds) : random.int64(in: storeMilliseconds)
    }

    mutating func readMilliseconds() -> Int64 { random.int64(in: storeMilliseconds) }

    /// Whether a read fails, because somebody else has the database.
    mutating func isBusy() -> Bool { random.chance(percent: 5) }

    mutating func isForeign() -> Bool { random.chance(percent: foreignPercent) }

    mutating func foreignMilliseconds() -> Int64 {
        random.int64(in: 0...(random.chance(percent: 5) ? Self.pollMilliseconds : Self.noticeMilliseconds))
    }
}
