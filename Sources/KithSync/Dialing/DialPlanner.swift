/// Decides whom to dial, and when: a value without sockets and clocks.
///
/// Every target has its own growing pause, so that one that never answers costs nothing and one that appears is dialled at
/// once. A device that is connected, or is being dialled already, is not dialled; a name that turned out to be such a device is
/// not either.
///
/// Announcements are hints that anybody can give, so they are bounded in number, and so is how often somebody is dialled at whose
/// announcement nobody answered yet. However many false ones there are, a listed device, or one that was reached before, waits for one of them.
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

    /// Addresses tried for one target.
    package static var addressesMax: Int { 8 }
    /// Most announcements that are followed.
    package static var announcedMax: Int { 512 }
    /// The pause after a peer refused us or we it: nothing helps but a change, which ends the pause.
    static var refusedMilliseconds: Int64 { 60_000 }

    private struct Entry: Sendable {
        var addresses: [Address]
        var backoff = Backoff()
        var due: Instant
        var isDialling = false
        /// Who answered there last.
        var device: Device?
        /// Whether `device` has answered there, and was not only said to be there.
        var isProven = false
        /// Who is to be there; `nil` if any trusted device will do.
        var expected: Device?

        /// Who is probably there.
        var likely: Device? { expected ?? device }
    }

    private var entries: [Target: Entry] = [:]
    private var announcedCount = 0
    private var connected: [Device: Int] = [:]
    /// The devices that an announcement has promised in vain: next they are dialled where the list says.
    private var misannounced: Set<Device> = []
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
        misannounced.formIntersection(devices.map(\.device))
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
        misannounced.remove(device)
        guard let target else { return }
        entries[target]?.isDialling = false
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
        entries[target]?.isDialling = false
        if case .announced = target, let device = entries[target]?.likely { misannounced.insert(device) }
        if case .device(let device) = target { misannounced.remove(device) }
        pause(target, advice, now: now, using: &random)
    }

    // MARK: What to do

    /// The targets to dial now, each to be answered with `connected` or `failed`. Where a device is announced it is dialled there
    /// first: it is on this network now, and a list may be old.
    package mutating func start(now: Instant) -> [Dial] {
        newcomers.fill(now)
        var busy = busy
        var result: [Dial] = []
        for target in entries.keys.filter({ entries[$0].map { isWaiting($0, busy) && $0.due <= now } == true }).sorted(by: isFirst) {
            guard let entry = entries[target], isWaiting(entry, busy) else { continue }
            if isNewcomer(target, entry), !newcomers.take() { continue }
            entries[target]?.isDialling = true
            if let device = entry.likely { busy.insert(device) }
            var expected = entry.expected
            if case .device(let id) = target { expected = id }
            result.append(Dial(target: target, device: expected, addresses: Array(entry.addresses.prefix(Self.addressesMax))))
        }
        return result
    }

    /// When something is to be dialled next; `nil` if nothing is.
    package var nextDue: Instant? {
        let busy = busy
        let budget = newcomers.nextDue
        return entries.filter { isWaiting($0.value, busy) }.map { target, entry in
            isNewcomer(target, entry) ? max(entry.due, budget ?? entry.due) : entry.due
        }.min()
    }

    /// Whether something is being dialled.
    package var isDialling: Bool { diallingCount > 0 }

    /// How much is being dialled at once.
    package var diallingCount: Int { entries.values.count(where: \.isDialling) }

    /// How many places are known to be dialled.
    package var targetCount: Int { entries.count }

    /// The devices that are connected or being dialled, as far as is known whom a target is.
    private var busy: Set<Device> {
        Set(connected.keys).union(entries.values.filter(\.isDialling).compactMap(\.likely))
    }

    private func isWaiting(_ entry: Entry, _ busy: Set<Device>) -> Bool {
        !entry.isDialling && !entry.addresses.isEmpty && entry.likely.map { !busy.contains($0) } ?? true
    }

    /// Whether nobody has answered at this announcement yet.
    private func isNewcomer(_ target: Target, _ entry: Entry) -> Bool {
        if case .announced = target { !entry.isProven } else { false }
    }

    /// Whether `left` is dialled before `right`: a device at its addresses after it was announced in vain; then announcements at which
    /// somebody has answered; then the others, whoever waits longest first; then the list.
    private func isFirst(_ left: Target, _ right: Target) -> Bool {
        let ranks = (rank(left), rank(right))
        guard ranks.0 == ranks.1, let one = entries[left], let other = entries[right] else { return ranks.0 < ranks.1 }
        return one.due == other.due ? left > right : one.due < other.due
    }

    private func rank(_ target: Target) -> Int {
        switch target {
        case .device(let device): misannounced.contains(device) ? 0 : 3
        case .announced: entries[target]?.isProven == true ? 1 : 2
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
            entries[target] = Entry(addresses: addresses, due: now, device: device)
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
        case .afterChange: entry.due = now.advanced(byMilliseconds: max(wait, Self.refusedMilliseconds))
        }
        entries[target] = entry
    }
}
