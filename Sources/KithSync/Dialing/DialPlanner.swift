/// Decides whom to dial, and when: a value without sockets and clocks.
///
/// Every target has its own growing pause, so that one that never answers costs nothing and one that appears is dialled at
/// once. A device that is connected is not dialled; a name that turned out to be such a device is not either. One that may be in several
/// places is dialled in a few of them at once, one shortly after the other (RFC 8305).
///
/// Announcements are hints that anybody can give, so they are bounded in number, and so is how often somebody is dialled at whose
/// announcement nobody answered yet. However many false ones there are: where a person says that a device is, and where it was reached
/// before, is dialled first; then where it has answered; then the others in turn, the one that was not tried for longest first.
package struct DialPlanner<
    Device: Hashable & Comparable & Sendable, Name: Hashable & Comparable & Sendable, Address: Hashable & Sendable
>: Sendable {
    package typealias Target = DialTarget<Device, Name>

    /// Something to be dialled now.
    package struct Dial: Hashable, Sendable {
        package let target: Target
        /// Who must be there; `nil` if any trusted device will do.
        package let device: Device?
        /// To be tried in this order.
        package let addresses: [Address]
    }

    /// In how many places one device is dialled at once.
    package static var atOnceMax: Int { 8 }
    /// How much later a device is dialled in the next place. Most have answered by then.
    package static var staggerMilliseconds: Int64 { 500 }
    /// Addresses tried for one target.
    package static var addressesMax: Int { 8 }
    /// Most announcements that are followed.
    package static var announcedMax: Int { 512 }
    /// The least pause after somebody refused us or we them: nothing helps but a change, and one that is seen here ends the pause. A device
    /// of the list may see it later than this one, so it is asked again as one that did not answer, soon first and then more rarely.
    static var refusedMilliseconds: Int64 { 60_000 }

    private struct Entry: Sendable {
        var addresses: [Address]
        var backoff = Backoff()
        var due: Instant
        /// Since when it is being dialled.
        var diallingSince: Instant?
        /// When it was first heard of, or last tried, among all others.
        var turn: UInt64
        /// Who answered there last.
        var device: Device?
        /// Whether `device` has answered there, and was not only said to be there.
        var isProven = false
        /// Who is to be there; `nil` if any trusted device will do.
        var expected: Device?

        var isDialling: Bool { diallingSince != nil }
        /// Who is probably there.
        var likely: Device? { expected ?? device }
    }

    /// What is dialled first.
    private enum Rank: Int {
        /// The devices of the list.
        case listed
        /// Announcements at which somebody has answered.
        case proven
        /// Announcements at which nobody has answered yet.
        case newcomer
    }

    /// The place of a target among those that are due: as numbers, of which many are sorted in less time than entries.
    private struct Place {
        let rank: Rank
        /// The lower the earlier.
        let order: Int64
        let index: Int
    }

    /// In how many places a device is being dialled, and since when in the last of them.
    private struct Attempts {
        var count = 0
        var last = Instant(milliseconds: .min)

        mutating func add(_ since: Instant) {
            count += 1
            last = max(last, since)
        }
    }

    private var entries: [Target: Entry] = [:]
    private var announcedCount = 0
    private var connected: [Device: Int] = [:]
    private var turns: UInt64 = 0
    private var newcomers = NewcomerBudget()

    package init() {}

    // MARK: What happens

    /// The user's list of devices is this.
    ///
    /// - Parameter remembered: where a device was reached before.
    package mutating func trust(
        _ devices: [(device: Device, addresses: [Address])], now: Instant, remembered: (Device) -> [Address] = { _ in [] }
    ) {
        let listed = Set(devices.map { Target.device($0.device) })
        for target in entries.keys {
            if case .device = target, !listed.contains(target) { entries[target] = nil }
        }
        for (device, addresses) in devices {
            let earlier = remembered(device).filter { !addresses.contains($0) }
            set(.device(device), addresses + earlier, device: device, now: now)
        }
        // Whoever was refused may be welcome now.
        retryAll(now: now)
    }

    /// A device was reached at another address than before. That alone is no reason to dial it sooner.
    package mutating func remember(_ addresses: [Address], of device: Device) {
        entries[.device(device)]?.addresses = addresses
    }

    /// A node is announced at these addresses: that of `device`, as far as an announcement can tell.
    package mutating func found(_ name: Name, _ addresses: [Address], device: Device? = nil, now: Instant) {
        guard entries[.announced(name)] != nil || announcedCount < Self.announcedMax else { return }
        if entries[.announced(name)] == nil { announcedCount += 1 }
        set(.announced(name), Array(addresses.prefix(Self.addressesMax)), device: device, now: now)
        if let device { entries[.announced(name)]?.expected = device }
    }

    /// These and no others are announced, as far as it concerns this node.
    package mutating func found(_ targets: [(name: Name, device: Device?, addresses: [Address])], now: Instant) {
        keep(announced: Set(targets.map(\.name)))
        for target in targets { found(target.name, target.addresses, device: target.device, now: now) }
    }

    /// Only these names are announced, as far as it concerns this node.
    package mutating func keep(announced names: Set<Name>) {
        for target in entries.keys {
            guard case .announced(let name) = target, !names.contains(name) else { continue }
            entries[target] = nil
            announcedCount -= 1
        }
    }

    /// The network has changed: everything may be reached now.
    package mutating func retryAll(now: Instant) {
        for target in entries.keys {
            entries[target]?.due = now
            entries[target]?.backoff.reset()
        }
    }

    /// A connection to `device` is up; `target` is what was dialled, if it was dialled from here.
    package mutating func connected(_ device: Device, dialled target: Target?) {
        connected[device, default: 0] += 1
        guard let target else { return }
        entries[target]?.diallingSince = nil
        entries[target]?.device = device
        entries[target]?.isProven = true
    }

    /// A session with `device` came about, which an established connection alone does not promise.
    package mutating func succeeded(_ device: Device) {
        for target in entries.keys where entries[target]?.likely == device { entries[target]?.backoff.reset() }
    }

    /// A connection to `device` has ended, and with `isReplaced` gave way to another one.
    package mutating func disconnected(
        _ device: Device, _ advice: RetryAdvice, isReplaced: Bool = false, now: Instant,
        using random: inout some RandomNumberGenerator
    ) {
        connected[device] = max(0, connected[device, default: 0] - 1)
        if connected[device] == 0 { connected[device] = nil }
        // Where the other one is gone as well, nothing is to change before they may meet.
        let advice = isReplaced && connected[device] == nil ? .later : advice
        for target in entries.keys.sorted() where entries[target]?.likely == device {
            pause(target, advice, now: now, using: &random)
        }
    }

    /// Dialling `target` failed.
    package mutating func failed(
        _ target: Target, _ advice: RetryAdvice, now: Instant, using random: inout some RandomNumberGenerator
    ) {
        entries[target]?.diallingSince = nil
        pause(target, advice, now: now, using: &random)
    }

    // MARK: What to do

    /// The targets to dial now, each to be answered with `connected` or `failed`.
    package mutating func start(now: Instant) -> [Dial] {
        newcomers.fill(now)
        var attempts = attempts
        var result: [Dial] = []
        for (target, rank) in due(attempts, now) {
            guard let entry = entries[target], isDue(entry, attempts, now) else { continue }
            // Newcomers are the last.
            if rank == .newcomer, !newcomers.take() { break }
            entries[target]?.diallingSince = now
            let turn = nextTurn()
            entries[target]?.turn = turn
            if let device = entry.likely { attempts[device, default: Attempts()].add(now) }
            var expected = entry.expected
            if case .device(let id) = target { expected = id }
            result.append(Dial(target: target, device: expected, addresses: Array(entry.addresses.prefix(Self.addressesMax))))
        }
        return result
    }

    /// When something is to be dialled next; `nil` if nothing is.
    package var nextDue: Instant? {
        let attempts = attempts
        let budget = newcomers.nextDue
        return entries.compactMap { target, entry -> Instant? in
            guard let due = due(entry, attempts) else { return nil }
            return rank(target, entry) == .newcomer ? max(due, budget ?? due) : due
        }.min()
    }

    /// Whether something is being dialled.
    package var isDialling: Bool { diallingCount > 0 }

    /// How much is being dialled at once.
    package var diallingCount: Int { entries.values.count(where: \.isDialling) }

    /// How many places are known to be dialled.
    package var targetCount: Int { entries.count }

    /// What may be dialled now, in the order in which it is: the list, with the places where a device was reached; then announcements at
    /// which somebody has answered; then the others, in turn. What an announcement says of itself does not help it on.
    private func due(_ attempts: [Device: Attempts], _ now: Instant) -> [(target: Target, rank: Rank)] {
        var targets: [Target] = []
        var places: [Place] = []
        for (target, entry) in entries where isDue(entry, attempts, now) {
            let rank = rank(target, entry)
            let order = rank == .listed ? entry.due.milliseconds : Int64(bitPattern: entry.turn)
            places.append(Place(rank: rank, order: order, index: targets.count))
            targets.append(target)
        }
        places.sort { left, right in
            if left.rank != right.rank { return left.rank.rawValue < right.rank.rawValue }
            return left.order == right.order ? targets[left.index] > targets[right.index] : left.order < right.order
        }
        return places.map { (targets[$0.index], $0.rank) }
    }

    private var attempts: [Device: Attempts] {
        var attempts: [Device: Attempts] = [:]
        for entry in entries.values {
            guard let since = entry.diallingSince, let device = entry.likely else { continue }
            attempts[device, default: Attempts()].add(since)
        }
        return attempts
    }

    /// When `entry` may be dialled, as things are; `nil` if something else has to happen before.
    private func due(_ entry: Entry, _ attempts: [Device: Attempts]) -> Instant? {
        guard !entry.isDialling, !entry.addresses.isEmpty else { return nil }
        guard let device = entry.likely else { return entry.due }
        guard connected[device] == nil else { return nil }
        guard let others = attempts[device] else { return entry.due }
        return others.count < Self.atOnceMax ? max(entry.due, others.last.advanced(byMilliseconds: Self.staggerMilliseconds)) : nil
    }

    private func isDue(_ entry: Entry, _ attempts: [Device: Attempts], _ now: Instant) -> Bool {
        due(entry, attempts).map { $0 <= now } ?? false
    }

    private mutating func nextTurn() -> UInt64 {
        turns += 1
        return turns
    }

    private func rank(_ target: Target, _ entry: Entry) -> Rank {
        switch target {
        case .device: .listed
        case .announced: entry.isProven ? .proven : .newcomer
        }
    }

    private mutating func set(_ target: Target, _ addresses: [Address], device: Device?, now: Instant) {
        if var entry = entries[target] {
            if entry.addresses != addresses {
                entry.addresses = addresses
                entry.due = now
                entry.backoff.reset()
                entry.isProven = false
            }
            entries[target] = entry
        } else {
            entries[target] = Entry(addresses: addresses, due: now, turn: nextTurn(), device: device)
        }
    }

    private mutating func pause(
        _ target: Target, _ advice: RetryAdvice, now: Instant, using random: inout some RandomNumberGenerator
    ) {
        guard var entry = entries[target] else { return }
        let wait = Int64(entry.backoff.nextMilliseconds(using: &random))
        switch advice {
        case .atOnce: entry.due = now
        case .later: entry.due = now.advanced(byMilliseconds: wait)
        case .afterChange:
            let isOfList = if case .device = target { true } else { entry.expected != nil }
            entry.due = now.advanced(byMilliseconds: isOfList ? wait : max(wait, Self.refusedMilliseconds))
        }
        entries[target] = entry
    }
}
